//! The port through which deferred expressions reach the interpreter.

use crate::{Builtin, EvalError, FunctionRef, Value};

/// What a built-in is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Value(Value),
    Regex { source: String, flags: String },
}

/// Evaluates what only the interpreter can. Pure: the same arguments always give the same result.
pub trait Functions {
    /// An operation of the language, as JavaScript does it. The result is plain data.
    fn builtin(&self, builtin: &Builtin, arguments: &[Argument]) -> Result<Value, EvalError>;

    /// A function that the program gave to `stead.apply`.
    fn apply(&self, function: &FunctionRef, arguments: &[Value]) -> Result<Value, EvalError>;
}

/// Where there is no interpreter: every call is an error.
pub struct NoFunctions;

impl Functions for NoFunctions {
    fn builtin(&self, _: &Builtin, _: &[Argument]) -> Result<Value, EvalError> {
        Err(EvalError::NoInterpreter)
    }

    fn apply(&self, _: &FunctionRef, _: &[Value]) -> Result<Value, EvalError> {
        Err(EvalError::NoInterpreter)
    }
}
