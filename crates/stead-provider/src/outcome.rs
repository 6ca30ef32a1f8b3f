//! How a call ends: three ways, not two.

use stead_model::{Map, PhysicalId, PropertyPath};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    Done(T),
    /// It happened, but not all of it: what there is is kept, and the rest is for the next run.
    Partly(Partly<T>),
    /// It certainly did not happen.
    Refused(Refusal),
    /// It may or may not have happened.
    InDoubt(Doubt),
}

/// What was done of something that was not done as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partly<T> {
    pub done: T,
    /// The inputs as they really are now.
    pub inputs: Map,
    /// Why the rest was not done.
    pub refusal: Refusal,
}

/// Whether it makes sense to ask again without changing anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// The same request would be refused again.
    #[default]
    Final,
    /// The provider is busy or out of reach at the moment.
    Transient,
}

/// Why something was not done, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    pub class: Class,
    /// The property that is to blame.
    pub path: Option<PropertyPath>,
    pub help: Option<String>,
}

impl Refusal {
    pub fn new(message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), class: Class::Final, path: None, help: None }
    }

    /// One that may be gone in a moment.
    pub fn transient(message: impl Into<String>) -> Refusal {
        Refusal { class: Class::Transient, ..Refusal::new(message) }
    }

    #[must_use]
    pub fn at(self, property: &str) -> Refusal {
        Refusal { path: Some(PropertyPath::of(property)), ..self }
    }

    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Refusal {
        Refusal { help: Some(help.into()), ..self }
    }
}

impl<T> Outcome<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Outcome::Done(done) => Outcome::Done(change(done)),
            Outcome::Partly(Partly { done, inputs, refusal }) => {
                Outcome::Partly(Partly { done: change(done), inputs, refusal })
            }
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
            Outcome::InDoubt(doubt) => Outcome::InDoubt(doubt),
        }
    }
}

impl<T> From<Result<T, Refusal>> for Outcome<T> {
    fn from(result: Result<T, Refusal>) -> Self {
        match result {
            Ok(done) => Outcome::Done(done),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }
}

/// Why nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    pub id: PhysicalId,
    pub outputs: Map,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    pub outputs: Map,
}

/// What a read found: the inputs as they really are, and the outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    pub inputs: Map,
    pub outputs: Map,
}

/// How an operation that may have happened is brought to a certain end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The same request again does no harm and gives the same result.
    Repeat,
    /// Only a person can tell.
    Ask,
}
