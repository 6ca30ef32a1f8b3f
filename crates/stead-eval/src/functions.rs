//! What is left of an evaluation when the graph is there: built-ins and the program's own functions, for later.
//!
//! A program whose functions may be needed stays alive on its thread; it ends when the handle is dropped.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use stead_model::{Argument, Builtin, EvalError, FunctionRef, Functions, Limits, Value};

use crate::interpreter::Interpreter;

/// A call of a function that the program gave to `stead.apply`.
pub(crate) struct ApplyCall {
    pub(crate) function: FunctionRef,
    pub(crate) arguments: Vec<Value>,
    pub(crate) reply: SyncSender<Result<Value, EvalError>>,
}

/// The functions of one evaluation. From any thread; calls are answered one after the other.
pub(crate) struct ProgramFunctions {
    interpreter: Interpreter,
    /// `None` if the program put no function off.
    program: Option<Sender<ApplyCall>>,
}

/// The handle, and what the program's thread answers from if it must stay.
pub(crate) fn of_program(limits: Limits, stays: bool) -> (ProgramFunctions, Option<Receiver<ApplyCall>>) {
    let interpreter = Interpreter::new(limits);
    if !stays {
        return (ProgramFunctions { interpreter, program: None }, None);
    }
    let (sender, calls) = channel();
    (ProgramFunctions { interpreter, program: Some(sender) }, Some(calls))
}

impl Functions for ProgramFunctions {
    fn builtin(&self, builtin: &Builtin, arguments: &[Argument]) -> Result<Value, EvalError> {
        self.interpreter.builtin(builtin, arguments)
    }

    fn apply(&self, function: &FunctionRef, arguments: &[Value]) -> Result<Value, EvalError> {
        let Some(program) = &self.program else { return self.interpreter.apply(function, arguments) };
        let (reply, answer) = sync_channel(1);
        let call = ApplyCall { function: function.clone(), arguments: arguments.to_vec(), reply };
        program.send(call).map_err(|_| EvalError::NoInterpreter)?;
        answer.recv().map_err(|_| EvalError::NoInterpreter)?
    }
}
