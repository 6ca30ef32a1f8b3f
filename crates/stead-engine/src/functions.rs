//! Functions of the program, with a memory of the secrets that they received: a later result that contains one is secret.
//!
//! A function given to `stead.apply` can store its argument in a variable, where another function finds it. **Invariant:** the result
//! of a function that contains a secret which an earlier function received, in any form that is searched for, is a secret; no
//! message of a function shows one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stead_model::{Argument, Builtin, Computed, EvalError, FunctionRef, Functions, Kept, Value};
use stead_secrets::{KnownSecrets, ShortSecrets};

/// An interpreter that remembers the secrets which it gave to functions of the program.
pub(crate) struct SearchedFunctions {
    inner: Arc<dyn Functions>,
    given: Mutex<KnownSecrets>,
}

impl SearchedFunctions {
    pub(crate) fn new(inner: Arc<dyn Functions>) -> SearchedFunctions {
        SearchedFunctions { inner, given: Mutex::new(KnownSecrets::new(ShortSecrets::Found)) }
    }

    fn given(&self) -> MutexGuard<'_, KnownSecrets> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the secrets in an argument.
    fn remember_argument(&self, argument: &Computed) {
        let mut given = self.given();
        each_data(argument, &mut |data| {
            data.each_secret(&mut Vec::new(), &mut |secret, _| {
                secret.reveal().into_iter().for_each(|plain| given.add(plain));
            });
        });
    }

    /// Marks a result that contains a secret of another call.
    fn marked(&self, result: Computed) -> Computed {
        let mut found = false;
        let mut given = self.given();
        each_data(&result, &mut |data| found |= given.are_in(data));
        if found { result.concealed(Kept::Value) } else { result }
    }

    fn without_secrets(&self, error: EvalError) -> EvalError {
        match error {
            EvalError::Threw { message, place } => {
                EvalError::Threw { message: self.given().redact_message(&message).into_owned(), place }
            }
            other => other,
        }
    }
}

impl Functions for SearchedFunctions {
    fn builtin(&self, builtin: &Builtin, arguments: &[Argument]) -> Result<Computed, EvalError> {
        self.inner.builtin(builtin, arguments)
    }

    fn apply(&self, function: &FunctionRef, arguments: &[Computed]) -> Result<Computed, EvalError> {
        arguments.iter().for_each(|argument| self.remember_argument(argument));
        let result = self.inner.apply(function, arguments).map_err(|error| self.without_secrets(error))?;
        // The caller marks the result of a function with a secret argument.
        match arguments.iter().any(Computed::has_secrets) {
            true => Ok(result),
            false => Ok(self.marked(result)),
        }
    }

    fn ephemeral(&self, function: &FunctionRef) -> Result<Computed, EvalError> {
        let made = self.inner.ephemeral(function).map_err(|error| self.without_secrets(error))?;
        let mut given = self.given();
        each_data(&made, &mut |data| given.add(data));
        drop(given);
        Ok(made)
    }
}

fn each_data(value: &Computed, see: &mut dyn FnMut(&Value)) {
    match value {
        Computed::Data(data) => see(data),
        Computed::Undefined(_) | Computed::Number(_) => {}
        Computed::List(items) => items.iter().for_each(|item| each_data(item, see)),
        Computed::Map(members) => members.values().for_each(|member| each_data(member, see)),
    }
}
