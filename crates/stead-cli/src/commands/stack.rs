//! `stead stack`: the stacks of a project, and a stack's state as JSON.

use serde::Serialize;
use stead_journal::StackKeys;
use stead_model::{Map, OpId, Resource, RunId, StackId};
use stead_state::{FORMAT, Pending, RunRecord};
use stead_store::Key;

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
    let stacks = StackKeys::in_listing(&keys);
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
    session.load_existing().await?;
    let store = &session.stack.store;
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

/// The documented export format; `docs/format/export.md`.
#[derive(Serialize)]
struct Export<'a> {
    format: u32,
    stead: &'a str,
    project: &'a str,
    environment: String,
    target: &'a str,
    stack: &'a StackId,
    run: Option<RunId>,
    uids: u64,
    next_op: OpId,
    outputs: &'a Map,
    pending: &'a [Pending],
    resources: &'a [Resource],
}

pub(crate) async fn export(session: &Session, ui: &Ui) -> Result<u8, Failure> {
    let loaded = session.load_existing().await?;
    let snapshot = loaded.state.snapshot(None);
    let export = Export {
        format: FORMAT,
        stead: env!("CARGO_PKG_VERSION"),
        project: &session.project.name,
        environment: session.environment.to_string(),
        target: &session.target,
        stack: &snapshot.stack,
        run: snapshot.run.clone(),
        uids: snapshot.uids,
        next_op: snapshot.next_op,
        outputs: &snapshot.outputs,
        pending: &snapshot.pending,
        resources: &snapshot.resources,
    };
    if ui.for_programs() {
        ui.json("export", &export);
    } else {
        // Our types always serialise.
        let text = serde_json::to_string_pretty(&export).unwrap_or_default();
        ui.raw(&format!("{text}\n"));
    }
    Ok(0)
}
