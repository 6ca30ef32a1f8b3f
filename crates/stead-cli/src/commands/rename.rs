//! `stead rename`: gives a recorded resource, or all in a module or an instance, another name; the real resources stay.

use std::collections::BTreeSet;

use serde::Serialize;
use stead::ops::{Declares as _, EditChange, OpEvent, StateEdit, declared_places};
use stead::{Notice, OldNames, old_names_elsewhere};
use stead_model::{Name, NextStep, NodeKind, Place};

use crate::args::RenameArguments;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::hints::phrase;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct Renamed<'a> {
    from: &'a Name,
    to: &'a Name,
}

pub(crate) async fn rename(session: &Session, arguments: &RenameArguments, ui: &Ui) -> Result<u8, Failure> {
    let declared = declared_names(session, ui).await;
    let (from, to) = (arguments.old.clone(), arguments.new.clone());
    let edit = StateEdit::Rename { from, to, declared: declared.clone() };
    let edit = ui.edit(session, edit).await?;
    let renamed = |change: &EditChange| match change {
        EditChange::Renamed { from, to } => Some((from.clone(), to.clone())),
        _ => None,
    };
    let renames: Vec<(Name, Name)> = edit.changes().iter().filter_map(renamed).collect();
    for (from, to) in &renames {
        ui.result(&format!("{from} → {to}\n"));
        ui.json("renamed", &Renamed { from, to });
    }
    let from = place(session, &arguments.old, renames.iter().map(|(from, _)| from));
    note_undeclared(session, &declared, from.as_ref(), &renames, ui);
    if arguments.dry_run {
        ui.note("Nothing was changed.");
        return Ok(0);
    }
    let edit = edit.permit()?;
    confirm(session, ui, "Rename this?")?;
    ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    let to = place(session, &arguments.new, renames.iter().map(|(_, to)| to));
    let elsewhere = old_names_elsewhere(&session.project, &session.workspace, &renames).await?;
    elsewhere
        .iter()
        .for_each(|old| note_old_names(session, old, from.as_ref().zip(to.as_ref()), &renames, ui));
    Ok(0)
}

/// Returns the names that the program declares. A program that cannot be evaluated tells nothing.
async fn declared_names(session: &Session, ui: &Ui) -> BTreeSet<Name> {
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    match session.program(session.levels_without_flags(), &show_notice).declare().await {
        Ok(declaration) => {
            let nodes = declaration.graph.nodes.iter();
            nodes.filter(|node| node.kind == NodeKind::Provisioned).map(|node| node.name.clone()).collect()
        }
        Err(_) => BTreeSet::new(),
    }
}

/// Returns the place that the text means, if it is one with all these names.
fn place<'n>(session: &Session, text: &str, names: impl Iterator<Item = &'n Name> + Clone) -> Option<Place> {
    let readings = Place::readings(text, session.environment()).ok()?;
    readings.into_iter().find(|place| names.clone().all(|name| place.contains(name)))
}

/// Tells that the program does not declare the new names, and the place in which it declares these resources.
fn note_undeclared(
    session: &Session,
    declared: &BTreeSet<Name>,
    from: Option<&Place>,
    renames: &[(Name, Name)],
    ui: &Ui,
) {
    let missing = renames.iter().filter(|(_, to)| !declared.contains(to)).count();
    if declared.is_empty() || missing == 0 {
        return;
    }
    let Some(from) = from else {
        ui.note("The program does not declare the new name yet.");
        return;
    };
    ui.note(&format!("The program does not declare {missing} of the {} new names yet.", renames.len()));
    let old: Vec<&Name> = renames.iter().map(|(from, _)| from).collect();
    for to in declared_places(declared, from, &old).into_iter().filter(|to| to != from) {
        let step = NextStep::RenamePlace { from: from.clone(), to };
        ui.note(&format!("It declares all of them there: {}", phrase(&step, Some(&session.shown_stack()))));
    }
}

/// Tells that another stack of the project still has the old names, with the command that renames them there.
fn note_old_names(
    session: &Session,
    old: &OldNames,
    places: Option<(&Place, &Place)>,
    renames: &[(Name, Name)],
    ui: &Ui,
) {
    let environment = &old.environment;
    let step = match (places, renames) {
        (Some((from, to)), _) => NextStep::RenamePlace {
            from: from.in_environment(environment),
            to: to.in_environment(environment),
        },
        (None, [(from, to), ..]) => {
            NextStep::Rename { from: from.in_environment(environment), to: to.in_environment(environment) }
        }
        (None, []) => return,
    };
    let command = phrase(&step, Some(&session.shown_stack_of(environment, &old.stack.target)));
    let names =
        if old.resources == 1 { "the old name".to_owned() } else { format!("{} old names", old.resources) };
    ui.note(&format!("The stack {environment} still has {names}: {command}"));
}
