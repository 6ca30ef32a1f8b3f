//! Errors of deferred expressions. Each names the value that is at fault.

use super::MAX_DEFERRED_BYTES;
use crate::{Code, Diagnostic, Hint, Name, NextStep, SourceRef, Text, Unopened};

/// The reason why an expression has no value, where JavaScript would throw or the value cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A member of `null` or `undefined`. `of` describes the value, `is` says which of the two it is.
    #[error("cannot read {key:?} of {of}, which is {is}")]
    NoSuchMember { key: String, of: String, is: String },
    /// A value that is not there, used by an operation that needs it.
    #[error("{what} is undefined{used_by}")]
    Undefined { what: String, used_by: String },
    /// A value of the language that state cannot hold.
    #[error("{what} {why}")]
    NotData { what: String, why: String },
    #[error("{what} takes more than {} MiB, the limit of a deferred value", MAX_DEFERRED_BYTES >> 20)]
    TooLarge { what: String },
    /// No value of the property is recorded, because the provider did not return one.
    #[error("no value of `{property}` is recorded for {resource}")]
    NoOutput { resource: Name, property: String },
    /// A secret of state that cannot be opened.
    #[error("it needs a secret that cannot be opened: {0}")]
    Locked(Unopened),
    /// The value is made right before the call of the provider. The resolver turns this into an open value.
    #[error("it is ephemeral: its value exists only during the call of the provider")]
    Ephemeral,
    #[error("the graph refers to an expression that is not in it")]
    Dangling,
    #[error("no interpreter is available to evaluate it")]
    NoInterpreter,
    /// An exception in JavaScript.
    #[error("{message}")]
    Threw { message: String, place: Option<SourceRef> },
}

impl EvalError {
    /// Reports that `what` has no value. `declared` is its place in the source, if it has one.
    pub fn diagnostic(&self, code: Code, what: &str, declared: Option<&SourceRef>) -> Diagnostic {
        let problem = Diagnostic::error(code, format!("{what} has no value: {self}"));
        let problem = match self {
            EvalError::Threw { place: Some(place), .. } => problem.at(place.clone(), 0, "thrown here"),
            EvalError::NoOutput { resource, .. } => problem
                .note("A value that its provider did not return is never passed on as `null`.")
                .help(Hint::from(NextStep::Refresh).and(format!(
                    " records it if the provider can read {resource}; otherwise replace that resource, or do \
                     not use the value"
                ))),
            EvalError::Undefined { .. } | EvalError::NoSuchMember { .. } => problem
                .note("A member that is not there is never written as `undefined` or `null`.")
                .help("check its spelling against the value that the provider returned")
                .help(
                    "if it may be missing, give it a default: `const { member = … } = value`, or \
                     `stead.apply(value, v => v.member ?? …)`",
                ),
            _ => problem,
        };
        declared.into_iter().fold(problem, |problem, at| problem.at(at.clone(), 0, "declared here"))
    }
}

/// The property of a resource, or the export, that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{property}`: {error}")]
pub struct PropertyError {
    pub property: Text,
    pub error: EvalError,
}
