//! How a command fails: a kind, which is the exit code, and the problems to show.

use stead_journal::{JournalError, Kept};
use stead_model::{Code, Diagnostic};
use stead_state::{FormatError, Owner, StackRef};

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

    /// Somebody else has or had the stack, and nothing was done: the same may succeed after them.
    pub(crate) fn was_too_late(&self) -> bool {
        let too_late = |problem: &Diagnostic| [Code::STACK_HELD, Code::STATE_MOVED].contains(&problem.code);
        self.problems.first().is_some_and(too_late)
    }
}

impl From<stead_store::StoreError> for Failure {
    fn from(error: stead_store::StoreError) -> Failure {
        JournalError::from(error).into()
    }
}

/// Somebody has the stack, or another one that is needed too.
fn held(owner: &Owner, other: Option<&StackRef>, message: String) -> Failure {
    let problem = Diagnostic::error(Code::STACK_HELD, message)
        .note(format!("It is {} with process id {}.", owner.run, owner.pid));
    let (problem, unlock) = match other {
        None => (problem, "`stead unlock` takes the stack from it".to_owned()),
        Some(StackRef { environment, target }) => (
            problem.note("Something is on its way from this stack to that one, and both have to know it."),
            format!("`stead unlock -e {environment} --target {target}` takes that stack from it"),
        ),
    };
    let problem = problem
        .help("wait until it is done, or run it again with `--wait`")
        .help(format!("if that run is dead, {unlock}; that is safe"));
    Failure::new(Kind::Held, problem)
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Failure {
        let message = error.to_string();
        match error {
            JournalError::Held(owner) => held(&owner, None, message),
            JournalError::OtherHeld { stack, owner } => held(&owner, Some(&stack), message),
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
                let problem = problem
                    .note("Nothing was written.")
                    .help("`stead state repair` proposes what to do; see `stead explain ST0201`");
                Failure::new(Kind::Unsound, problem)
            }
            JournalError::WouldBreak(violations) => {
                let problem = Diagnostic::error(Code::RECORD_REFUSED, message);
                let problem =
                    violations.iter().fold(problem, |problem, violation| problem.note(violation.to_string()));
                let problem =
                    problem.note("It was not written, and state is sound. Nothing was started after it.");
                Failure::new(Kind::Failed, problem.help("see `stead explain ST0212`"))
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
                    .help("`stead state repair` proposes what to do; see `stead explain ST0202`"),
            ),
            JournalError::Unrecorded { cause, answers } => unrecorded(*cause, &answers, message),
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

/// Says where each answer is, or prints it whole if it is nowhere else.
fn unrecorded(cause: JournalError, answers: &[Kept], message: String) -> Failure {
    let mut failure = Failure::from(cause);
    let mut problem = Diagnostic::error(Code::UNRECORDED, message)
        .note("The providers did what they were asked. Nothing was started after that.");
    for Kept { place, answer } in answers {
        let op = answer.op;
        problem = match place {
            Some(place) => problem.note(format!("The answer to operation {op} is kept: {place}")),
            None => {
                let text = String::from_utf8_lossy(&answer.encode()).trim_end().replace('\n', " ");
                problem.note(format!("The answer to operation {op} is nowhere but here; keep it: {text}"))
            }
        };
    }
    let problem = if answers.iter().all(|kept| kept.place.is_some()) {
        problem.help("mend the cause, then run the command again: it takes the kept answers in first")
    } else {
        problem
            .help("mend the cause, then run `stead state ls`: it names the operations that are not finished")
            .help("say what became of each: `stead state resolve NAME --created ID | --done | --not-created`")
    };
    failure.problems.insert(0, problem);
    failure
}
