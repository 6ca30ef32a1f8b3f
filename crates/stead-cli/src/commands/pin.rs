//! `stead pin`: lists and edits the pins of the pinfile. No real resource changes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use stead::guard::{EntryStatus, PinEntry, Pinfile, PrunedEntry, PrunedPart, Section};
use stead::ops::{EditChange, OpError, OpEvent, PinChange, PinEdit, StateEdit};
use stead_model::{Map, Name, TypeToken};
use stead_render::{Paint, Style};

use crate::args::PinCommand;
use crate::failure::Failure;
use crate::pins;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PinLine<'a> {
    section: &'a str,
    path: &'a str,
    #[serde(rename = "type")]
    resource: &'a TypeToken,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_path: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    released: bool,
    attributes: &'a Map,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    environments: &'a BTreeMap<String, Map>,
}

/// Change of the pinfile.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PinChangeLine<'a> {
    change: &'static str,
    section: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_path: Option<&'a str>,
}

/// A pin that state no longer records.
#[derive(Serialize)]
struct PinEndedLine<'a> {
    name: &'a Name,
}

/// A release or a move in the pinfile; it is removed if no environment waits for it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrunedLine<'a> {
    section: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_path: Option<&'a str>,
    waiting: &'a [String],
}

pub(crate) async fn pin(session: &Session, command: PinCommand, ui: &Ui) -> Result<u8, Failure> {
    let workspace = &session.workspace;
    let (edit, next) = match command {
        PinCommand::Ls => {
            ls(&workspace.read_pinfile()?, ui);
            return Ok(0);
        }
        PinCommand::Prune => return prune(session, ui).await,
        PinCommand::Mv { from, to } => {
            let next = format!("{from} is now {to}. The next `stead up` keeps the resource, under its new name.");
            (PinEdit::Move { from, to }, next)
        }
        PinCommand::Rm { path } => (
            PinEdit::Remove { path },
            "The next `stead up` or `stead destroy` may delete the resource, in every environment that uses this section. \
             If the program still pins it, the next run pins it again."
                .to_owned(),
        ),
        PinCommand::Restore => (
            PinEdit::Restore,
            "State does not record original paths: if a resource moved, add its \"originalPath\" again."
                .to_owned(),
        ),
    };
    let is_release = matches!(edit, PinEdit::Remove { .. });
    let edit = workspace.edit_pins(edit).await?;
    if edit.changes().is_empty() {
        ui.result(&format!("Nothing to restore: {} has all pins that state records.\n", edit.file()));
        return Ok(0);
    }
    let changes = edit.apply()?;
    for PinChange { section, line } in &changes {
        ui.result(&format!("{line}\n"));
        let (change, original_path) = pins::parts(line);
        ui.json("pin", &PinChangeLine { change, section, path: line.path(), original_path });
    }
    if is_release {
        end_in_state(session, &changes, ui).await;
    }
    ui.note(&next);
    Ok(0)
}

/// Ends the pins that state records in this environment. A stack that cannot be changed now does so with its next run.
async fn end_in_state(session: &Session, changes: &[PinChange], ui: &Ui) {
    let paths = changes.iter().flat_map(|change| {
        let original = pins::parts(&change.line).1.map(str::to_owned);
        [Some(change.line.path().to_owned()), original].into_iter().flatten()
    });
    let edit = StateEdit::EndPins { paths: paths.collect() };
    let ended = async {
        let edit = ui.edit(session, edit).await?.permit()?;
        let changes = edit.edit().changes().to_vec();
        ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
        Ok::<Vec<EditChange>, OpError>(changes)
    };
    match ended.await {
        Ok(changes) => {
            for change in changes {
                if let EditChange::PinEnded { name } = change {
                    ui.note(&format!("{name} is no longer pinned in state."));
                    ui.json("pin_ended", &PinEndedLine { name: &name });
                }
            }
        }
        Err(error) => {
            let environment = session.environment();
            let why = error.problems().first().map(|problem| problem.message.clone()).unwrap_or_default();
            ui.note(&format!("State of {environment} still has the pin until its next run: {why}"));
        }
    }
}

/// Removes the releases and moves that every environment has applied, and lists the environments that have not.
async fn prune(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let entries = stead::prune_pins(&session.project, &session.workspace).await?.apply()?;
    if entries.is_empty() {
        ui.result("Nothing to prune: the pinfile has no release and no moved pin.\n");
    }
    for PrunedEntry { section, path, part, waiting } in &entries {
        let environments: Vec<String> = waiting.iter().map(ToString::to_string).collect();
        let (what, original_path) = match part {
            PrunedPart::Release => ("release".to_owned(), None),
            PrunedPart::OriginalPath(original) => (format!("move from {original}"), Some(original.as_str())),
        };
        ui.result(&match waiting.is_empty() {
            true => format!("removed  {path}: {what}, applied in every environment\n"),
            false => format!("waits    {path}: {what}, not applied in {}\n", environments.join(", ")),
        });
        ui.json("pruned", &PrunedLine { section, path, original_path, waiting: &environments });
    }
    Ok(0)
}

fn ls(file: &Pinfile, ui: &Ui) {
    if file.sections.values().all(Section::is_empty) {
        ui.note(&format!("Nothing is pinned: {} is missing or empty.", file.name));
    }
    let style = ui.out_style();
    for (section, entries) in &file.sections {
        ui.result(&format!("{}\n", style.paint(Paint::Strong, section)));
        for (path, entry) in entries {
            ui.result(&describe(path, entry, &style));
            let PinEntry { resource, original_path, status, attributes, environments } = entry;
            let (original_path, released) = (original_path.as_deref(), *status == EntryStatus::Released);
            let line = PinLine { section, path, resource, original_path, released, attributes, environments };
            ui.json("pin", &line);
        }
    }
}

fn describe(path: &str, entry: &PinEntry, style: &Style) -> String {
    let mut out = format!("  {path}\n");
    if let Some(original) = &entry.original_path {
        let _ = writeln!(out, "    {}", style.paint(Paint::Quiet, &format!("from {original}")));
    }
    if entry.status == EntryStatus::Released {
        let _ = writeln!(out, "    {}", style.paint(Paint::Quiet, "released"));
    }
    for (property, value) in &entry.attributes {
        let _ = writeln!(out, "    {property}: {}", value.to_json());
    }
    for (environment, frozen) in &entry.environments {
        for (property, value) in frozen {
            let environment = style.paint(Paint::Quiet, &format!("in {environment}"));
            let _ = writeln!(out, "    {property}: {} {environment}", value.to_json());
        }
    }
    out
}
