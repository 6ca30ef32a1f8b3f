//! Calls of providers that change resources. No other module makes such a call.

use std::sync::Arc;
use std::time::Duration;

use stead_guard::DeletePermit;
use stead_journal::Receipt;
use stead_model::{Hint, MAX_NESTING, Map, NextStep, Resource, without_reserved};
use stead_provider::{
    CreateRequest, DeleteRequest, OwnerMark, PartialResult, Provider, Refusal, RefusalClass, RefusalScope,
    UpdateRequest, conceal_named,
};
use stead_state::{Intent, Outcome};
use stead_world::World;

use crate::owners::RunOwners;
use crate::recover::end_needs_no_secret;
use crate::secrets::{locked_record, missing_in};

/// The copy to delete, and the permit of the guards for it.
pub(crate) type Deletion = (Resource, DeletePermit);

/// Answer of a provider: the outcome for the journal, and details for the report.
pub(crate) struct Answer {
    pub outcome: Outcome,
    pub refusal: Option<Refusal>,
    /// The actual inputs, if the operation took effect in part.
    pub actual_inputs: Option<Map>,
    /// The timeout that passed without an answer.
    pub timed_out: Option<Duration>,
    /// Warnings of the service, without secrets.
    pub warnings: Vec<String>,
}

impl Answer {
    pub(crate) fn of(outcome: Outcome) -> Answer {
        Answer { outcome, refusal: None, actual_inputs: None, timed_out: None, warnings: Vec::new() }
    }

    fn refused(refusal: Refusal) -> Answer {
        let outcome = Outcome::Failed { message: refusal.message.clone() };
        Answer { refusal: Some(refusal), ..Answer::of(outcome) }
    }

    /// Returns true if the provider told the end of the operation itself, so that no attempt at it had an effect.
    pub(crate) fn tells_operation_failed(&self) -> bool {
        let scope = self.refusal.as_ref().map(|refusal| refusal.scope);
        scope == Some(RefusalScope::Operation) && matches!(self.outcome, Outcome::Failed { .. })
    }

    /// Returns true if the operation had no effect, and only a replacement can make the change.
    pub(crate) fn needs_replacement(&self) -> bool {
        let class = self.refusal.as_ref().map(|refusal| refusal.class);
        class == Some(RefusalClass::NotInPlace) && matches!(self.outcome, Outcome::Failed { .. })
    }

    /// Returns true if the operation had no effect and may succeed a moment later.
    pub(crate) fn is_transient(&self) -> bool {
        let transient = self.refusal.as_ref().is_some_and(|refusal| refusal.class == RefusalClass::Transient);
        transient && matches!(self.outcome, Outcome::Failed { .. })
    }
}

/// Kind of a request to a provider.
#[derive(Clone, Copy)]
enum Request {
    Operation,
    /// The end of an operation that an earlier run sent. Nothing is sent, because a secret of the request is missing.
    EndOnly,
}

/// Makes the call that the intent describes, unless another record or stack owns the real resource. The receipt proves
/// that the intent is durable.
///
/// The operation is in doubt if the provider does not answer within `timeout`.
pub(crate) async fn call(
    world: &World,
    owners: &RunOwners,
    receipt: Receipt,
    provider: &Arc<dyn Provider>,
    intent: &Intent,
    deletion: Option<Deletion>,
    timeout: Duration,
) -> Answer {
    let deleted = deletion.as_ref().map(|(resource, _)| resource);
    let request = match without_its_secrets(intent, deleted) {
        None => Request::Operation,
        // An earlier run sent the request. Its end can be told without the secret.
        Some(_) if receipt.token().is_some() && provider.tells_ends() && end_needs_no_secret(intent) => {
            Request::EndOnly
        }
        Some(locked) => return Answer::refused(Refusal::new(locked)),
    };
    let claims = match owners.before(provider, intent, deleted).await {
        Ok(claims) => claims,
        Err(refusal) => return Answer::refused(refusal),
    };
    // Asked last, since the look at the owner takes time.
    if !receipt.is_valid(world.clock.monotonic()) {
        let refusal = Refusal::new("the call did not start in time");
        let answer = Answer::refused(refusal.help(Hint::from(NextStep::Apply).and(" again")));
        owners.after(provider, intent, claims, &answer.outcome).await;
        return answer;
    }
    world.crash_point("step.call.before");
    let warnings = receipt.warnings();
    let answer = tokio::select! {
        biased;
        answer = ask(receipt, provider, (intent, request), owners.own_mark(intent), deletion) => {
            Answer { warnings: warnings.take(), ..answer }
        }
        () = world.clock.sleep(timeout) => {
            let message = format!("the provider did not answer within {} s", timeout.as_secs());
            Answer { timed_out: Some(timeout), ..Answer::of(Outcome::InDoubt { message }) }
        }
    };
    world.crash_point("step.call.after");
    owners.after(provider, intent, claims, &answer.outcome).await;
    answer
}

