//! Failure of a command: a kind, which is the exit code, and the problems to show.

use stead::guard::PinfileChange;
use stead::ops::{OpClass, OpError, PinsRefused};
use stead::{Doubtful, JournalError, LackingSecret, UnrecordedAnswer};
use stead_model::{Code, Diagnostic, Hint, NextStep, Operation, ResolveAnswer};
use stead_state::{FormatError, Owner, StackRef};

use crate::commands::moves;
use crate::hints::recorded_flags;

/// Exit codes of failed commands.
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

/// Text shown before the problems.
#[derive(Debug)]
pub(crate) enum Preface {
    None,
    /// Changes of the pinfile that were refused.
    PinLines(Vec<PinfileChange>),
    Note(String),
}

#[derive(Debug)]
pub(crate) struct Failure {
    pub kind: Kind,
    pub problems: Vec<Diagnostic>,
    pub preface: Preface,
}

impl Failure {
    pub(crate) fn new(kind: Kind, problem: Diagnostic) -> Failure {
        Failure::with_problems(kind, vec![problem])
    }

    pub(crate) fn with_problems(kind: Kind, problems: Vec<Diagnostic>) -> Failure {
        Failure { kind, problems, preface: Preface::None }
    }

    pub(crate) fn with_preface(self, preface: Preface) -> Failure {
        Failure { preface, ..self }
    }

    /// Returns true if another run held the lock or changed the state first.
    ///
    /// The command changed nothing, and may succeed when it is repeated.
    pub(crate) fn is_conflict(&self) -> bool {
        let conflict = |problem: &Diagnostic| [Code::STACK_HELD, Code::STATE_CHANGED].contains(&problem.code);
        self.problems.first().is_some_and(conflict)
    }
}

impl From<OpClass> for Kind {
    fn from(class: OpClass) -> Kind {
        match class {
            OpClass::Failed => Kind::Failed,
            OpClass::Invalid => Kind::Usage,
            OpClass::Guarded => Kind::Guarded,
            OpClass::Held => Kind::Held,
            OpClass::InDoubt => Kind::InDoubt,
            OpClass::Unsound => Kind::Unsound,
        }
    }
}

impl From<OpError> for Failure {
    fn from(error: OpError) -> Failure {
        let kind = Kind::from(error.class());
        match error {
            OpError::Stack(error) => error.into(),
            OpError::InDoubt(doubtful) => {
                Failure::with_problems(kind, doubtful.iter().map(in_doubt).collect())
            }
            OpError::Pins(PinsRefused { lines, problems }) => {
                Failure::with_problems(kind, problems).with_preface(Preface::PinLines(lines))
            }
            OpError::LooksMoved(plan) => moves::failure(&plan),
            OpError::Stale(why) => {
                let message = format!("the saved plan no longer applies: {why:?}");
                Failure::new(kind, Diagnostic::error(Code::PLAN_STALE, message))
            }
            OpError::ReadOnly => Failure::new(
                kind,
                Diagnostic::error(Code::USAGE, "this plan is read-only and cannot be applied"),
            ),
            other => Failure::with_problems(kind, other.problems()),
        }
    }
}

/// Describes an operation in doubt, with the commands that settle it.
fn in_doubt(doubtful: &Doubtful) -> Diagnostic {
    let Doubtful { name, pending, may_still_run, lacks } = doubtful;
    let operation = pending.intent.operation();
    let why = pending.doubt.as_deref().unwrap_or("the run stopped while it was under way");
    let message = format!("it is unknown whether the {} of {name} happened: {why}", operation.verb());
    let problem = Diagnostic::error(Code::IN_DOUBT, message);
    let problem = match lacks {
        Some(lacking) => lacking_secret(problem, lacking),
        None => problem.note("stead does not repeat the operation on its own: it could then happen twice."),
    };
    let resolve =
        |text: &str, answer| Hint::text(text).then(NextStep::Resolve { name: name.clone(), answer });
    let happened = match operation {
        Operation::Create => "if it was created: ",
        Operation::Update | Operation::Delete => "if it happened: ",
    };
    let problem = may_still_run
        .iter()
        .fold(problem, |problem, sentence| problem.note(sentence.clone()))
        .help(resolve(happened, ResolveAnswer::Happened(operation)))
        .help(resolve("if it did not happen: ", ResolveAnswer::DidNotHappen));
    match (lacks, operation) {
        (None, Operation::Create | Operation::Update) => {
            problem.help(resolve("if repeating it is safe: ", ResolveAnswer::Retry))
        }
        // A deletion is sent again by a run that asks the guards of the program.
        (Some(_), _) | (None, Operation::Delete) => problem,
    }
}

/// Adds the secret that a repetition needs, and the ways to its key.
fn lacking_secret(problem: Diagnostic, lacking: &LackingSecret) -> Diagnostic {
    let LackingSecret { path, why, help } = lacking;
    let problem =
        problem.note(format!("Without the secret `{path}` the operation cannot be repeated: {why}."));
    if !lacking.key_would_help() {
        return problem;
    }
    let problem = problem.help("give the key, then run the command again: it looks at the operation first");
    help.iter()
        .cloned()
        .fold(problem, Diagnostic::help)
        .help("`stead secrets status` shows which keys open it")
}

/// Failure to get the lock of this stack, or of the other stack of an unfinished move.
fn held(owner: &Owner, other: Option<&StackRef>, message: String) -> Failure {
    let problem = Diagnostic::error(Code::STACK_HELD, message)
        .note(format!("The holder is {}, process {}.", owner.run, owner.pid));
    let (problem, unlock) = match other {
        None => (problem, "stead unlock".to_owned()),
        Some(StackRef { environment, target }) => (
            problem
                .note("A move of resources from this stack to that one is unfinished, and needs both locks."),
            format!("stead unlock{} --target {target}", recorded_flags(environment)),
        ),
    };
    let problem = problem.help("wait until that run ends, or pass `--wait`").help(format!(
        "if that run is dead, take its lock with `{unlock}`; a run without its lock cannot write"
    ));
    Failure::new(Kind::Held, problem)
}

