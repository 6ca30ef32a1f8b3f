//! `stead state verify`: checks every stored byte and every integrity rule, of the stack or of an exported file.

use std::path::Path;

use serde::Serialize;
use stead::{HistoryCheck, JournalError, check_export, read_export};
use stead_model::{Code, Diagnostic};
use stead_state::{RULES, verify as check};

use crate::failure::{Failure, Kind};
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct SoundLine {
    resources: usize,
    rules: usize,
    /// Run records and snapshots in the history; absent for an exported file.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshots: Option<usize>,
}

pub(crate) async fn verify(session: &Session, file: Option<&Path>, ui: &Ui) -> Result<u8, Failure> {
    let (snapshot, as_written) = match file {
        Some(file) => {
            let export = read_export(session.project.world(), file)?;
            let as_written = check_export(&export, file);
            (export.into_snapshot(), as_written)
        }
        // Loading checks digests, chain and rules, and its error names the object.
        None => (session.workspace.load_existing().await?.state.snapshot(None), Ok(())),
    };
    let violations = check(&snapshot);
    if !violations.is_empty() {
        return Err(JournalError::Integrity(violations).into());
    }
    // Violations of rules come first, because they are more precise.
    as_written?;
    let history = match file {
        Some(_) => None,
        None => Some(check_stored_history(session, ui).await?),
    };
    let sound = SoundLine {
        resources: snapshot.resources.len(),
        rules: RULES.len(),
        runs: history.as_ref().map(|history| history.runs),
        snapshots: history.as_ref().map(|history| history.snapshots),
    };
    ui.json("sound", &sound);
    ui.result(&format!("State is sound: {} resources, {} rules.\n", sound.resources, sound.rules));
    Ok(0)
}

/// Checks the run records and the snapshots of earlier runs.
async fn check_stored_history(session: &Session, ui: &Ui) -> Result<HistoryCheck, Failure> {
    let history = stead::check_history(&session.workspace).await?;
    for problem in &history.damaged_before_repair {
        ui.note(&format!("damaged before the last repair, and kept: {problem}"));
    }
    if history.damaged.is_empty() {
        return Ok(history);
    }
    let problem = Diagnostic::error(Code::STATE_DAMAGED, "the history of the stack is damaged");
    let problem = history.damaged.iter().fold(problem, |problem, damaged| problem.note(damaged.clone()));
    let problem = problem
        .note(
            "The current state is sound and does not depend on these objects; a rollback to their runs does.",
        )
        .help("restore these objects from a backup; see `stead explain ST0202`");
    Err(Failure::new(Kind::Unsound, problem))
}
