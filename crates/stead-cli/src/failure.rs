//! How a command fails: a kind, which is the exit code, and the problems to show.

use stead_journal::JournalError;
use stead_model::{Code, Diagnostic};
use stead_state::FormatError;

/// The exit codes that mean something went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Failed = 1,
    Usage = 2,
    Guarded = 13,
    Held = 14,
    InDoubt = 15,
    Unsound = 16,
    Interrupted = 130,
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub kind: Kind,
    pub problems: Vec<Diagnostic>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, problem: Diagnostic) -> Failure {
        Failure { kind, problems: vec![problem] }
    }

    pub(crate) fn all(kind: Kind, problems: Vec<Diagnostic>) -> Failure {
        Failure { kind, problems }
    }
}

impl From<stead_store::StoreError> for Failure {
    fn from(error: stead_store::StoreError) -> Failure {
        JournalError::from(error).into()
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Failure {
        let message = error.to_string();
        match error {
            JournalError::Held(owner) => Failure::new(
                Kind::Held,
                Diagnostic::error(Code::STACK_HELD, message)
                    .note(format!("It is {} with process id {}.", owner.run, owner.pid))
                    .help("wait until it is done, or run it again with `--wait`")
                    .help("if that run is dead, `stead unlock` takes the stack from it; that is safe"),
            ),
            JournalError::Fenced => Failure::new(
                Kind::Held,
                Diagnostic::error(Code::FENCED, message)
                    .note("Nothing was written after that. What was under way is recorded.")
                    .help("look with `stead plan`, then run the command again"),
            ),
            JournalError::Moved => Failure::new(
                Kind::Held,
                Diagnostic::error(Code::STATE_MOVED, message)
                    .note("Nothing was changed.")
                    .help("run the command again to see the plan for the state as it is now"),
            ),
            JournalError::Integrity(violations) => {
                let problem = Diagnostic::error(Code::INTEGRITY, message);
                let problem =
                    violations.iter().fold(problem, |problem, violation| problem.note(violation.to_string()));
                let help = "nothing was written; keep the state folder and see `stead explain ST0201`";
                Failure::new(Kind::Unsound, problem.help(help))
            }
            JournalError::Format { source: FormatError::Newer { .. }, .. } => Failure::new(
                Kind::Unsound,
                Diagnostic::error(Code::STATE_NEWER, message)
                    .note("Nothing was written.")
                    .help("use a newer stead"),
            ),
            JournalError::Format { .. }
            | JournalError::Missing { .. }
            | JournalError::BrokenChain { .. }
            | JournalError::Replay { .. } => Failure::new(
                Kind::Unsound,
                Diagnostic::error(Code::STATE_DAMAGED, message)
                    .note("Nothing was written, and nothing that is damaged is believed.")
                    .help("keep the state folder as it is and see `stead explain ST0202`"),
            ),
            JournalError::Renamed { to } => Failure::new(
                Kind::Failed,
                Diagnostic::error(Code::STACK_RENAMED, message)
                    .help(format!("use `-e {to}`"))
                    .help("for a new, empty stack here, run `stead stack new` first"),
            ),
            JournalError::Exists { .. } => {
                let problem = Diagnostic::error(Code::NAME_TAKEN, message).note("Nothing was changed.");
                Failure::new(Kind::Failed, problem.help("`stead stack ls` lists the stacks there are"))
            }
            JournalError::HistoryKept { environment } => {
                let problem = Diagnostic::error(Code::NAME_TAKEN, message).note("Nothing was changed.");
                let help = format!("to give it up, run `stead stack rm --purge -e {environment}`");
                Failure::new(Kind::Failed, problem.help(help))
            }
            JournalError::Limit { .. } => {
                let problem = Diagnostic::error(Code::LIMIT, message);
                Failure::new(Kind::Unsound, problem.note("Nothing was written."))
            }
            JournalError::Store(_) | JournalError::Outside { .. } => Failure::new(
                Kind::Failed,
                Diagnostic::error(Code::STORE, message)
                    .help("mend the cause, then run the command again; what was done is recorded"),
            ),
        }
    }
}
