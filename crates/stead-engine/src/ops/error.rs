//! Why an operation did not happen, in a form that a caller can match.

use std::fmt;

use stead_guard::pins::{PinfileChange, is_pinfile_error};
use stead_journal::JournalError;
use stead_model::{Code, Diagnostic, Hint, Name, NextStep, SIGNATURE_KEY};
use stead_plan::Plan;
use stead_store::StoreError;

use crate::Doubtful;
use crate::ops::{Stale, Workspace};

/// Why an operation did not happen.
#[derive(Debug)]
pub enum OpError {
    /// The stack cannot be read, locked or written.
    Stack(JournalError),
    /// Operations of an interrupted run need an answer from a person.
    InDoubt(Vec<Doubtful>),
    /// Operations of an interrupted run could not be finished.
    Recovery(Vec<Diagnostic>),
    /// The program does not evaluate.
    Program(Vec<Diagnostic>),
    /// The pinfile cannot be read or written, or changed meanwhile.
    Pinfile(Box<Diagnostic>),
    /// The program and the pinfile disagree.
    Pins(PinsRefused),
    /// A provider could not be read.
    Read(Vec<Diagnostic>),
    /// The planner refused.
    Plan(Vec<Diagnostic>),
    /// A guard refused.
    Guarded(Vec<Diagnostic>),
    /// A deletion and a creation look like one move, and no decision was given.
    LooksMoved(Box<Plan>),
    /// An approved plan does not fit any more.
    Stale(Stale),
    /// The named resource, run or operation does not exist, or the name is ambiguous.
    NotFound(Box<Diagnostic>),
    /// The request cannot be carried out in this state.
    Refused(Vec<Diagnostic>),
    /// The request itself is malformed.
    Invalid(Vec<Diagnostic>),
    /// State breaks its integrity rules and the request does not mend that.
    Unsound(Box<Diagnostic>),
    /// A proposal was made for reading only and cannot be applied.
    ReadOnly,
}

/// The changes that the pinfile would have got, and why the program does not fit it.
#[derive(Clone, Debug)]
pub struct PinsRefused {
    pub lines: Vec<PinfileChange>,
    pub problems: Vec<Diagnostic>,
}

/// The class of an error, which decides how a caller reacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpClass {
    Failed,
    Invalid,
    Guarded,
    /// Another run holds the stack or took it over.
    Held,
    InDoubt,
    Unsound,
}

impl OpError {
    /// A problem with the pinfile.
    pub fn pinfile(problem: Diagnostic) -> OpError {
        OpError::Pinfile(Box::new(problem))
    }

    /// A name without a match, or with several.
    pub fn not_found(problem: Diagnostic) -> OpError {
        OpError::NotFound(Box::new(problem))
    }

    /// State, or a file of it, that cannot be used.
    pub fn unsound(problem: Diagnostic) -> OpError {
        OpError::Unsound(Box::new(problem))
    }

    /// One problem with the request itself.
    pub fn invalid(problem: Diagnostic) -> OpError {
        OpError::Invalid(vec![problem])
    }

    /// One reason why the request cannot be carried out in this state.
    pub fn refused(problem: Diagnostic) -> OpError {
        OpError::Refused(vec![problem])
    }

    pub fn class(&self) -> OpClass {
        match self {
            OpError::Stack(error) => class_of(error),
            OpError::InDoubt(_) => OpClass::InDoubt,
            OpError::Recovery(problems) | OpError::Refused(problems) if needs_an_answer(problems) => {
                OpClass::InDoubt
            }
            OpError::Pins(PinsRefused { problems, .. }) if problems.iter().any(is_pinfile_error) => {
                OpClass::Failed
            }
            OpError::Guarded(_) | OpError::Pins(_) => OpClass::Guarded,
            OpError::Invalid(_) | OpError::ReadOnly => OpClass::Invalid,
            OpError::Unsound(_) => OpClass::Unsound,
            OpError::Recovery(_)
            | OpError::Program(_)
            | OpError::Pinfile(_)
            | OpError::Read(_)
            | OpError::Plan(_)
            | OpError::LooksMoved(_)
            | OpError::Stale(_)
            | OpError::NotFound(_)
            | OpError::Refused(_) => OpClass::Failed,
        }
    }

