//! How a call ends: three ways, not two.

use stead_model::{Map, PhysicalId, PropertyPath};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    Done(T),
    /// It certainly did not happen.
    Refused(Refusal),
    /// It may or may not have happened.
    InDoubt(Doubt),
}

/// Why something was not done, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    /// The property that is to blame.
    pub path: Option<PropertyPath>,
    pub help: Option<String>,
}

impl Refusal {
    pub fn new(message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), path: None, help: None }
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
