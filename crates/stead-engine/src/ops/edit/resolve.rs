//! A person's answer for an operation in doubt.

use stead_journal::is_dead;
use stead_model::{Code, Diagnostic, Hint, Name, NextStep, Operation, ResolveAnswer};
use stead_state::{Pending, State};

use super::{EditChange, Holder, ProposedEdit, ResolveTarget, Work};
use crate::ops::error::unfinished_deletion;
use crate::ops::{OpError, Workspace};
use crate::{Doubtful, Resolution};

impl Workspace {
    pub(super) async fn resolve(
        &self,
        target: &ResolveTarget,
        answer: Option<Resolution>,
    ) -> Result<ProposedEdit, OpError> {
        let loaded = self.load_existing().await?;
        let Doubtful { pending, name, .. } = pending(&loaded.state, target)?;
        let operation = pending.intent.operation();
        match &answer {
            Some(word) => word.fits(&name, operation).map_err(OpError::invalid)?,
            None if operation == Operation::Delete => {
                return Err(self.not_sent_without_program(&loaded.state, &pending, &name));
            }
            None => {}
        }
        let work = Work::Settle { pending: Box::new(pending), answer };
        Ok(self.proposed_on(loaded, work, vec![EditChange::Resolved { name, operation }]))
    }

    /// Returns the refusal to send a deletion again without the guards of a program, and the way to do it with them.
    fn not_sent_without_program(&self, state: &State, pending: &Pending, name: &Name) -> OpError {
        let (repeatable, _) = self.engine.triage(state);
        if repeatable.iter().any(|one| one.op == pending.op) {
            return unfinished_deletion(self, name);
        }
        let message = format!("the deletion of {name} is not sent again without the program");
        let answer = NextStep::Resolve { name: name.clone(), answer: ResolveAnswer::DidNotHappen };
        let problem = Diagnostic::error(Code::IN_DOUBT, message)
            .note("Only the guards of today's program permit a deletion. Nothing was changed.")
            .help(Hint::text("if it did not happen, or a second time does no harm: ").then(answer))
            .help(Hint::text("then ").then(NextStep::Apply).and(" plans it again"));
        OpError::refused(problem)
    }

    pub(super) async fn unlock(&self) -> Result<ProposedEdit, OpError> {
        let loaded = self.load_existing().await?;
        let Some(owner) = loaded.head.as_ref().and_then(|head| head.owner.clone()) else {
            return Ok(self.proposed_on(loaded, Work::Nothing, Vec::new()));
        };
        let dead = is_dead(&self.stack.world, &owner);
        let holder = if dead { Holder::Dead } else { Holder::PerhapsAlive };
        let change = EditChange::LockTaken { from: Box::new(owner), holder };
        Ok(self.proposed_on(loaded, Work::Unlock, vec![change]))
    }
}

fn pending(state: &State, target: &ResolveTarget) -> Result<Doubtful, OpError> {
    let is_meant = |pending: &Pending, doubtful: &Name| match target {
        ResolveTarget::Name(wanted) => doubtful.to_string() == *wanted || doubtful.short() == wanted,
        ResolveTarget::Operation(op) => pending.op == *op,
    };
    let named = state.pending().filter_map(|pending| Some((pending, state.subject(&pending.intent)?)));
    let found: Vec<Doubtful> = named
        .filter(|(pending, name)| is_meant(pending, name))
        .map(|(pending, name)| Doubtful { pending: pending.clone(), name, may_still_run: None, lacks: None })
        .collect();
    let wanted = match target {
        ResolveTarget::Name(wanted) => format!("{wanted:?}"),
        ResolveTarget::Operation(op) => format!("number {op}"),
    };
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let message = format!("no operation on {wanted} is in doubt");
            let hint = Hint::from(NextStep::ListState).and(" shows the unfinished operations");
            Err(OpError::not_found(Diagnostic::error(Code::NOT_FOUND, message).help(hint)))
        }
        several => {
            let message = format!("several operations on {wanted} are unfinished");
            let problem = several.iter().fold(Diagnostic::error(Code::NOT_FOUND, message), |problem, one| {
                let verb = one.pending.intent.operation().verb();
                problem.note(format!("operation {}: {verb} {}", one.pending.op, one.name))
            });
            Err(OpError::not_found(problem.help("use the whole name, or the number of the operation")))
        }
    }
}
