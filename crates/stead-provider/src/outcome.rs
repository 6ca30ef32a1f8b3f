//! Outcomes of provider calls: a call can end in doubt, besides success and failure.

use stead_model::{Map, PhysicalId};

use crate::Refusal;

/// Outcome of a call that changes a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome<T> {
    Done(T),
    /// The operation was carried out in part. Its result is recorded, and the next run does the rest, if inputs differ.
    Partial(PartialResult<T>),
    /// The operation was certainly not carried out.
    Refused(Refusal),
    /// It is unknown whether the operation was carried out.
    InDoubt(Doubt),
}

/// Result of an operation that was carried out in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialResult<T> {
    pub done: T,
    /// The inputs that the real resource has now.
    pub inputs: Map,
    /// Why the rest was not carried out.
    pub refusal: Refusal,
}

impl<T> CallOutcome<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> CallOutcome<U> {
        match self {
            CallOutcome::Done(done) => CallOutcome::Done(change(done)),
            CallOutcome::Partial(PartialResult { done, inputs, refusal }) => {
                CallOutcome::Partial(PartialResult { done: change(done), inputs, refusal })
            }
            CallOutcome::Refused(refusal) => CallOutcome::Refused(refusal),
            CallOutcome::InDoubt(doubt) => CallOutcome::InDoubt(doubt),
        }
    }
}

impl<T> From<Result<T, Refusal>> for CallOutcome<T> {
    fn from(result: Result<T, Refusal>) -> Self {
        match result {
            Ok(done) => CallOutcome::Done(done),
            Err(refusal) => CallOutcome::Refused(refusal),
        }
    }
}

/// A person's statement about an operation in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    Happened,
    DidNotHappen,
}

/// Reason why the outcome of an operation is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub message: String,
}

impl Doubt {
    /// Returns the doubt about an operation whose provider cannot ask for the end of it.
    pub(crate) fn not_asked() -> Doubt {
        Doubt { message: "the provider cannot ask for the end of an operation alone".to_owned() }
    }
}

/// Result of a create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    pub id: PhysicalId,
    pub outputs: Map,
}

/// Result of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    pub outputs: Map,
}

/// Inputs and outputs of a real resource, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveState {
    pub inputs: Map,
    pub outputs: Map,
}

/// How recovery settles an operation whose outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Send the same request again, which is safe and gives the same result.
    Repeat,
    /// Ask a person.
    Ask,
}

/// Source of truth about the resources of a type, besides their records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// `read` returns the values of the real resource.
    RealResource,
    /// The resource has no counterpart outside state: its record is the truth.
    StateOnly,
    /// The resource has effects outside, and the provider cannot look at them.
    ///
    /// Recovery then never learns the outcome of an operation from a read, and a person who states that a
    /// create or an update happened also states the outputs.
    Nothing,
}
