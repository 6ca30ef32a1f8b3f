//! Exported files: made from a stack, and read from the disk.

use std::path::Path;

use stead_model::{Code, Diagnostic, Limits};
use stead_state::{Export, ExportError, Origin, Snapshot};

use crate::failure::{Failure, Kind};
use crate::session::Session;

/// What is longer is not read at all: a stack at every limit is smaller.
const MAX_BYTES: u64 = 2 << 30;

pub(crate) fn of(session: &Session, snapshot: Snapshot) -> Export {
    let origin = Origin {
        stead: env!("CARGO_PKG_VERSION").to_owned(),
        project: session.project.name.clone(),
        environment: session.environment.to_string(),
        target: session.target.clone(),
    };
    Export::new(origin, snapshot)
}

/// Reads an exported file. Nothing of a file that is damaged, newer or too large is believed.
pub(crate) fn read(session: &Session, file: &Path) -> Result<Export, Failure> {
    let files = &session.world.files;
    let length = files.metadata(file).ok().flatten().map(|found| found.len);
    if let Some(length) = length.filter(|length| *length > MAX_BYTES) {
        let message = format!("{} has {length} bytes; at most {MAX_BYTES} are read", file.display());
        return Err(Failure::new(Kind::Unsound, Diagnostic::error(Code::LIMIT, message)));
    }
    let bytes = files.read(file).map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        let problem = Diagnostic::error(Code::STORE, message).note("Nothing was written.");
        let help = match error.kind() {
            std::io::ErrorKind::NotFound => {
                "`stead stack export > FILE` makes such a file; see whether the path is right"
            }
            _ => "see whether it is a file that you may read",
        };
        Failure::new(Kind::Failed, problem.help(help))
    })?;
    Export::decode(&bytes, &Limits::default()).map_err(|error| refused(file, &error))
}

/// Refuses a file in which something was changed and that does not say so.
pub(crate) fn check_digest(export: &Export, file: &Path) -> Result<(), Failure> {
    export.check_digest().map_err(|error| refused(file, &error))
}

fn refused(file: &Path, error: &ExportError) -> Failure {
    let (code, help) = match error {
        ExportError::Damaged(_) | ExportError::ControlCharacter(_) | ExportError::MarkSource(_) => {
            (Code::STATE_DAMAGED, None)
        }
        ExportError::Newer(_) => (Code::STATE_NEWER, Some("use a newer stead")),
        ExportError::Changed => {
            (Code::STATE_DAMAGED, Some("if somebody changed it on purpose, remove its `digest`"))
        }
        ExportError::TooLarge(_) | ExportError::Oversized { .. } => {
            (Code::LIMIT, Some("`docs/limits.md` lists what a stack may hold"))
        }
    };
    let problem = Diagnostic::error(code, format!("{}: {error}", file.display()));
    let problem = help.into_iter().fold(problem.note("Nothing was written."), Diagnostic::help);
    Failure::new(Kind::Unsound, problem)
}
