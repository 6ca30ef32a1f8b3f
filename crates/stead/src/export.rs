//! Exports: files with the snapshot of a stack.

use std::io::ErrorKind;
use std::path::Path;

use stead_engine::ops::{OpError, Workspace};
use stead_model::{Code, Diagnostic, Hint, Limits, NextStep};
use stead_state::{Export, ExportError, Origin, Snapshot};
use stead_world::World;

use crate::Project;

/// Size limit of an exported file. A stack at all its limits is smaller.
const MAX_BYTES: u64 = 2 << 30;

/// Returns the export of a snapshot of this stack.
pub fn export(project: &Project, workspace: &Workspace, snapshot: Snapshot) -> Export {
    let origin = Origin {
        stead: env!("CARGO_PKG_VERSION").to_owned(),
        project: project.name.clone(),
        environment: workspace.environment().to_string(),
        target: workspace.target().to_owned(),
    };
    Export::new(origin, snapshot)
}

/// Reads an exported file.
///
/// Fails if the file is damaged, too large, or of a newer version.
pub fn read_export(world: &World, file: &Path) -> Result<Export, OpError> {
    let length = world.files.metadata(file).ok().flatten().map(|found| found.len);
    if let Some(length) = length.filter(|length| *length > MAX_BYTES) {
        let message = format!("{} has {length} bytes; at most {MAX_BYTES} are read", file.display());
        return Err(OpError::unsound(Diagnostic::error(Code::LIMIT, message)));
    }
    let bytes = world.files.read(file).map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        let problem = Diagnostic::error(Code::STORE, message).note("Nothing was written.");
        let hint = match error.kind() {
            ErrorKind::NotFound => {
                Hint::from(NextStep::ExportStack).and(" makes such a file; check whether the path is right")
            }
            _ => Hint::text("check whether it is a file that you may read"),
        };
        OpError::refused(problem.help(hint))
    })?;
    Export::decode(&bytes, &Limits::default()).map_err(|error| unusable(file, &error))
}

/// Fails if the file was changed after the export and still has its old digest.
pub fn check_export(export: &Export, file: &Path) -> Result<(), OpError> {
    export.check_digest().map_err(|error| unusable(file, &error))
}

fn unusable(file: &Path, error: &ExportError) -> OpError {
    let (code, help) = match error {
        ExportError::Damaged(_) | ExportError::ControlCharacter(_) | ExportError::MarkSource(_) => {
            (Code::STATE_DAMAGED, None)
        }
        ExportError::Newer(_) => (Code::STATE_NEWER, Some("use a newer stead")),
        ExportError::Changed => {
            (Code::STATE_DAMAGED, Some("if the file was changed on purpose, remove its `digest`"))
        }
        ExportError::TooLarge(_) | ExportError::Oversized { .. } => {
            (Code::LIMIT, Some("`docs/limits.md` lists what a stack may hold"))
        }
    };
    let problem = Diagnostic::error(code, format!("{}: {error}", file.display()));
    OpError::unsound(help.into_iter().fold(problem.note("Nothing was written."), Diagnostic::help))
}
