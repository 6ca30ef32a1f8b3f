//! `stead pin`: look at the pinfile, and edit it without a slip of the hand. Nothing real changes.

use std::fmt::Write as _;

use serde::Serialize;
use stead::guard::{PinEntry, Pinfile, PinfileChange, Section};
use stead::ops::{PinChange, PinEdit};
use stead_model::{Map, TypeToken};
use stead_render::{Paint, Style};

use crate::args::PinCommand;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    section: &'a str,
    path: &'a str,
    #[serde(rename = "type")]
    resource: &'a TypeToken,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_path: Option<&'a str>,
    attributes: &'a Map,
}

/// A change of the file.
#[derive(Serialize)]
struct Changed<'a> {
    change: &'static str,
    section: &'a str,
    path: &'a str,
}

pub(crate) async fn pin(session: &Session, command: PinCommand, ui: &Ui) -> Result<u8, Failure> {
    let workspace = &session.workspace;
    let (edit, then) = match command {
        PinCommand::Ls => {
            ls(&workspace.read_pinfile()?, ui);
            return Ok(0);
        }
        PinCommand::Mv { from, to } => {
            let then = format!("{to} is what {from} was. The next `stead up` keeps it, under its new name.");
            (PinEdit::Move { from, to }, then)
        }
        PinCommand::Rm { path } => (
            PinEdit::Remove { path },
            "The next `stead up` or `stead destroy` may delete it. If the program still pins it, it is pinned again."
                .to_owned(),
        ),
        PinCommand::Restore => (
            PinEdit::Restore,
            "State does not know where resources came from: if one moved, add its \"originalPath\" again."
                .to_owned(),
        ),
    };
    let edit = workspace.edit_pins(edit).await?;
    if edit.changes().is_empty() {
        ui.result(&format!("Nothing to restore: {} has all that state remembers.\n", edit.file()));
        return Ok(0);
    }
    for PinChange { section, line } in edit.apply()? {
        ui.result(&format!("{line}\n"));
        let (change, path) = match &line {
            PinfileChange::Added(path) => ("added", path),
            PinfileChange::Removed(path) => ("removed", path),
        };
        ui.json("pin", &Changed { change, section: &section, path });
    }
    ui.note(&then);
    Ok(0)
}

fn ls(file: &Pinfile, ui: &Ui) {
    if file.sections.values().all(Section::is_empty) {
        ui.note(&format!("Nothing is pinned: {} is not there, or holds nothing.", file.name));
    }
    let style = ui.out_style();
    for (section, entries) in &file.sections {
        ui.result(&format!("{}\n", style.paint(Paint::Strong, section)));
        for (path, entry) in entries {
            ui.result(&describe(path, entry, &style));
            let PinEntry { resource, original_path, attributes } = entry;
            let original_path = original_path.as_deref();
            ui.json("pin", &Listed { section, path, resource, original_path, attributes });
        }
    }
}

fn describe(path: &str, entry: &PinEntry, style: &Style) -> String {
    let mut out = format!("  {path}\n");
    if let Some(original) = &entry.original_path {
        let _ = writeln!(out, "    {}", style.paint(Paint::Quiet, &format!("from {original}")));
    }
    for (property, value) in &entry.attributes {
        let _ = writeln!(out, "    {property}: {}", value.to_json());
    }
    out
}
