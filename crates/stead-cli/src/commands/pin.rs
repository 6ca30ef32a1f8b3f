//! `stead pin`: look at the pinfile, and edit it without a slip of the hand. Nothing real changes.

use std::fmt::Write as _;

use serde::Serialize;
use stead_guard::pins::{
    Entry, Pinfile, Pins, Section, add_entries, entries_of, keeps_pins, missing_entries, move_pin,
    no_such_pin, remove_pin,
};
use stead_model::{Code, Diagnostic, Map, TypeToken};
use stead_render::{Paint, Style};

use crate::args::PinCommand;
use crate::failure::{Failure, Kind};
use crate::pins::{put, read, types};
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
    if !keeps_pins(&session.target) {
        let problem = Diagnostic::error(Code::USAGE, format!("target {} keeps no pins", session.target));
        return Err(Failure::new(Kind::Usage, problem.help("choose another with `-t TARGET`")));
    }
    let file = read(session)?;
    match command {
        PinCommand::Ls => ls(&file, ui),
        PinCommand::Mv { from, to } => mv(session, &file, &from, &to, ui)?,
        PinCommand::Rm { path } => rm(session, file, &path, ui).await?,
        PinCommand::Restore => restore(session, file, ui).await?,
    }
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
            let Entry { resource, original_path, attributes } = entry;
            let original_path = original_path.as_deref();
            ui.json("pin", &Listed { section, path, resource, original_path, attributes });
        }
    }
}

fn describe(path: &str, entry: &Entry, style: &Style) -> String {
    let mut out = format!("  {path}\n");
    if let Some(original) = &entry.original_path {
        let _ = writeln!(out, "    {}", style.paint(Paint::Quiet, &format!("from {original}")));
    }
    for (property, value) in &entry.attributes {
        let _ = writeln!(out, "    {property}: {}", value.to_json());
    }
    out
}

fn mv(session: &Session, file: &Pinfile, from: &str, to: &str, ui: &Ui) -> Result<(), Failure> {
    let (content, sections) = move_pin(file, &session.target, from, to).map_err(refused)?;
    put(session, file, &content)?;
    for section in &sections {
        ui.result(&format!("[-pin] {from}\n[+pin] {to}\n"));
        ui.json("pin", &Changed { change: "removed", section, path: from });
        ui.json("pin", &Changed { change: "added", section, path: to });
    }
    ui.note(&format!("{to} is what {from} was. The next `stead up` keeps it, under its new name."));
    Ok(())
}

async fn rm(session: &Session, file: Pinfile, path: &str, ui: &Ui) -> Result<(), Failure> {
    let pins = Pins::open(file, &session.target, &session.environment);
    let (file, section) = (&pins.file, pins.section_with(path).unwrap_or(&pins.key));
    let content = if pins.section_with(path).is_some() {
        remove_pin(file, section, path).map_err(refused)?
    } else if !pins.is_there() && is_recorded(session, path).await? {
        // Nothing to take out; the empty section says that what state remembers may go.
        add_entries(file, section, Section::new())
    } else {
        return Err(refused(no_such_pin(file, path)));
    };
    put(session, file, &content)?;
    ui.result(&format!("[-pin] {path}\n"));
    ui.json("pin", &Changed { change: "removed", section, path });
    ui.note("The next `stead up` or `stead destroy` may delete it. If the program still pins it, it is pinned again.");
    Ok(())
}

async fn is_recorded(session: &Session, path: &str) -> Result<bool, Failure> {
    let loaded = session.load().await?;
    Ok(entries_of(&loaded.state, &types(session)).contains_key(path))
}

async fn restore(session: &Session, file: Pinfile, ui: &Ui) -> Result<(), Failure> {
    let loaded = session.load_existing().await?;
    let pins = Pins::open(file, &session.target, &session.environment);
    let recorded = entries_of(&loaded.state, &types(session));
    let missing = missing_entries(&pins, recorded);
    if missing.is_empty() {
        ui.result(&format!("Nothing to restore: {} has all that state remembers.\n", pins.file.name));
        return Ok(());
    }
    let content = add_entries(&pins.file, &pins.key, missing.clone());
    put(session, &pins.file, &content)?;
    for path in missing.keys() {
        ui.result(&format!("[+pin] {path}\n"));
        ui.json("pin", &Changed { change: "added", section: &pins.key, path });
    }
    ui.note("State does not know where things came from: if one moved, add its \"originalPath\" again.");
    Ok(())
}

fn refused(problem: Diagnostic) -> Failure {
    Failure::new(Kind::Failed, problem)
}