    /// The problems to show, where the error has any of its own.
    pub fn problems(&self) -> Vec<Diagnostic> {
        match self {
            OpError::Recovery(problems)
            | OpError::Program(problems)
            | OpError::Read(problems)
            | OpError::Plan(problems)
            | OpError::Guarded(problems)
            | OpError::Refused(problems)
            | OpError::Invalid(problems)
            | OpError::Pins(PinsRefused { problems, .. }) => problems.clone(),
            OpError::Pinfile(problem) | OpError::NotFound(problem) | OpError::Unsound(problem) => {
                vec![problem.as_ref().clone()]
            }
            OpError::Stack(_)
            | OpError::InDoubt(_)
            | OpError::LooksMoved(_)
            | OpError::Stale(_)
            | OpError::ReadOnly => Vec::new(),
        }
    }

    /// Returns true if another run was faster: the same operation may succeed on the state that it left.
    pub fn was_too_late(&self) -> bool {
        use JournalError::{Held, OtherStackHeld, StateChanged};
        matches!(self, OpError::Stack(Held(_) | OtherStackHeld { .. } | StateChanged))
    }
}

/// Returns true if a person has to answer for an operation in doubt before the next run.
fn needs_an_answer(problems: &[Diagnostic]) -> bool {
    problems.iter().any(|problem| problem.code == Code::IN_DOUBT)
}

fn class_of(error: &JournalError) -> OpClass {
    match error {
        JournalError::Held(_)
        | JournalError::OtherStackHeld { .. }
        | JournalError::Fenced
        | JournalError::StateChanged => OpClass::Held,
        JournalError::Integrity(_)
        | JournalError::Format { .. }
        | JournalError::Missing { .. }
        | JournalError::HeadMissing { .. }
        | JournalError::JournalGap { .. }
        | JournalError::BrokenChain { .. }
        | JournalError::Replay { .. }
        | JournalError::Limit { .. } => OpClass::Unsound,
        JournalError::Unrecorded { cause, .. } => class_of(cause),
        JournalError::RecordRefused(_)
        | JournalError::Renamed { .. }
        | JournalError::Exists { .. }
        | JournalError::HistoryKept { .. }
        | JournalError::Store(_)
        | JournalError::Seal(_)
        | JournalError::Io { .. } => OpClass::Failed,
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpError::Stack(error) => error.fmt(f),
            OpError::InDoubt(doubtful) => {
                write!(f, "{} operations of an interrupted run are in doubt", doubtful.len())
            }
            OpError::LooksMoved(_) => f.write_str("some resources look renamed, not removed"),
            OpError::Stale(_) => f.write_str("the approved plan does not fit any more"),
            OpError::ReadOnly => f.write_str("the proposal was made for reading only"),
            _ => match self.problems().as_slice() {
                [] => f.write_str("the operation failed"),
                [one] => f.write_str(&one.message),
                [first, rest @ ..] => write!(f, "{}, and {} more problems", first.message, rest.len()),
            },
        }
    }
}

impl std::error::Error for OpError {}

impl From<JournalError> for OpError {
    fn from(error: JournalError) -> OpError {
        OpError::Stack(error)
    }
}

impl From<StoreError> for OpError {
    fn from(error: StoreError) -> OpError {
        OpError::Stack(error.into())
    }
}

/// Reports data from outside that looks like a secret of Stead.
pub(super) fn reserved_key(what: &str) -> OpError {
    let message = format!("{what} has the key `{SIGNATURE_KEY}`, which marks secrets in state");
    let problem = Diagnostic::error(Code::RESERVED_KEY, message).note("Nothing was changed.");
    OpError::refused(problem.help("give the key another name where the value comes from"))
}

/// Reports a deletion of an interrupted run that an operation without a program neither finishes nor passes over.
pub(super) fn unfinished_deletion(workspace: &Workspace, name: &Name) -> OpError {
    let message = format!("the deletion of {name}, which an interrupted run began, is not finished");
    let (environment, target) = (workspace.environment().to_string(), workspace.target().to_owned());
    let finish = Hint::from(NextStep::ApplyStack { environment, target });
    let problem = Diagnostic::error(Code::IN_DOUBT, message)
        .note("It is sent again only under the guards of today's program. Nothing was changed.")
        .help(finish.and(" asks the program and finishes it, unless the program protects the resource"));
    OpError::refused(problem)
}

pub(super) fn no_stack(workspace: &Workspace) -> OpError {
    let (environment, target) = (workspace.environment(), workspace.target());
    let message = format!("there is no stack for environment {environment} on target {target}");
    let (environment, target) = (environment.to_string(), target.to_owned());
    let hint = Hint::from(NextStep::ApplyStack { environment, target })
        .and(" makes one; ")
        .then(NextStep::ListStacks)
        .and(" lists those there are");
    OpError::not_found(Diagnostic::error(Code::NOT_FOUND, message).help(hint))
}
