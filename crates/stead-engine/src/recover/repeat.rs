//! Repetition of a pending operation, with its old idempotency key.

use std::sync::Arc;

use stead_journal::{JournalError, Run};
use stead_model::{Code, Diagnostic, Event, Operation, Resource, StepEnd};
use stead_provider::Provider;
use stead_state::{Intent, Outcome, Pending, Record, State};

use crate::Engine;
use crate::execute::call::{Answer, call, take_back};
use crate::gather::read::Reading;
use crate::gather::retry::{MAX_ATTEMPTS, backoff};
use crate::owners::RunOwners;
use crate::physical_ids::PhysicalIds;
use crate::recover::is_deletion;
use crate::recover::permit::{CurrentGuards, DeletionHeldBack};
use crate::recover::resolution::suggest_resolutions;

/// Result of repeating one operation.
pub(super) enum Repeated {
    Finished,
    DeletionHeldBack,
    Unfinished(Diagnostic),
}

/// Result of looking for the outcome of an operation.
enum Look {
    /// The records of the outcome.
    Told(Vec<Record>),
    /// The provider cannot look at the resource, so that the outcome stays unknown.
    NotReadable,
}

impl Engine {
    /// Repeats one operation, and records its outcome.
    pub(super) async fn repeat(
        &self,
        run: &Run,
        pending: &Pending,
        resource: &Resource,
        called: (Arc<dyn Provider>, &RunOwners),
        guards: Option<&CurrentGuards<'_>>,
        events: &mut dyn FnMut(Event),
    ) -> Result<Repeated, JournalError> {
        let operation = pending.intent.operation();
        let provider = called.0.clone();
        let answer = match self.send_again(run, pending, resource, called, guards, events).await? {
            Ok(answer) => answer,
            Err(held) => return self.hold_back(run, pending, (resource, &provider), &held, events).await,
        };
        if answer.tells_operation_failed() {
            run.submit(Record::End { op: pending.op, outcome: answer.outcome }).durable().await?;
            return Ok(Repeated::Finished);
        }
        let refused = matches!(answer.outcome, Outcome::Failed { .. });
        let message = match answer.outcome {
            Outcome::Failed { message } | Outcome::InDoubt { message } => message,
            done => {
                let ended = Record::End { op: pending.op, outcome: done };
                let copy = pending.intent.copy();
                let observed = answer.actual_inputs.map(|inputs| Record::observed(copy, Some(inputs), None));
                run.submit_together(std::iter::once(ended).chain(observed).collect()).durable().await?;
                return Ok(Repeated::Finished);
            }
        };
        // The refusal of a repeated operation does not tell the outcome of the first attempt. A read may.
        let ended = match self.outcome_by_read(run.base(), pending).await {
            Some(Look::Told(records)) => Some(records),
            // The operation is repeatable, so that the next plan can safely contain it again.
            Some(Look::NotReadable) if refused => Some(vec![Record::End {
                op: pending.op,
                outcome: Outcome::Failed { message: message.clone() },
            }]),
            Some(Look::NotReadable) | None => None,
        };
        if let Some(records) = ended {
            run.submit_together(records).durable().await?;
            return Ok(Repeated::Finished);
        }
        let problem = unfinished(resource, pending, &message);
        let problem =
            answer.refusal.and_then(|refusal| refusal.help).into_iter().fold(problem, Diagnostic::help);
        run.submit(Record::End { op: pending.op, outcome: Outcome::InDoubt { message } }).durable().await?;
        Ok(Repeated::Unfinished(suggest_resolutions(problem, &resource.name, operation)))
    }

    /// Sends the operation until the provider does more than refuse it for the moment.
    ///
    /// A deletion needs a permit of the current guards for each attempt.
    async fn send_again(
        &self,
        run: &Run,
        pending: &Pending,
        resource: &Resource,
        called: (Arc<dyn Provider>, &RunOwners),
        guards: Option<&CurrentGuards<'_>>,
        events: &mut dyn FnMut(Event),
    ) -> Result<Result<Answer, DeletionHeldBack>, JournalError> {
        let ((provider, owners), operation) = (called, pending.intent.operation());
        let timeout = self.operation_timeout(None, &provider, operation, &resource.ty);
        let mut attempts = 1;
        loop {
            let deletion = match guards.filter(|_| is_deletion(pending)) {
                Some(guards) => match guards.permit(self, resource, run.base()).await {
                    Ok(permit) => Some((resource.clone(), permit)),
                    Err(held) => return Ok(Err(held)),
                },
                None => None,
            };
            let receipt = run.resume(pending).await?;
            let answer =
                call(&self.world, owners, receipt, &provider, &pending.intent, deletion, timeout).await;
            let mut answer = answer.checked(&pending.intent, &PhysicalIds::of(run.base(), &self.providers));
            for message in std::mem::take(&mut answer.warnings) {
                events(Event::StepWarned { operation, name: resource.name.clone(), message });
            }
            // The same key would only be told the same end again.
            let is_told = answer.tells_operation_failed();
            if is_told || !answer.is_transient() || attempts == MAX_ATTEMPTS {
                return Ok(Ok(answer));
            }
            let pause = backoff(&self.world, attempts);
            attempts += 1;
            let because = answer.refusal.map(|refusal| refusal.message).unwrap_or_default();
            let (name, millis) = (resource.name.clone(), pause.as_millis() as u64);
            events(Event::StepRetried { operation, name, attempt: attempts, because, millis });
            self.world.clock.sleep(pause).await;
        }
    }

