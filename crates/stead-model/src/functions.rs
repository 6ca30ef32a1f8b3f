//! The port through which deferred expressions call the interpreter.

use crate::{Builtin, EvalError, FunctionRef, Value};

/// An argument of a built-in.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    Value(Value),
    Regex { source: String, flags: String },
}

/// Evaluates expressions that need the interpreter. Pure: the same arguments always give the same result.
pub trait Functions {
    /// Evaluates an operation of the language with JavaScript's rules. The result is plain data.
    fn builtin(&self, builtin: &Builtin, arguments: &[Argument]) -> Result<Value, EvalError>;

    /// Calls a function that the program passed to `stead.apply`.
    fn apply(&self, function: &FunctionRef, arguments: &[Value]) -> Result<Value, EvalError>;
}

/// Stands in where there is no interpreter: every call fails.
pub struct NoFunctions;

impl Functions for NoFunctions {
    fn builtin(&self, _: &Builtin, _: &[Argument]) -> Result<Value, EvalError> {
        Err(EvalError::NoInterpreter)
    }

    fn apply(&self, _: &FunctionRef, _: &[Value]) -> Result<Value, EvalError> {
        Err(EvalError::NoInterpreter)
    }
}
