//! `stead stack`: lists, edits and compares stacks, lists runs, and exports state as JSON.

mod diff;
mod edits;
mod import;
mod place;
mod rollback;

use std::sync::Arc;

use stead::export as export_of;
use stead::ops::OpEvent;
use stead_model::Map;
use stead_state::{RunRecord, Snapshot};

use crate::args::ExportArguments;
use crate::confirm::confirm_disclosure;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use diff::diff;
pub(crate) use edits::{new, rename, rm};
pub(crate) use import::import;
pub(crate) use place::{accept as accept_place, show as show_place};
pub(crate) use rollback::rollback;

pub(crate) async fn ls(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let stacks = stead::stacks(&session.workspace).await?;
    if stacks.is_empty() {
        ui.note("There are no stacks yet; `stead up` creates the first.");
    }
    for stack in &stacks {
        ui.result(&format!("{}\t{}\t{}\n", stack.project, stack.environment, stack.target));
        ui.json("stack", stack);
    }
    Ok(0)
}

pub(crate) async fn history(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    for record in stead::history(&session.workspace).await? {
        let RunRecord { run, command, targets, options, user, host, started, result, .. } = &record;
        let limits: String = targets.iter().chain(options).map(|limit| format!(" {limit}")).collect();
        ui.result(&format!("{run}\t{started}\t{command}{limits}\t{result:?}\t{user}@{host}\n"));
        ui.json("run", &record);
    }
    Ok(0)
}

pub(crate) async fn export(session: &Session, flags: ExportArguments, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.workspace.load_existing().await?;
    let mut snapshot = loaded.state.snapshot(None);
    let mut disclosed = None;
    if flags.show_secrets && loaded.state.has_secrets() {
        disclosed = Some(confirm_disclosure(session, ui, "Show the secrets of this stack in the clear?")?);
        session.workspace.require_secrets(&loaded.state).await?;
        expose(&mut snapshot);
        let listener: &mut dyn FnMut(OpEvent) = &mut ui.listener();
        session.workspace.record_disclosure("stack export --show-secrets", &loaded, listener).await?;
    }
    let mut export = export_of(&session.project, &session.workspace, snapshot);
    if disclosed.is_some() {
        export = export.without_digest();
    }
    // These types always serialise.
    let text = || format!("{}\n", serde_json::to_string_pretty(&export).unwrap_or_default());
    match disclosed {
        Some(disclosure) => ui.disclose(&disclosure, ("export", &export), &text()),
        None if ui.is_json() => ui.json("export", &export),
        None => ui.raw(&text()),
    }
    Ok(0)
}

/// Writes every secret that has a value in the clear. An operation that is not finished keeps its ciphertexts.
fn expose(snapshot: &mut Snapshot) {
    let exposed = |values: &Map| values.iter().map(|(key, value)| (key.clone(), value.exposed())).collect();
    for resource in &mut snapshot.resources {
        if stead_state::has_secrets(resource) {
            let mut shown = resource.as_ref().clone();
            (shown.inputs, shown.outputs) = (exposed(&shown.inputs), exposed(&shown.outputs));
            *resource = Arc::new(shown);
        }
    }
    snapshot.outputs = exposed(&snapshot.outputs);
}
