//! `stead state verify`: every stored byte and every integrity rule; of the stack, or of an exported file.

use std::path::Path;

use serde::{Deserialize, Serialize};
use stead_model::{Code, Diagnostic, Map, OpId, Resource, StackId};
use stead_state::{FORMAT, Pending, RULES, Snapshot, verify as check};

use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct Sound {
    resources: usize,
    rules: usize,
}

pub(crate) async fn verify(session: &Session, file: Option<&Path>, ui: &Ui) -> Result<u8, Failure> {
    let snapshot = match file {
        Some(file) => exported(session, file)?,
        // Reading checks digests, chain and rules, and fails with the place.
        None => session.load_existing().await?.state.snapshot(None),
    };
    let violations = check(&snapshot);
    if !violations.is_empty() {
        return Err(stead_journal::JournalError::Integrity(violations).into());
    }
    let sound = Sound { resources: snapshot.resources.len(), rules: RULES.len() };
    ui.json("sound", &sound);
    ui.result(&format!("State is sound: {} resources, {} rules.\n", sound.resources, sound.rules));
    Ok(0)
}

/// The parts of an export that make a snapshot.
#[derive(Deserialize)]
struct Export {
    format: u32,
    stack: StackId,
    uids: u64,
    next_op: OpId,
    outputs: Map,
    pending: Vec<Pending>,
    resources: Vec<Resource>,
}

fn exported(session: &Session, file: &Path) -> Result<Snapshot, Failure> {
    let bad = |code: Code, problem: String| {
        let message = format!("{}: {problem}", file.display());
        Failure::new(Kind::Unsound, Diagnostic::error(code, message).help("nothing was written"))
    };
    let bytes = session.world.files.read(file).map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        Failure::new(Kind::Failed, Diagnostic::error(Code::STORE, message))
    })?;
    let export: Export =
        serde_json::from_slice(&bytes).map_err(|error| bad(Code::STATE_DAMAGED, error.to_string()))?;
    if export.format > FORMAT {
        return Err(bad(Code::STATE_NEWER, format!("format {} is newer than {FORMAT}", export.format)));
    }
    let Export { stack, uids, next_op, outputs, pending, resources, .. } = export;
    Ok(Snapshot { stack, run: None, uids, next_op, outputs, pending, resources })
}