fn state_changed(message: String) -> Failure {
    let problem = Diagnostic::error(Code::STATE_CHANGED, message)
        .note("Nothing was changed.")
        .help("run the command again to plan on the current state");
    Failure::new(Kind::Held, problem)
}

fn unsealed(message: String) -> Failure {
    let problem = Diagnostic::error(Code::SECRETS_LOCKED, message)
        .note("The record was not written, and state is sound. No further operation was started.")
        .help("`stead secrets status` shows which key opens the stack");
    Failure::new(Kind::Failed, problem)
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Failure {
        let message = error.to_string();
        match error {
            JournalError::Held(owner) => held(&owner, None, message),
            JournalError::OtherStackHeld { stack, owner } => held(&owner, Some(&stack), message),
            JournalError::Fenced => Failure::new(
                Kind::Held,
                Diagnostic::error(Code::FENCED, message)
                    .note("Nothing was written after that. The operations under way are recorded.")
                    .help("check with `stead plan`, then run the command again"),
            ),
            JournalError::StateChanged => state_changed(message),
            JournalError::Integrity(violations) => {
                let problem = Diagnostic::error(Code::INTEGRITY, message);
                let problem =
                    violations.iter().fold(problem, |problem, violation| problem.note(violation.to_string()));
                let problem = problem
                    .note("Nothing was written.")
                    .help("`stead state repair` proposes repairs; see `stead explain ST0201`");
                Failure::new(Kind::Unsound, problem)
            }
            JournalError::RecordRefused(violations) => {
                let problem = Diagnostic::error(Code::RECORD_REFUSED, message);
                let problem =
                    violations.iter().fold(problem, |problem, violation| problem.note(violation.to_string()));
                let problem = problem.note(
                    "The record was not written, and state is sound. No further operation was started.",
                );
                Failure::new(Kind::Failed, problem.help("see `stead explain ST0212`"))
            }
            JournalError::Format { source: FormatError::Newer { .. }, .. } => Failure::new(
                Kind::Unsound,
                Diagnostic::error(Code::STATE_NEWER, message)
                    .note("Nothing was written.")
                    .help("use a newer version of stead"),
            ),
            JournalError::Format { .. }
            | JournalError::Missing { .. }
            | JournalError::HeadMissing { .. }
            | JournalError::JournalGap { .. }
            | JournalError::BrokenChain { .. }
            | JournalError::Replay { .. } => Failure::new(
                Kind::Unsound,
                Diagnostic::error(Code::STATE_DAMAGED, message)
                    .note("Nothing was written, and no damaged object was used.")
                    .help("`stead state repair` proposes repairs; see `stead explain ST0202`"),
            ),
            JournalError::Seal(_) => unsealed(message),
            JournalError::Unrecorded { cause, answers } => unrecorded(*cause, &answers, message),
            JournalError::Renamed { to } => Failure::new(
                Kind::Failed,
                Diagnostic::error(Code::STACK_RENAMED, message)
                    .help(format!("use `{}`", recorded_flags(&to).trim_start()))
                    .help("for a new, empty stack here, run `stead stack new` first"),
            ),
            JournalError::Exists { .. } => {
                let problem = Diagnostic::error(Code::NAME_TAKEN, message).note("Nothing was changed.");
                Failure::new(Kind::Failed, problem.help("`stead stack ls` lists the existing stacks"))
            }
            JournalError::HistoryKept { environment } => {
                let problem = Diagnostic::error(Code::NAME_TAKEN, message).note("Nothing was changed.");
                let help = format!(
                    "to delete that history, run `stead stack rm --purge{}`",
                    recorded_flags(&environment)
                );
                Failure::new(Kind::Failed, problem.help(help))
            }
            JournalError::Limit { .. } => {
                let problem = Diagnostic::error(Code::LIMIT, message);
                Failure::new(Kind::Unsound, problem.note("Nothing was written."))
            }
            JournalError::Store(_) | JournalError::Io { .. } => Failure::new(
                Kind::Failed,
                Diagnostic::error(Code::STORE, message)
                    .help("fix the cause, then run the command again; completed operations are recorded"),
            ),
        }
    }
}

/// Lists the answers of providers that the journal did not record, each with its location or in full.
fn unrecorded(cause: JournalError, answers: &[UnrecordedAnswer], message: String) -> Failure {
    let mut failure = Failure::from(cause);
    let mut problem = Diagnostic::error(Code::UNRECORDED, message)
        .note("The providers answered these operations. No further operation was started.");
    for UnrecordedAnswer { location, answer } in answers {
        let op = answer.op;
        problem = match location {
            Some(location) => problem.note(format!("The answer to operation {op} is kept: {location}")),
            None => {
                let text = String::from_utf8_lossy(&answer.encode()).trim_end().replace('\n', " ");
                problem.note(format!(
                    "The answer to operation {op} is stored nowhere else; keep this text: {text}"
                ))
            }
        };
    }
    let problem = if answers.iter().all(|kept| kept.location.is_some()) {
        problem.help("fix the cause, then run the command again: it records the kept answers first")
    } else {
        problem.help("fix the cause, then run `stead state ls`: it lists the unfinished operations").help(
            "record the outcome of each: `stead state resolve NAME --created ID | --done | --not-created`",
        )
    };
    failure.problems.insert(0, problem);
    failure
}