/// Lets the provider take back an interrupted deletion that the guards refuse to send again.
pub(crate) async fn take_back(
    world: &World,
    receipt: Receipt,
    provider: &Arc<dyn Provider>,
    resource: &Resource,
    timeout: Duration,
) -> Result<(), Refusal> {
    if let Some(locked) = locked_record(resource) {
        return Err(Refusal::new(locked));
    }
    if !receipt.is_valid(world.clock.monotonic()) {
        return Err(Refusal::new("the call did not start in time"));
    }
    tokio::select! {
        biased;
        taken_back = provider.take_back(receipt, DeleteRequest { resource }) => taken_back,
        () = world.clock.sleep(timeout) => {
            Err(Refusal::new(format!("the provider did not answer within {} s", timeout.as_secs())))
        }
    }
}

/// Returns the reason why a request would reach the provider without one of its secrets.
fn without_its_secrets(intent: &Intent, deleted: Option<&Resource>) -> Option<String> {
    match intent {
        Intent::Create { resource, .. } | Intent::Update { resource, .. } => {
            let (path, why) = missing_in(&resource.inputs)?;
            Some(format!("the secret `{path}` of {} cannot be sent: {why}", resource.name))
        }
        Intent::Delete { .. } => locked_record(deleted?),
    }
}

async fn ask(
    receipt: Receipt,
    provider: &Arc<dyn Provider>,
    (intent, asked): (&Intent, Request),
    owner: Option<OwnerMark>,
    deletion: Option<Deletion>,
) -> Answer {
    let owner = owner.as_ref();
    match (intent, deletion) {
        (Intent::Create { resource, .. }, _) => {
            let request = CreateRequest {
                name: &resource.name,
                resource: &resource.ty,
                source: &resource.source,
                inputs: &resource.inputs,
                owner,
            };
            let outcome = match asked {
                Request::Operation => provider.create(receipt, request).await,
                Request::EndOnly => provider.end_of_create(receipt, request).await,
            };
            answer(outcome, |made| Outcome::created(made.id, recordable(resource, made.outputs)))
        }
        (Intent::Update { resource, previous, .. }, _) => {
            let request = UpdateRequest { resource, old_inputs: previous, owner };
            let outcome = match asked {
                Request::Operation => provider.update(receipt, request).await,
                Request::EndOnly => provider.end_of_update(receipt, request).await,
            };
            answer(outcome, |changed| Outcome::updated(recordable(resource, changed.outputs)))
        }
        (Intent::Delete { .. }, Some((resource, permit))) => {
            let request = DeleteRequest { resource: &resource };
            let outcome = match asked {
                Request::Operation => provider.delete(receipt, permit, request).await,
                Request::EndOnly => provider.end_of_delete(receipt, request).await,
            };
            match outcome {
                // A partial deletion counts as a failed one and is tried again.
                stead_provider::CallOutcome::Partial(PartialResult { refusal, .. }) => {
                    Answer::refused(refusal)
                }
                outcome => answer(outcome, |()| Outcome::Deleted),
            }
        }
        (Intent::Delete { .. }, None) => {
            Answer::refused(Refusal::new("the guards gave no permit for the deletion"))
        }
    }
}

fn answer<T>(outcome: stead_provider::CallOutcome<T>, done: impl FnOnce(T) -> Outcome) -> Answer {
    match outcome {
        stead_provider::CallOutcome::Done(value) => Answer::of(done(value)),
        stead_provider::CallOutcome::Partial(PartialResult { done: value, inputs, refusal }) => {
            let actual_inputs = Some(without_reserved(inputs));
            Answer { refusal: Some(refusal), actual_inputs, ..Answer::of(done(value)) }
        }
        stead_provider::CallOutcome::Refused(refusal) => Answer::refused(refusal),
        stead_provider::CallOutcome::InDoubt(doubt) => {
            Answer::of(Outcome::InDoubt { message: doubt.message })
        }
    }
}

/// Replaces values that are nested deeper than a record allows, and ones that would be read as secrets, by their text, and marks
/// sensitive outputs.
fn recordable(resource: &Resource, outputs: Map) -> Map {
    let outputs = outputs.into_iter().map(|(key, value)| (key, value.flattened(MAX_NESTING))).collect();
    without_reserved(conceal_named(&resource.sensitive, outputs))
}
