//! Errors of reading, opening and writing a stack.

use std::sync::Arc;

use stead_model::Unopened;
use stead_state::{FormatError, Owner, ReplayError, Spooled, StackRef, Violation};
use stead_store::StoreError;

#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Store(#[from] Arc<StoreError>),
    #[error("{key}: {source}")]
    Format { key: String, source: FormatError },
    #[error("{key} is missing, but another object of the stack refers to it")]
    Missing { key: String },
    #[error("{key} is missing, but snapshots, journals or run records of the stack exist")]
    HeadMissing { key: String },
    #[error("{key} is missing, but later records of the same run exist")]
    JournalGap { key: String },
    #[error("{key} does not follow the record before it")]
    BrokenChain { key: String },
    #[error("{key}: {source}")]
    Replay { key: String, source: ReplayError },
    #[error("state violates {}", rules(.0.len()))]
    Integrity(Vec<Violation>),
    #[error("a record was refused: with it, state would violate {}", rules(.0.len()))]
    RecordRefused(Vec<Violation>),
    #[error("the stack is locked by {} on {} since {}", .0.user, .0.host, .0.since)]
    Held(Box<Owner>),
    /// Another stack of the project, which the run writes too, is held by another run.
    #[error("the stack of environment {} on target {} is locked by {} on {} since {}", stack.environment, stack.target, owner.user, owner.host, owner.since)]
    OtherStackHeld { stack: StackRef, owner: Box<Owner> },
    #[error("another run took over the stack; this run stops here")]
    Fenced,
    #[error("state changed after the plan was made")]
    StateChanged,
    /// Providers answered, but their answers could not be appended to the journal.
    #[error("{cause}; {} could not be recorded", count(answers.len()))]
    Unrecorded { cause: Box<JournalError>, answers: Vec<UnrecordedAnswer> },
    #[error("the stack was renamed; it now belongs to environment {to}")]
    Renamed { to: String },
    #[error("a stack for environment {environment} already exists")]
    Exists { environment: String },
    #[error("the stack of environment {environment} was removed, but its history is still stored")]
    HistoryKept { environment: String },
    #[error("{key}: {excess}")]
    Limit { key: String, excess: String },
    #[error("a secret cannot be encrypted, so nothing was recorded: {0}")]
    Seal(Unopened),
    #[error("cannot {action}: {problem}")]
    Io { action: &'static str, problem: String },
}

/// A provider's answer that could not be appended to the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrecordedAnswer {
    /// Where the answer is stored instead. `None`: it is stored nowhere, and this value is its only copy.
    pub location: Option<String>,
    pub answer: Spooled,
}

fn rules(violated: usize) -> String {
    if violated == 1 { "1 integrity rule".to_owned() } else { format!("{violated} integrity rules") }
}

fn count(answers: usize) -> String {
    if answers == 1 { "a provider's answer".to_owned() } else { format!("{answers} providers' answers") }
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        JournalError::Store(Arc::new(error))
    }
}

impl JournalError {
    /// Adds answers that this failure left unrecorded.
    pub(crate) fn with_unrecorded(self, answers: Vec<UnrecordedAnswer>) -> JournalError {
        match self {
            other if answers.is_empty() => other,
            JournalError::Unrecorded { cause, answers: mut before } => {
                before.extend(answers);
                JournalError::Unrecorded { cause, answers: before }
            }
            cause => JournalError::Unrecorded { cause: Box::new(cause), answers },
        }
    }

    /// Returns the failure without the answers that it left unrecorded.
    pub(crate) fn cause(&self) -> &JournalError {
        match self {
            JournalError::Unrecorded { cause, .. } => cause,
            other => other,
        }
    }

    pub(crate) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> JournalError {
        move |error| JournalError::Io { action, problem: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use stead_model::{Epoch, OpId, StackId};
    use stead_state::Outcome;

    use super::*;

    fn unrecorded(op: u64) -> UnrecordedAnswer {
        let (stack, key) = (StackId("s".into()), "k".to_owned());
        let outcome = Outcome::Deleted;
        UnrecordedAnswer {
            location: None,
            answer: Spooled { stack, epoch: Epoch(1), op: OpId(op), key, outcome, inputs: None },
        }
    }

    #[test]
    fn failure_states_how_many_answers_are_unrecorded() {
        let none = JournalError::StateChanged.with_unrecorded(Vec::new());
        assert_eq!(none.to_string(), "state changed after the plan was made");
        let one = JournalError::StateChanged.with_unrecorded(vec![unrecorded(1)]);
        let text = "state changed after the plan was made; a provider's answer could not be recorded";
        assert_eq!(one.to_string(), text);
        let two = one.with_unrecorded(vec![unrecorded(2)]);
        let text = "state changed after the plan was made; 2 providers' answers could not be recorded";
        assert_eq!(two.to_string(), text);
        assert!(matches!(two.cause(), JournalError::StateChanged));
    }
}
