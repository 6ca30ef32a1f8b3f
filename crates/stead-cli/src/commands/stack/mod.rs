//! `stead stack`: lists, edits and compares stacks, lists runs, and exports state as JSON.

mod diff;
mod edits;
mod import;
mod rollback;

use stead::export as export_of;
use stead_state::RunRecord;

use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) use diff::diff;
pub(crate) use edits::{new, rename, rm};
pub(crate) use import::import;
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

pub(crate) async fn export(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.workspace.load_existing().await?;
    let export = export_of(&session.project, &session.workspace, loaded.state.snapshot(None));
    if ui.is_json() {
        ui.json("export", &export);
    } else {
        // These types always serialise.
        let text = serde_json::to_string_pretty(&export).unwrap_or_default();
        ui.raw(&format!("{text}\n"));
    }
    Ok(0)
}
