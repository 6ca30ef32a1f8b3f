//! `stead state`: lists, shows, checks and edits the recorded resources.

mod mv;
mod owners;
mod protect;
mod repair;
mod resolve;
mod retained;
mod rm;
mod verify;

use std::fmt::Write as _;

use stead::guard::physical_path;
use stead::ops::find;
use stead_model::{DeletionPolicy, Lifecycle, Resource};
use stead_render::{Paint, Style, value};
use stead_state::State;

use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use mv::{mv, sent_again};
pub(crate) use owners::owners;
pub(crate) use protect::protect;
pub(crate) use repair::repair;
pub(crate) use resolve::resolve;
pub(crate) use retained::{retained, show_retained, warn_of_retained};
pub(crate) use rm::rm;
pub(crate) use verify::verify;

pub(crate) async fn ls(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.workspace.load_existing().await?;
    for resource in loaded.state.resources() {
        let remark = match resource.lifecycle {
            Lifecycle::Live => "",
            Lifecycle::Condemned => "\t(old copy, to be deleted)",
            Lifecycle::Replacing => "\t(deleted, to be created again)",
        };
        ui.result(&format!("{}{remark}\n", resource.name));
        ui.json("resource", resource);
    }
    for pending in loaded.state.pending() {
        if let Some(name) = loaded.state.subject(&pending.intent) {
            let verb = pending.intent.operation().verb();
            ui.note(&format!("{name}: its {verb} is not finished (operation {})", pending.op));
        }
    }
    Ok(0)
}

pub(crate) async fn show(session: &Session, name: &str, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.workspace.load_existing().await?;
    let resource = find(&loaded.state, name)?;
    ui.json("resource", resource);
    ui.result(&describe(&loaded.state, resource, &ui.out_style()));
    Ok(0)
}

fn describe(state: &State, resource: &Resource, style: &Style) -> String {
    let mut out = format!("{}\n", style.paint(Paint::Strong, &resource.name.to_string()));
    let _ = writeln!(out, "  type      {}", resource.ty);
    let _ = writeln!(out, "  id        {}", resource.id.as_ref().map_or("(none)", |id| id.as_str()));
    let _ = writeln!(out, "  uid       {}  generation {}", resource.uid, resource.generation);
    let _ = writeln!(out, "  declared  {}", resource.source);
    let marks = resource.recorded_marks();
    if let Some(mark) = marks.prevent_delete.filter(|mark| mark.value) {
        let _ = writeln!(out, "  marks     prevent-delete ({})", mark.source);
    }
    if let Some(mark) = marks.deletion_policy.filter(|mark| mark.value == DeletionPolicy::Retain) {
        let _ = writeln!(out, "  marks     deletion-policy retain ({})", mark.source);
    }
    if resource.pinned {
        let _ = writeln!(out, "  pinned    {}", physical_path(&resource.name, &resource.ty));
    }
    if resource.imported {
        let _ = writeln!(out, "  imported  no program has declared it yet");
    }
    let _ = writeln!(out, "  version   {}", resource.version);
    for (title, properties) in [("inputs", &resource.inputs), ("outputs", &resource.outputs)] {
        if !properties.is_empty() {
            let _ = writeln!(out, "  {title}");
        }
        for (key, property) in properties {
            let _ = writeln!(out, "    {key}: {}", value(property));
        }
    }
    for dependency in &resource.dependencies {
        if let Some(dependency) = state.resolve(dependency) {
            let _ = writeln!(out, "  needs     {}", dependency.name);
        }
    }
    out
}
