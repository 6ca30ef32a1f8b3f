//! How work on this machine fails: certainly, or nobody knows.
//!
//! A refusal claims that nothing happened, so whatever fails half-way must be undone or be in doubt.

use std::io;
use std::path::Path;

use stead_provider::{Doubt, Outcome, Refusal};

#[derive(Debug)]
pub(crate) enum Failure {
    Refused(Refusal),
    InDoubt(Doubt),
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

    /// For calls that change nothing, where doubt is only another reason for having no answer.
    pub(crate) fn into_refusal(self) -> Refusal {
        match self {
            Failure::Refused(refusal) => refusal,
            Failure::InDoubt(doubt) => Refusal::new(doubt.message),
        }
    }
}

pub(crate) fn outcome<T>(attempt: Attempt<T>) -> Outcome<T> {
    match attempt {
        Ok(done) => Outcome::Done(done),
        Err(Failure::Refused(refusal)) => Outcome::Refused(refusal),
        Err(Failure::InDoubt(doubt)) => Outcome::InDoubt(doubt),
    }
}

/// What could not be done to which path, the system's reason, and what to do about it.
pub(crate) fn unable(action: &str, path: &Path, error: &io::Error) -> Refusal {
    Refusal::new(format!("cannot {action} {}: {}", path.display(), reason(error)))
        .at("path")
        .help(remedy(error.kind()))
}

/// The system's reason as the end of a sentence: `permission denied`.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error ").next().unwrap_or_default();
    // A message of our own starts with a path, and a path keeps its case.
    let Some(first) = text.chars().next().filter(|_| error.raw_os_error().is_some()) else {
        return text.to_owned();
    };
    format!("{}{}", first.to_lowercase(), &text[first.len_utf8()..])
}

fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied => {
            "see who owns the folder and what its mode is, or choose another `path`"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "move what is in the way, or choose another `path`"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose a `path` on a file system that can be written to",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk, then try again",
        _ => "see that the folder exists and can be written to, or choose another `path`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_reason_ends_a_sentence_and_ours_stays_as_it_is() {
        assert_eq!(reason(&io::Error::from_raw_os_error(13)), "permission denied");
        assert_eq!(reason(&io::Error::other("/Big is a file")), "/Big is a file");
    }

    #[test]
    fn a_refusal_names_path_reason_and_remedy() {
        let refusal = unable("write", Path::new("/x/y"), &io::Error::from_raw_os_error(30));
        assert_eq!(refusal.message, "cannot write /x/y: read-only file system");
        assert!(refusal.help.unwrap().contains("can be written to"));
    }
}
