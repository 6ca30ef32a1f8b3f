//! `stead stack import`: shows which records an exported file changes, asks, and records it.

use serde::Serialize;
use stead::ops::{Accepts, EditChange, Lineage, Losses, OpEvent, StateEdit};
use stead::{check_export, read_export};
use stead_model::{Name, PhysicalId, TypeToken};
use stead_render::{Paint, Style};

use crate::args::ImportStateArguments;
use crate::commands::state::sent_again;
use crate::confirm::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

/// Line of JSON for one record.
#[derive(Serialize)]
struct RecordLine<'a> {
    change: &'static str,
    name: &'a Name,
    #[serde(rename = "type")]
    ty: &'a TypeToken,
    id: Option<&'a PhysicalId>,
    parts: &'a [&'static str],
}

#[derive(Serialize)]
struct LossLine {
    loss: String,
}

/// Replaces the recorded state by an exported file. No real resource changes.
pub(crate) async fn import(
    session: &Session,
    arguments: &ImportStateArguments,
    ui: &Ui,
) -> Result<u8, Failure> {
    let file = &arguments.file;
    let export = read_export(session.project.world(), file)?;
    check_export(&export, file)?;
    let from = format!("{} · {} · {}", export.project, export.environment, export.target);
    let accepts = Accepts {
        lineage: if arguments.from_another_stack { Lineage::Other } else { Lineage::Own },
        losses: if arguments.force { Losses::Accept } else { Losses::Refuse },
    };
    let origin = Some(export.origin());
    let edit = StateEdit::ImportState { snapshot: Box::new(export.into_snapshot()), origin, accepts };
    let edit = ui.edit(session, edit).await?;
    let imported = show(edit.changes(), &from, ui);
    let edit = edit.permit()?;
    if edit.edit().changes().iter().any(|change| matches!(change, EditChange::Forgotten { .. })) {
        ui.note("The real resources of removed records stay; `stead state retained` lists them afterwards.");
    }
    if !edit.losses().is_empty() {
        ui.note("The import loses what the guards keep:");
    }
    for loss in edit.losses() {
        ui.note(&format!("    {loss}"));
        ui.json("import_loss", &LossLine { loss: loss.to_string() });
    }
    let (environment, target) = (session.environment(), session.target());
    let losing = if edit.losses().is_empty() { "" } else { " and lose all of this" };
    confirm(session, ui, &format!("Import into environment {environment} on target {target}{losing}?"))?;
    ui.shown(async |events: &mut dyn FnMut(OpEvent)| edit.apply(events).await).await?;
    ui.result(&format!("Imported {imported} resources.\n"));
    Ok(0)
}

/// Shows the changed records. Returns the number of records in the file.
fn show(changes: &[EditChange], from: &str, ui: &Ui) -> usize {
    let (style, mut total) = (ui.out_style(), 0);
    let [mut added, mut changed, mut removed] = [0, 0, 0];
    for change in changes {
        match change {
            EditChange::Replaced { recorded, imported, lineage } => {
                total = *imported;
                let of = match lineage {
                    Lineage::Own => "an export of this stack".to_owned(),
                    Lineage::Other => format!("an export of another stack, {from}"),
                };
                ui.note(&format!(
                    "{recorded} recorded resources are replaced by {imported} of {of}. No real resource changes."
                ));
                if *lineage == Lineage::Other {
                    ui.note("If the other stack still exists, both stacks record the same real resources.");
                }
            }
            EditChange::Forgotten { name, ty, id } => {
                removed += 1;
                show_record(ui, &style, RecordLine::of("removed", name, ty, id.as_ref(), &[]));
            }
            EditChange::Changed { name, ty, id, parts } => {
                changed += 1;
                show_record(ui, &style, RecordLine::of("changed", name, ty, id.as_ref(), parts));
            }
            EditChange::Added { name, ty, id } => {
                added += 1;
                show_record(ui, &style, RecordLine::of("added", name, ty, id.as_ref(), &[]));
            }
            EditChange::SentAgain { name, properties } => ui.note(&sent_again(name, properties)),
            EditChange::OutputsChanged => {
                ui.result(&format!("{} outputs of the stack\n", style.paint(Paint::Caution, "~")));
            }
            _ => {}
        }
    }
    ui.result(&format!("Records: {added} added, {changed} changed, {removed} removed.\n"));
    total
}

impl<'a> RecordLine<'a> {
    fn of(
        change: &'static str,
        name: &'a Name,
        ty: &'a TypeToken,
        id: Option<&'a PhysicalId>,
        parts: &'a [&'static str],
    ) -> RecordLine<'a> {
        RecordLine { change, name, ty, id, parts }
    }
}

fn show_record(ui: &Ui, style: &Style, line: RecordLine<'_>) {
    let (sign, paint) = match line.change {
        "removed" => ("-", Paint::Danger),
        "added" => ("+", Paint::Good),
        _ => ("~", Paint::Caution),
    };
    let RecordLine { name, id, parts, .. } = &line;
    let id = id.map_or("no id", PhysicalId::as_str);
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    ui.result(&format!("{} {name} (id {id}){parts}\n", style.paint(paint, sign)));
    ui.json("import_change", &line);
}
