//! `stead rename`: a recorded resource gets another name; the real thing is kept.

use serde::Serialize;
use stead_journal::Takeover;
use stead_model::{Code, Diagnostic, Lifecycle, Name, NameParts, Resource, RunResult};
use stead_state::{Record, State};

use crate::args::RenameArguments;
use crate::commands::run::write_down;
use crate::commands::state::find;
use crate::confirm::confirm;
use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct Renamed<'a> {
    from: &'a Name,
    to: &'a Name,
}

pub(crate) async fn rename(session: &Session, arguments: &RenameArguments, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_settled(ui).await?;
    let renames = renames(&loaded.state, &arguments.old, &arguments.new)?;
    for (resource, to) in &renames {
        ui.result(&format!("{} → {to}\n", resource.name));
        ui.json("renamed", &Renamed { from: &resource.name, to });
    }
    if arguments.dry_run {
        ui.note("Nothing was changed.");
        return Ok(0);
    }
    confirm(session, ui, "Rename this?")?;
    let records: Vec<Record> = renames
        .iter()
        .map(|(resource, to)| Record::Note { resource: Box::new(renamed(&loaded.state, resource, to)) })
        .collect();
    let run = session.run("rename", Some(loaded.version), Takeover::IfDead).await?;
    write_down(&run, records).await?;
    run.close(RunResult::Succeeded).await?;
    Ok(0)
}

/// The record under its new name; the old one is remembered, so that a program that still has it finds it too.
fn renamed(state: &State, resource: &Resource, to: &Name) -> Resource {
    let mut record = Resource { name: to.clone(), ..resource.clone() };
    let aliases = &mut record.ties.aliases;
    // A former name belongs to one resource; whoever has it already keeps it.
    if state.formerly(&resource.name).is_none_or(|uid| *uid == resource.uid) {
        aliases.push(resource.name.clone());
    }
    aliases.retain(|alias| alias != to);
    aliases.sort_unstable();
    aliases.dedup();
    record
}

fn renames<'a>(state: &'a State, old: &str, new: &str) -> Result<Vec<(&'a Resource, Name)>, Failure> {
    let inside = in_scope(state, old);
    let renames = if inside.is_empty() {
        let resource = find(state, old)?;
        vec![(resource, new_name(&resource.name, new)?)]
    } else {
        let moved = inside.into_iter().map(|resource| {
            let rest = &resource.name.to_string()[old.len()..];
            Ok((resource, parse(&format!("{new}{rest}"))?))
        });
        moved.collect::<Result<Vec<_>, Failure>>()?
    };
    for (resource, to) in &renames {
        if let NameParts::Placed { resource: said, .. } = &**to
            && *said != resource.resource
        {
            let message = format!("{} cannot become {to}: it is a {}", resource.name, resource.resource);
            return Err(Failure::new(Kind::Failed, Diagnostic::error(Code::CANNOT_RENAME, message)));
        }
        if let Some(holder) = state.by_name(to) {
            let message =
                format!("{} cannot become {to}: that is the name of another resource", resource.name);
            let help = format!("rename that one first: stead rename '{}' …", holder.name);
            return Err(Failure::new(
                Kind::Failed,
                Diagnostic::error(Code::CANNOT_RENAME, message).help(help),
            ));
        }
    }
    Ok(renames)
}

/// Everything whose name begins with this text and goes on with a further part.
fn in_scope<'a>(state: &'a State, prefix: &str) -> Vec<&'a Resource> {
    let current = state.resources().into_iter().filter(|resource| resource.lifecycle != Lifecycle::Condemned);
    let inside = |resource: &&Resource| {
        let name = resource.name.to_string();
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['/', ':']))
    };
    current.filter(inside).collect()
}

/// A whole name, or the old one with another id.
fn new_name(old: &Name, new: &str) -> Result<Name, Failure> {
    if new.contains([':', '#']) {
        return parse(new);
    }
    stead_model::check_id(new).map_err(|error| unreadable(&error.to_string()))?;
    Ok(old.with_id(new.to_owned()))
}

fn parse(text: &str) -> Result<Name, Failure> {
    text.parse().map_err(|error: stead_model::NameError| unreadable(&error.to_string()))
}

fn unreadable(problem: &str) -> Failure {
    Failure::new(Kind::Usage, Diagnostic::error(Code::CANNOT_RENAME, problem))
}
