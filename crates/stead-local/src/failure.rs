//! Failures of operations on this machine: refused or in doubt.
//!
//! A refusal states that nothing was changed, so an operation that fails half-way must be undone or be in
//! doubt.

use std::io;
use std::path::Path;

use stead_model::Map;
use stead_provider::{CallOutcome, Doubt, PartialResult, Refusal};

#[derive(Debug)]
pub(crate) enum Failure {
    Refused(Refusal),
    InDoubt(Doubt),
    /// The operation was carried out, and some of its outputs cannot be recorded.
    OutputsLost(Box<OutputsLost>),
}

/// The recordable outputs of an operation, and why there are no others.
#[derive(Debug)]
pub(crate) struct OutputsLost {
    pub(crate) outputs: Map,
    pub(crate) refusal: Refusal,
}

pub(crate) type Attempt<T> = Result<T, Failure>;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

impl Failure {
    pub(crate) fn in_doubt(message: impl Into<String>) -> Failure {
        Failure::InDoubt(Doubt { message: message.into() })
    }

    /// Returns a refusal also for a doubt, for calls that change nothing.
    pub(crate) fn into_refusal(self) -> Refusal {
        match self {
            Failure::Refused(refusal) => refusal,
            Failure::InDoubt(doubt) => Refusal::new(doubt.message),
            Failure::OutputsLost(lost) => lost.refusal,
        }
    }
}

/// Returns the outcome of an operation. `lost` makes its result from the outputs that can be recorded; `inputs` are those of the
/// operation.
pub(crate) fn outcome<T>(attempt: Attempt<T>, inputs: &Map, lost: impl FnOnce(Map) -> T) -> CallOutcome<T> {
    match attempt {
        Ok(done) => CallOutcome::Done(done),
        Err(Failure::Refused(refusal)) => CallOutcome::Refused(refusal),
        Err(Failure::InDoubt(doubt)) => CallOutcome::InDoubt(doubt),
        Err(Failure::OutputsLost(failed)) => {
            let OutputsLost { outputs, refusal } = *failed;
            CallOutcome::Partial(PartialResult { done: lost(outputs), inputs: inputs.clone(), refusal })
        }
    }
}

/// Returns a refusal with the action, the path, the system's reason and a hint.
pub(crate) fn io_refusal(action: &str, path: &Path, error: &io::Error) -> Refusal {
    Refusal::new(format!("cannot {action} {}: {}", path.display(), reason(error)))
        .at("path")
        .help(hint(error.kind()))
}

/// Returns the system's reason in a form that ends a sentence: `permission denied`.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error ").next().unwrap_or_default();
    // Other messages start with a path, whose case must not change.
    let Some(first) = text.chars().next().filter(|_| error.raw_os_error().is_some()) else {
        return text.to_owned();
    };
    format!("{}{}", first.to_lowercase(), &text[first.len_utf8()..])
}

fn hint(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied => {
            "check the owner and the mode of the folder, or choose another `path`"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "move the file that is in the way, or choose another `path`"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose a `path` on a writable file system",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some disk space, then try again",
        _ => "check that the folder exists and is writable, or choose another `path`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_of_the_system_starts_in_lower_case_and_other_messages_are_unchanged() {
        assert_eq!(reason(&io::Error::from_raw_os_error(13)), "permission denied");
        assert_eq!(reason(&io::Error::other("/Big is a file")), "/Big is a file");
    }

    #[test]
    fn refusal_has_path_reason_and_hint() {
        let refusal = io_refusal("write", Path::new("/x/y"), &io::Error::from_raw_os_error(30));
        assert_eq!(refusal.message, "cannot write /x/y: read-only file system");
        assert!(refusal.help.unwrap().to_string().contains("writable file system"));
    }
}
