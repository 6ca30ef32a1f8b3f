//! Secrecy of the result of an expression: it is a secret if an operand is, and a local one if all its secrets are.

use super::{Progress, Resolver, expressions_in};
use crate::{Computed, EvalError, Expr, ExprId, Input, Kept, Secret, Unopened, Value};

impl Resolver<'_> {
    /// Evaluates one expression. Its result is secret if an operand is.
    pub(super) fn evaluate_secretly(&self, id: ExprId, expr: &Expr) -> Result<Option<Progress>, EvalError> {
        self.secrecy.set(None);
        self.shared.set(false);
        let evaluated = self.evaluate(id, expr);
        match (evaluated, self.secrecy.get()) {
            (Err(EvalError::Ephemeral), _) => {
                let open = Value::Secret(Secret::ephemeral());
                Ok(Some(Progress::Done(Computed::Data(open))))
            }
            (Ok(Some(Progress::Done(value))), Some(kept)) => {
                let only_local = !self.shared.get();
                let value = if only_local { value.concealed_locally(kept) } else { value.concealed(kept) };
                Ok(Some(Progress::Done(value)))
            }
            // A value that is known in part would show the rest of a secret.
            (Ok(Some(Progress::Waits(_))), Some(_)) => Ok(None),
            (Err(EvalError::Threw { place, .. }), Some(_)) => {
                let message =
                    "it threw an exception, whose message is not shown because it computed with a secret";
                Err(EvalError::Threw { message: message.to_owned(), place })
            }
            (evaluated, _) => evaluated,
        }
    }

    pub(super) fn use_secret(&self, kept: Kept) {
        self.secrecy.set(self.secrecy.get().max(Some(kept)));
    }

    pub(super) fn use_shared_secret(&self, kept: Kept) {
        self.use_secret(kept);
        self.shared.set(true);
    }

    /// Returns the value of a secret that is looked for in its own resource only. Secrets inside keep their marks.
    pub(super) fn local_secret(&self, given: &Input) -> Result<Option<Progress>, EvalError> {
        self.use_unmarked(given);
        self.use_secret(Kept::Value);
        Ok(match self.input(given)? {
            Progress::Done(value) => {
                if value.has_secrets() {
                    self.reveal(&value)?;
                }
                let kept = self.secrecy.get().unwrap_or(Kept::Value);
                Some(Progress::Done(value.concealed_locally(kept)))
            }
            Progress::Waits(_) => None,
        })
    }

    /// Makes the result a secret if a value of the input comes from one and cannot carry the mark.
    pub(super) fn use_unmarked(&self, input: &Input) {
        if !self.unmarked.is_empty() {
            expressions_in(input, &mut |id| {
                self.unmarked.get(&id).into_iter().for_each(|kept| self.use_shared_secret(*kept));
            });
        }
    }

    /// Returns the input that a choice or a default takes.
    pub(super) fn taken(&self, input: &Input) -> Result<Progress, EvalError> {
        self.use_unmarked(input);
        self.input(input)
    }

    /// Returns an input for a computation: its secrets are revealed, and the result becomes a secret.
    pub(super) fn operand(&self, input: &Input) -> Result<Progress, EvalError> {
        self.use_unmarked(input);
        Ok(match self.input(input)? {
            Progress::Done(value) if value.has_secrets() => Progress::Done(self.reveal(&value)?),
            other => other,
        })
    }

    pub(super) fn reveal(&self, value: &Computed) -> Result<Computed, EvalError> {
        self.use_secret(if value.is_ephemeral() { Kept::Nothing } else { Kept::Value });
        self.shared.set(self.shared.get() || value.has_shared_secrets());
        value.revealed().map_err(|why| match why {
            Unopened::NotKept => EvalError::Ephemeral,
            why => EvalError::Locked(why),
        })
    }
}
