//! Why a stack cannot be read, opened or written.

use std::sync::Arc;

use stead_state::{FormatError, Owner, ReplayError, Violation};
use stead_store::StoreError;

#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Store(#[from] Arc<StoreError>),
    #[error("{key}: {source}")]
    Format { key: String, source: FormatError },
    #[error("{key} is missing, and head refers to it")]
    Missing { key: String },
    #[error("{key} does not follow the record before it")]
    BrokenChain { key: String },
    #[error("{key}: {source}")]
    Replay { key: String, source: ReplayError },
    #[error("state breaks {} of its integrity rules", .0.len())]
    Integrity(Vec<Violation>),
    #[error("{} on {} holds the stack since {}", .0.user, .0.host, .0.since)]
    Held(Box<Owner>),
    #[error("somebody else took the stack over; this run stops here")]
    Fenced,
    #[error("state changed after the plan was made")]
    Moved,
    #[error("the stack was renamed; it is environment {to} now")]
    Renamed { to: String },
    #[error("there is a stack for environment {environment} already")]
    Exists { environment: String },
    #[error("the stack of environment {environment} was removed, and its history is kept")]
    HistoryKept { environment: String },
    #[error("{key}: {excess}")]
    Limit { key: String, excess: String },
    #[error("cannot {action}: {problem}")]
    Outside { action: &'static str, problem: String },
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        JournalError::Store(Arc::new(error))
    }
}

impl JournalError {
    pub(crate) fn outside(action: &'static str) -> impl FnOnce(std::io::Error) -> JournalError {
        move |error| JournalError::Outside { action, problem: error.to_string() }
    }
}
