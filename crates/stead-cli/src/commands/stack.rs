//! `stead stack`: the stacks of a project, and a stack's state as JSON.

use std::path::Path;

use serde::Serialize;
use stead_engine::finish_transfers;
use stead_journal::{JournalError, StackKeys, Takeover, exists, read_head};
use stead_state::{Absent, RunRecord, verify};
use stead_store::Key;

use crate::confirm::confirm;
use crate::export;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct StackLine {
    project: String,
    environment: String,
    target: String,
}

pub(crate) async fn ls(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let keys = session.stack.store.list(&Key::root()).await?;
    let mut stacks = StackKeys::in_listing(&keys);
    for at in (0..stacks.len()).rev() {
        let (project, environment, target) = &stacks[at];
        let keys = StackKeys::new(project, environment, target);
        // A head that cannot be read is listed: there is something that needs a look.
        if let Ok(false) = exists(&session.stack.store, &keys).await {
            stacks.remove(at);
        }
    }
    if stacks.is_empty() {
        ui.note("There are no stacks yet; `stead up` makes the first.");
    }
    for (project, environment, target) in stacks {
        ui.result(&format!("{project}\t{environment}\t{target}\n"));
        ui.json("stack", &StackLine { project, environment, target });
    }
    Ok(0)
}

pub(crate) async fn history(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let store = &session.stack.store;
    if read_head(store, &session.stack.keys)
        .await?
        .is_none_or(|(head, _)| head.absent != Some(Absent::Removed))
    {
        session.load_existing().await?;
    }
    let mut runs = Vec::new();
    for key in store.list(&session.stack.keys.histories()).await? {
        // A record that cannot be read is not worth failing for: nothing depends on it.
        if let Some(found) = store.get(&key).await?
            && let Ok(record) = RunRecord::decode(&found.body)
        {
            runs.push(record);
        }
    }
    runs.sort_by(|a, b| {
        (&a.started, a.run.as_str().len(), &a.run).cmp(&(&b.started, b.run.as_str().len(), &b.run))
    });
    for record in &runs {
        let RunRecord { run, command, user, host, started, result, .. } = record;
        ui.result(&format!("{run}\t{started}\t{command}\t{result:?}\t{user}@{host}\n"));
        ui.json("run", record);
    }
    Ok(0)
}

pub(crate) async fn export(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_existing().await?;
    let export = export::of(session, loaded.state.snapshot(None));
    if ui.for_programs() {
        ui.json("export", &export);
    } else {
        // Our types always serialise.
        let text = serde_json::to_string_pretty(&export).unwrap_or_default();
        ui.raw(&format!("{text}\n"));
    }
    Ok(0)
}

/// Replaces what is recorded by what a file says. Nothing real is touched.
pub(crate) async fn import(session: &Session, file: &Path, ui: &Ui) -> Result<u8, Failure> {
    let export = export::read(session, file)?;
    export::check_digest(&export, file)?;
    let from = format!("{} · {} · {}", export.project, export.environment, export.target);
    // They are this environment's from now on; a name of another one would never be found.
    let snapshot = export.into_snapshot().in_environment(&session.environment);
    let violations = verify(&snapshot);
    if !violations.is_empty() {
        return Err(JournalError::Integrity(violations).into());
    }
    finish_transfers(&session.stack).await?;
    let loaded = session.load().await?;
    let (now, then) = (loaded.state.resources().len(), snapshot.resources.len());
    ui.note(&format!("{now} recorded resources are replaced by {then} of {from}. Nothing real is touched."));
    confirm(
        session,
        ui,
        &format!("Import into environment {} on target {}?", session.environment, session.target),
    )?;
    let run = session.run("stack import", Some(loaded.version), Takeover::IfDead).await?;
    run.close_with(snapshot).await?;
    ui.result(&format!("Imported {then} resources.\n"));
    Ok(0)
}
