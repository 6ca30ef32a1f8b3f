//! `stead state verify`: checks every stored byte and every integrity rule, of the stack or of an exported file.

use std::path::Path;

use serde::Serialize;
use stead::{JournalError, check_export, read_export};
use stead_state::{RULES, verify as check};

use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct SoundLine {
    resources: usize,
    rules: usize,
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
    let sound = SoundLine { resources: snapshot.resources.len(), rules: RULES.len() };
    ui.json("sound", &sound);
    ui.result(&format!("State is sound: {} resources, {} rules.\n", sound.resources, sound.rules));
    Ok(0)
}
