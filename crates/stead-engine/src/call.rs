//! The only place where a provider is asked to change something.

use std::sync::Arc;

use stead_guard::DeletePermit;
use stead_journal::Receipt;
use stead_model::{MAX_NESTING, Map, Resource};
use stead_provider::{CreateRequest, DeleteRequest, Provider, Refusal, UpdateRequest};
use stead_state::{Intent, Outcome};
use stead_world::World;

/// The copy to delete, and the guards' permit for it.
pub(crate) type Deletion = (Resource, DeletePermit);

/// The answer, as it goes into the journal, and the refusal in full for whoever reads it.
pub(crate) struct Answer {
    pub outcome: Outcome,
    pub refusal: Option<Refusal>,
}

impl Answer {
    fn refused(refusal: Refusal) -> Answer {
        Answer { outcome: Outcome::Failed { message: refusal.message.clone() }, refusal: Some(refusal) }
    }
}

/// Makes the call that the intent describes. The receipt proves that the intent is durable.
pub(crate) async fn call(
    world: &World,
    receipt: Receipt,
    provider: &Arc<dyn Provider>,
    intent: &Intent,
    deletion: Option<Deletion>,
) -> Answer {
    if !receipt.is_valid(world.clock.monotonic()) {
        return Answer::refused(Refusal::new("the call did not start in time").help("run `stead up` again"));
    }
    world.crash_point("step.call.before");
    let answer = match (intent, deletion) {
        (Intent::Create { resource, .. }, _) => {
            let request = CreateRequest {
                name: &resource.name,
                resource: &resource.resource,
                source: &resource.source,
                inputs: &resource.inputs,
            };
            let outcome = provider.create(receipt, request).await;
            settle(outcome, |made| Outcome::Created { id: made.id, outputs: readable(made.outputs) })
        }
        (Intent::Update { resource, previous, .. }, _) => {
            let request = UpdateRequest { resource, old_inputs: previous };
            let outcome = provider.update(receipt, request).await;
            settle(outcome, |changed| Outcome::Updated { outputs: readable(changed.outputs) })
        }
        (Intent::Delete { .. }, Some((resource, permit))) => {
            let outcome = provider.delete(receipt, permit, DeleteRequest { resource: &resource }).await;
            settle(outcome, |()| Outcome::Deleted)
        }
        (Intent::Delete { .. }, None) => Answer::refused(Refusal::new("no guard has permitted the deletion")),
    };
    world.crash_point("step.call.after");
    answer
}

fn settle<T>(outcome: stead_provider::Outcome<T>, done: impl FnOnce(T) -> Outcome) -> Answer {
    match outcome {
        stead_provider::Outcome::Done(value) => Answer { outcome: done(value), refusal: None },
        stead_provider::Outcome::Refused(refusal) => Answer::refused(refusal),
        stead_provider::Outcome::InDoubt(doubt) => {
            Answer { outcome: Outcome::InDoubt { message: doubt.message }, refusal: None }
        }
    }
}

/// An answer that is nested deeper than a record may be is kept as text there: it must be readable again.
fn readable(outputs: Map) -> Map {
    outputs.into_iter().map(|(key, value)| (key, value.flattened(MAX_NESTING))).collect()
}
