//! Recovery of operations that an interrupted run left pending.
//!
//! An operation is repeated if its provider allows that. Otherwise it stays in doubt until a person resolves it.

pub(crate) mod permit;
mod repeat;
mod resolution;
mod stated;

use stead_journal::{JournalError, Run};
use stead_model::{Code, Diagnostic, Event, Name, Resource, TypeToken};
use stead_provider::Recovery;
use stead_state::{Intent, Pending, State};

use crate::Engine;
use crate::recover::repeat::Repeated;
use crate::secrets::{locked_record, missing_in};

pub use permit::CurrentGuards;
pub use resolution::Resolution;
pub use stated::StatedOutputs;

/// A pending operation that recovery must not repeat: a person has to resolve it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubtful {
    pub pending: Pending,
    pub name: Name,
    /// A sentence about work of the operation that may still go on.
    pub may_still_run: Option<String>,
}

/// Result of a recovery.
#[derive(Debug, Default)]
pub struct Recovered {
    pub finished: Vec<Name>,
    /// Resources whose deletion the current guards refuse. It was not sent again; a read told its outcome.
    pub held_back: Vec<Name>,
    pub problems: Vec<Diagnostic>,
}

impl Engine {
    /// Sorts the pending operations into repeatable ones and ones that a person has to resolve.
    pub fn triage(&self, state: &State) -> (Vec<Pending>, Vec<Doubtful>) {
        let (mut repeatable, mut doubtful) = (Vec::new(), Vec::new());
        for pending in state.pending() {
            match self.recovery(state, &pending.intent) {
                Some(Recovery::Repeat) => repeatable.push(pending.clone()),
                _ => {
                    if let Some(name) = state.subject(&pending.intent) {
                        doubtful.push(Doubtful { pending: pending.clone(), name, may_still_run: None });
                    }
                }
            }
        }
        (repeatable, doubtful)
    }

    /// Asks the providers whether work of the operations may still go on.
    pub(crate) async fn with_work_under_way(
        &self,
        state: &State,
        mut doubtful: Vec<Doubtful>,
    ) -> Vec<Doubtful> {
        for one in &mut doubtful {
            let intent = &one.pending.intent;
            let Some(resource) = subject(state, intent) else { continue };
            let Some(provider) = self.providers.of(&resource.ty) else { continue };
            one.may_still_run = provider.may_still_run(&resource.ty, intent.key()).await;
        }
        doubtful
    }

    fn recovery(&self, state: &State, intent: &Intent) -> Option<Recovery> {
        let resource = subject(state, intent)?;
        let provider = self.providers.of(&resource.ty)?;
        // Without a secret of its request, the operation could not be repeated as it was.
        let lacks_a_secret = match intent {
            Intent::Create { .. } | Intent::Update { .. } => missing_in(&resource.inputs).is_some(),
            Intent::Delete { .. } => locked_record(resource).is_some(),
        };
        if lacks_a_secret {
            return Some(Recovery::Ask);
        }
        Some(provider.recovery(intent.operation(), &resource.ty, &resource.inputs))
    }

    /// Repeats the operations, one after the other, each with its old idempotency key.
    pub async fn recover(
        &self,
        run: &Run,
        operations: &[Pending],
        guards: &CurrentGuards<'_>,
        events: &mut dyn FnMut(Event),
    ) -> Result<Recovered, JournalError> {
        let mut recovered = Recovered::default();
        let owners = self.recovery_owners(run.base()).await;
        for pending in operations {
            let Some(resource) = subject(run.base(), &pending.intent).cloned() else { continue };
            let Some(provider) = self.providers.of(&resource.ty).cloned() else {
                recovered.problems.push(unserved(&resource.ty));
                continue;
            };
            let operation = pending.intent.operation();
            events(Event::Recovering { operation, name: resource.name.clone(), run: run.id() });
            match self.repeat(run, pending, &resource, (provider, &owners), guards, events).await? {
                Repeated::Finished => recovered.finished.push(resource.name),
                Repeated::DeletionHeldBack => recovered.held_back.push(resource.name),
                Repeated::Unfinished(problem) => recovered.problems.push(problem),
            }
        }
        Ok(recovered)
    }
}

/// Returns the record of the resource that an operation changes.
fn subject<'a>(state: &'a State, intent: &'a Intent) -> Option<&'a Resource> {
    match intent {
        Intent::Create { resource, .. } | Intent::Update { resource, .. } => Some(resource),
        Intent::Delete { copy, .. } => state.copy(copy),
    }
}

fn unserved(ty: &TypeToken) -> Diagnostic {
    Diagnostic::error(Code::NO_PROVIDER, format!("no provider serves {ty}"))
}