    /// Keeps a deletion that the current guards refuse from being sent again. The provider takes back its first steps, and a read
    /// tells its outcome.
    async fn hold_back(
        &self,
        run: &Run,
        pending: &Pending,
        (resource, provider): (&Resource, &Arc<dyn Provider>),
        held: &DeletionHeldBack,
        events: &mut dyn FnMut(Event),
    ) -> Result<Repeated, JournalError> {
        let end = StepEnd::Skipped { because: held.to_string() };
        let name = resource.name.clone();
        events(Event::StepEnded { operation: Operation::Delete, name, end, millis: 0 });
        let timeout = self.operation_timeout(None, provider, Operation::Delete, &resource.ty);
        let receipt = run.resume(pending).await?;
        let taken_back = take_back(&self.world, receipt, provider, resource, timeout).await;
        if taken_back.is_ok()
            && let Some(Look::Told(records)) = self.outcome_by_read(run.base(), pending).await
        {
            run.submit_together(records).durable().await?;
            return Ok(Repeated::DeletionHeldBack);
        }
        let mut message = format!("the deletion of {} is not sent again: {held}", resource.name);
        if let Err(refusal) = taken_back {
            message = format!("{message}; it could not be taken back: {}", refusal.message);
        }
        let problem = Diagnostic::error(Code::GUARDED, message)
            .at(resource.source.clone(), 0, "declared here")
            .note("It was under way when a run stopped, and may have happened; no read told its outcome.");
        Ok(Repeated::Unfinished(suggest_resolutions(problem, &resource.name, Operation::Delete)))
    }

    /// Reads the resource to find the outcome of an update or a deletion, and returns the records of it.
    ///
    /// The outcome of a create cannot be read, since its physical id is unknown. The read is one of the old
    /// record: a property that the provider cannot read keeps its old value, and is planned again.
    async fn outcome_by_read(&self, state: &State, pending: &Pending) -> Option<Look> {
        if matches!(pending.intent, Intent::Create { .. }) {
            return None;
        }
        let old = state.copy(&pending.intent.copy())?;
        let found = match &pending.intent {
            Intent::Update { resource, .. } => self.read_after(old, resource, state).await.ok()?,
            Intent::Create { .. } | Intent::Delete { .. } => self.read(old, state).await.ok()?,
        };
        let message = "the resource was read instead".to_owned();
        let did_not_happen = Record::End { op: pending.op, outcome: Outcome::Failed { message } };
        let observed = |inputs, outputs| Record::observed(old.copy(), inputs, outputs);
        Some(Look::Told(match (&pending.intent, found) {
            (_, Reading::CannotLook) => return Some(Look::NotReadable),
            (_, Reading::AsRecorded) => vec![did_not_happen],
            (Intent::Delete { .. }, Reading::Gone) => {
                vec![Record::End { op: pending.op, outcome: Outcome::Deleted }]
            }
            (Intent::Delete { .. }, Reading::Found(_)) => vec![did_not_happen],
            (_, Reading::Gone) => vec![did_not_happen, observed(None, None)],
            (_, Reading::Found(live)) => {
                vec![did_not_happen, observed(Some(live.inputs), Some(live.outputs))]
            }
        }))
    }
}

fn unfinished(resource: &Resource, pending: &Pending, message: &str) -> Diagnostic {
    let verb = pending.intent.operation().verb();
    Diagnostic::error(Code::IN_DOUBT, format!("cannot finish the {verb} of {}: {message}", resource.name))
        .at(resource.source.clone(), 0, "declared here")
        .note(format!("The {verb} was under way when a run stopped, and may have happened."))
}
