//! The only place where a provider is asked to change something.

use std::sync::Arc;
use std::time::Duration;

use stead_guard::DeletePermit;
use stead_journal::Receipt;
use stead_model::{MAX_NESTING, Map, Resource};
use stead_provider::{
    CreateRequest, DeleteRequest, PartialResult, Provider, Refusal, RefusalClass, UpdateRequest,
};
use stead_state::{Intent, Outcome};
use stead_world::World;

/// The copy to delete, and the guards' permit for it.
pub(crate) type Deletion = (Resource, DeletePermit);

/// The answer, as it goes into the journal, and the refusal in full for whoever reads it.
pub(crate) struct Answer {
    pub outcome: Outcome,
    pub refusal: Option<Refusal>,
    /// The inputs as they really are, if not all of them took effect.
    pub found: Option<Map>,
    /// It did not come: nobody waits for it any more.
    pub timed_out: Option<Duration>,
}

impl Answer {
    pub(crate) fn of(outcome: Outcome) -> Answer {
        Answer { outcome, refusal: None, found: None, timed_out: None }
    }

    fn refused(refusal: Refusal) -> Answer {
        let outcome = Outcome::Failed { message: refusal.message.clone() };
        Answer { refusal: Some(refusal), ..Answer::of(outcome) }
    }

    /// Nothing happened, and the same may succeed in a moment.
    pub(crate) fn is_transient(&self) -> bool {
        let transient = self.refusal.as_ref().is_some_and(|refusal| refusal.class == RefusalClass::Transient);
        transient && matches!(self.outcome, Outcome::Failed { .. })
    }
}

/// Makes the call that the intent describes. The receipt proves that the intent is durable.
///
/// A provider that does not answer within `patience` leaves the operation in doubt, and nobody waiting.
pub(crate) async fn call(
    world: &World,
    receipt: Receipt,
    provider: &Arc<dyn Provider>,
    intent: &Intent,
    deletion: Option<Deletion>,
    patience: Duration,
) -> Answer {
    if !receipt.is_valid(world.clock.monotonic()) {
        return Answer::refused(Refusal::new("the call did not start in time").help("run `stead up` again"));
    }
    world.crash_point("step.call.before");
    #[cfg(stead_planted)]
    if stead_model::planted::is("end-before-effect") && matches!(intent, Intent::Delete { .. }) {
        let (provider, intent) = (provider.clone(), intent.clone());
        drop(tokio::spawn(async move {
            tokio::task::yield_now().await;
            ask(receipt, &provider, &intent, deletion).await
        }));
        return Answer::of(Outcome::Deleted);
    }
    let answer = tokio::select! {
        biased;
        answer = ask(receipt, provider, intent, deletion) => answer,
        () = world.clock.sleep(patience) => {
            let message = format!("the provider did not answer within {} s", patience.as_secs());
            Answer { timed_out: Some(patience), ..Answer::of(Outcome::InDoubt { message }) }
        }
    };
    world.crash_point("step.call.after");
    #[cfg(stead_planted)]
    if stead_model::planted::is("create-retried-on-timeout")
        && let (Intent::Create { .. }, Outcome::InDoubt { .. }) = (intent, &answer.outcome)
    {
        return Answer::refused(Refusal::transient("no answer"));
    }
    answer
}

async fn ask(
    receipt: Receipt,
    provider: &Arc<dyn Provider>,
    intent: &Intent,
    deletion: Option<Deletion>,
) -> Answer {
    match (intent, deletion) {
        (Intent::Create { resource, .. }, _) => {
            let request = CreateRequest {
                name: &resource.name,
                resource: &resource.ty,
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
            match provider.delete(receipt, permit, DeleteRequest { resource: &resource }).await {
                // Half a deletion is none: it is tried again.
                stead_provider::CallOutcome::Partial(PartialResult { refusal, .. }) => {
                    Answer::refused(refusal)
                }
                outcome => settle(outcome, |()| Outcome::Deleted),
            }
        }
        (Intent::Delete { .. }, None) => Answer::refused(Refusal::new("no guard has permitted the deletion")),
    }
}

fn settle<T>(outcome: stead_provider::CallOutcome<T>, done: impl FnOnce(T) -> Outcome) -> Answer {
    match outcome {
        stead_provider::CallOutcome::Done(value) => Answer::of(done(value)),
        #[cfg(stead_planted)]
        stead_provider::CallOutcome::Partial(PartialResult { refusal, .. })
            if stead_model::planted::is("partial-create-lost") =>
        {
            Answer::refused(refusal)
        }
        stead_provider::CallOutcome::Partial(PartialResult { done: value, inputs, refusal }) => {
            Answer { refusal: Some(refusal), found: Some(inputs), ..Answer::of(done(value)) }
        }
        stead_provider::CallOutcome::Refused(refusal) => Answer::refused(refusal),
        stead_provider::CallOutcome::InDoubt(doubt) => {
            Answer::of(Outcome::InDoubt { message: doubt.message })
        }
    }
}

/// An answer that is nested deeper than a record may be is kept as text there: it must be readable again.
fn readable(outputs: Map) -> Map {
    outputs.into_iter().map(|(key, value)| (key, value.flattened(MAX_NESTING))).collect()
}
