//! Why a stack cannot be read, opened or written.

use std::sync::Arc;

use stead_state::{FormatError, Owner, ReplayError, Spooled, StackRef, Violation};
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
    #[error("a record was refused: it would break {} of the integrity rules", .0.len())]
    WouldBreak(Vec<Violation>),
    #[error("{} on {} holds the stack since {}", .0.user, .0.host, .0.since)]
    Held(Box<Owner>),
    /// Another stack of the project, which has to be written too.
    #[error("{} on {} holds environment {} on target {} since {}", owner.user, owner.host, stack.environment, stack.target, owner.since)]
    OtherHeld { stack: StackRef, owner: Box<Owner> },
    #[error("somebody else took the stack over; this run stops here")]
    Fenced,
    #[error("state changed after the plan was made")]
    Moved,
    /// Providers answered, and the journal did not take what they said.
    #[error("{cause}; {} could not be recorded", count(answers.len()))]
    Unrecorded { cause: Box<JournalError>, answers: Vec<Kept> },
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

/// An answer that the journal did not take, and where it is instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// `None`: nowhere. Whoever reads this must keep it.
    pub place: Option<String>,
    pub answer: Spooled,
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
    /// The same failure, with answers that it leaves unrecorded.
    pub(crate) fn leaving(self, answers: Vec<Kept>) -> JournalError {
        match self {
            other if answers.is_empty() => other,
            JournalError::Unrecorded { cause, answers: mut before } => {
                before.extend(answers);
                JournalError::Unrecorded { cause, answers: before }
            }
            cause => JournalError::Unrecorded { cause: Box::new(cause), answers },
        }
    }

    /// The failure without the answers that it left unrecorded.
    pub(crate) fn cause(&self) -> &JournalError {
        match self {
            JournalError::Unrecorded { cause, .. } => cause,
            other => other,
        }
    }

    pub(crate) fn outside(action: &'static str) -> impl FnOnce(std::io::Error) -> JournalError {
        move |error| JournalError::Outside { action, problem: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use stead_model::{Epoch, OpId, StackId};
    use stead_state::Outcome;

    use super::*;

    fn kept(op: u64) -> Kept {
        let (stack, key) = (StackId("s".into()), "k".to_owned());
        let outcome = Outcome::Deleted;
        Kept {
            place: None,
            answer: Spooled { stack, epoch: Epoch(1), op: OpId(op), key, outcome, inputs: None },
        }
    }

    #[test]
    fn a_failure_tells_how_many_answers_it_leaves_unrecorded() {
        let none = JournalError::Moved.leaving(Vec::new());
        assert_eq!(none.to_string(), "state changed after the plan was made");
        let one = JournalError::Moved.leaving(vec![kept(1)]);
        let said = "state changed after the plan was made; a provider's answer could not be recorded";
        assert_eq!(one.to_string(), said);
        let two = one.leaving(vec![kept(2)]);
        let said = "state changed after the plan was made; 2 providers' answers could not be recorded";
        assert_eq!(two.to_string(), said);
        assert!(matches!(two.cause(), JournalError::Moved));
    }
}
