//! Evaluates deferred built-ins and deferred functions of a program after its evaluation.
//!
//! A program with deferred functions stays alive on its thread until the handle is dropped.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use stead_model::{Argument, Builtin, Computed, EvalError, FunctionRef, Functions, Limits, Unopened};

use crate::unknown::interpreter::Interpreter;

/// Call of a function that the program gave to `stead.apply`.
pub(crate) struct ApplyCall {
    pub(crate) function: FunctionRef,
    pub(crate) arguments: Vec<Computed>,
    pub(crate) reply: SyncSender<Result<Computed, EvalError>>,
}

/// Functions of one evaluation. Any thread may call them; calls run one at a time.
pub(crate) struct ProgramFunctions {
    interpreter: Interpreter,
    /// Queue to the program's thread; `None` if the program deferred no function.
    program: Option<Sender<ApplyCall>>,
}

/// Returns the handle, and the queue of calls if the program's thread must stay alive.
pub(crate) fn of_program(limits: Limits, stays: bool) -> (ProgramFunctions, Option<Receiver<ApplyCall>>) {
    let interpreter = Interpreter::new(limits);
    if !stays {
        return (ProgramFunctions { interpreter, program: None }, None);
    }
    let (sender, calls) = channel();
    (ProgramFunctions { interpreter, program: Some(sender) }, Some(calls))
}

impl Functions for ProgramFunctions {
    fn builtin(&self, builtin: &Builtin, arguments: &[Argument]) -> Result<Computed, EvalError> {
        self.interpreter.builtin(builtin, arguments)
    }

    fn apply(&self, function: &FunctionRef, arguments: &[Computed]) -> Result<Computed, EvalError> {
        let Some(program) = &self.program else { return self.interpreter.apply(function, arguments) };
        let revealed: Result<Vec<Computed>, Unopened> = arguments.iter().map(Computed::revealed).collect();
        let arguments = revealed.map_err(EvalError::Locked)?;
        let (reply, answer) = sync_channel(1);
        let call = ApplyCall { function: function.clone(), arguments, reply };
        program.send(call).map_err(|_| EvalError::NoInterpreter)?;
        answer.recv().map_err(|_| EvalError::NoInterpreter)?
    }

    fn ephemeral(&self, function: &FunctionRef) -> Result<Computed, EvalError> {
        self.apply(function, &[])
    }
}
