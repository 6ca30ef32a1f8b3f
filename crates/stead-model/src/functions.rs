//! The port through which deferred expressions call the interpreter.

use crate::{Builtin, Computed, EvalError, FunctionRef};

/// An argument of a built-in.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Value(Computed),
    Regex { source: String, flags: String },
}

/// Evaluates expressions that need the interpreter. Pure: the same arguments always give the same result.
pub trait Functions: Send + Sync {
    /// Evaluates an operation of the language with JavaScript's rules.
    fn builtin(&self, builtin: &Builtin, arguments: &[Argument]) -> Result<Computed, EvalError>;

    /// Calls a function that the program passed to `stead.apply`, with the values of secret arguments. The result is data or
    /// `undefined`.
    fn apply(&self, function: &FunctionRef, arguments: &[Computed]) -> Result<Computed, EvalError>;

    /// Calls a function that the program passed to `stead.ephemeral`. The result is secret, and the caller marks it.
    fn ephemeral(&self, function: &FunctionRef) -> Result<Computed, EvalError>;
}

/// Stands in where there is no interpreter: every call fails.
pub struct NoFunctions;

impl Functions for NoFunctions {
    fn builtin(&self, _: &Builtin, _: &[Argument]) -> Result<Computed, EvalError> {
        Err(EvalError::NoInterpreter)
    }

    fn apply(&self, _: &FunctionRef, _: &[Computed]) -> Result<Computed, EvalError> {
        Err(EvalError::NoInterpreter)
    }

    fn ephemeral(&self, _: &FunctionRef) -> Result<Computed, EvalError> {
        Err(EvalError::NoInterpreter)
    }
}
