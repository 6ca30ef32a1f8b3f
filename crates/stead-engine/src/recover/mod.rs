//! Brings operations of earlier runs to a certain end: repeated where that does no harm, asked otherwise.

pub(crate) mod permit;
mod resolution;

use std::sync::Arc;

use stead_journal::{JournalError, Run};
use stead_model::{Code, Diagnostic, Event, Name, Operation, Resource, StepEnd, TypeToken};
use stead_provider::{Provider, Recovery};
use stead_state::{Intent, Outcome, Pending, Record, State};

use crate::Engine;
use crate::execute::call::call;
use crate::gather::retry::{ATTEMPTS, pause};
use crate::physical_ids::PhysicalIds;
use crate::recover::permit::DeletionHeldBack;

pub use permit::CurrentGuards;
pub use resolution::Resolution;

/// An operation whose outcome only a person can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubtful {
    pub pending: Pending,
    pub name: Name,
}

/// What a recovery achieved.
#[derive(Debug, Default)]
pub struct Recovered {
    pub finished: Vec<Name>,
    /// Deletions that nobody would permit today: not sent again, and settled by a look.
    pub held_back: Vec<Name>,
    pub problems: Vec<Diagnostic>,
}

/// How one of them ended.
enum Repeated {
    Finished,
    DeletionHeldBack,
    Unfinished(Diagnostic),
}

impl Engine {
    /// Sorts pending operations into those that can be repeated and those that need an answer.
    pub fn triage(&self, state: &State) -> (Vec<Pending>, Vec<Doubtful>) {
        let (mut repeatable, mut doubtful) = (Vec::new(), Vec::new());
        for pending in state.pending() {
            match self.recovery(state, &pending.intent) {
                Some(Recovery::Repeat) => repeatable.push(pending.clone()),
                _ => {
                    if let Some(name) = state.subject(&pending.intent) {
                        doubtful.push(Doubtful { pending: pending.clone(), name });
                    }
                }
            }
        }
        (repeatable, doubtful)
    }

    fn recovery(&self, state: &State, intent: &Intent) -> Option<Recovery> {
        let resource = subject(state, intent)?;
        let provider = self.providers.of(&resource.ty)?;
        Some(provider.recovery(intent.operation(), &resource.ty, &resource.inputs))
    }

    /// Repeats the operations, one after the other, each with its old key.
    pub async fn recover(
        &self,
        run: &Run,
        operations: &[Pending],
        today: &CurrentGuards<'_>,
        events: &mut dyn FnMut(Event),
    ) -> Result<Recovered, JournalError> {
        let mut recovered = Recovered::default();
        for pending in operations {
            let Some(resource) = subject(run.base(), &pending.intent).cloned() else { continue };
            let Some(provider) = self.providers.of(&resource.ty).cloned() else {
                recovered.problems.push(unserved(&resource.ty));
                continue;
            };
            let operation = pending.intent.operation();
            events(Event::Recovering { operation, name: resource.name.clone(), run: run.id() });
            match self.repeat(run, pending, &resource, provider, today, events).await? {
                Repeated::Finished => recovered.finished.push(resource.name),
                Repeated::DeletionHeldBack => recovered.held_back.push(resource.name),
                Repeated::Unfinished(problem) => recovered.problems.push(problem),
            }
        }
        Ok(recovered)
    }

    async fn repeat(
        &self,
        run: &Run,
        pending: &Pending,
        resource: &Resource,
        provider: Arc<dyn Provider>,
        today: &CurrentGuards<'_>,
        events: &mut dyn FnMut(Event),
    ) -> Result<Repeated, JournalError> {
        let operation = pending.intent.operation();
        let patience = self.patience(None, &provider, operation, &resource.ty);
        let mut attempts = 1;
        let answer = loop {
            let deletion = match &pending.intent {
                Intent::Delete { .. } => match today.permit(resource, run.base()) {
                    Ok(permit) => Some((resource.clone(), permit)),
                    Err(held) => return self.hold_back(run, pending, resource, &held, events).await,
                },
                _ => None,
            };
            let receipt = run.resume(pending).await?;
            let answer = call(&self.world, receipt, &provider, &pending.intent, deletion, patience).await;
            let answer = answer.checked(&pending.intent, &PhysicalIds::of(run.base()));
            if !answer.is_transient() || attempts == ATTEMPTS {
                break answer;
            }
            let pause = pause(&self.world, attempts);
            attempts += 1;
            let because = answer.refusal.map(|refusal| refusal.message).unwrap_or_default();
            let (name, millis) = (resource.name.clone(), pause.as_millis() as u64);
            events(Event::StepRetried { operation, name, attempt: attempts, because, millis });
            self.world.clock.sleep(pause).await;
        };
        #[cfg(stead_planted)]
        if stead_model::planted::is("second-refusal-is-proof")
            && matches!(answer.outcome, Outcome::Failed { .. })
        {
            run.submit(Record::End { op: pending.op, outcome: answer.outcome }).durable().await?;
            return Ok(Repeated::Finished);
        }
        let message = match answer.outcome {
            Outcome::Failed { message } | Outcome::InDoubt { message } => message,
            done => {
                let ended = Record::End { op: pending.op, outcome: done };
                let copy = pending.intent.copy();
                let as_found =
                    answer.found.map(|inputs| Record::Observed { copy, inputs: Some(inputs), outputs: None });
                run.submit_together(std::iter::once(ended).chain(as_found).collect()).durable().await?;
                return Ok(Repeated::Finished);
            }
        };
        // A refusal of the second attempt says nothing about the first. A look at the thing may.
        if let Some(records) = self.settled_by_read(pending, resource).await {
            run.submit_together(records).durable().await?;
            return Ok(Repeated::Finished);
        }
        let problem = unfinished(resource, pending, &message);
        let problem =
            answer.refusal.and_then(|refusal| refusal.help).into_iter().fold(problem, Diagnostic::help);
        run.submit(Record::End { op: pending.op, outcome: Outcome::InDoubt { message } }).durable().await?;
        Ok(Repeated::Unfinished(settling(problem, resource, pending)))
    }

    /// A deletion that nobody would permit today is not sent again; a look tells how far it got.
    async fn hold_back(
        &self,
        run: &Run,
        pending: &Pending,
        resource: &Resource,
        held: &DeletionHeldBack,
        events: &mut dyn FnMut(Event),
    ) -> Result<Repeated, JournalError> {
        let end = StepEnd::Skipped { because: held.to_string() };
        let name = resource.name.clone();
        events(Event::StepEnded { operation: Operation::Delete, name, end, millis: 0 });
        if let Some(records) = self.settled_by_read(pending, resource).await {
            run.submit_together(records).durable().await?;
            return Ok(Repeated::DeletionHeldBack);
        }
        let message = format!("the deletion of {} is not sent again: {held}", resource.name);
        let problem = Diagnostic::error(Code::GUARDED, message)
            .at(resource.source.clone(), 0, "declared here")
            .note("It was under way when a run stopped, and may have happened; a look did not tell.");
        Ok(Repeated::Unfinished(settling(problem, resource, pending)))
    }

    /// What is really there tells how an update or a deletion ended. A create has no id to look for.
    async fn settled_by_read(&self, pending: &Pending, resource: &Resource) -> Option<Vec<Record>> {
        if matches!(pending.intent, Intent::Create { .. }) {
            return None;
        }
        #[cfg(stead_planted)]
        if stead_model::planted::is("no-look-after-refusal") {
            return None;
        }
        let found = self.read(resource).await.ok()?;
        let message = "a look settled it".to_owned();
        let did_not_happen = Record::End { op: pending.op, outcome: Outcome::Failed { message } };
        Some(match (&pending.intent, found) {
            (Intent::Delete { .. }, None) => vec![Record::End { op: pending.op, outcome: Outcome::Deleted }],
            (Intent::Delete { .. }, Some(_)) => vec![did_not_happen],
            (_, found) => {
                let (inputs, outputs) = found.map(|live| (live.inputs, live.outputs)).unzip();
                vec![did_not_happen, Record::Observed { copy: resource.copy(), inputs, outputs }]
            }
        })
    }
}

fn unfinished(resource: &Resource, pending: &Pending, message: &str) -> Diagnostic {
    let verb = pending.intent.operation().verb();
    Diagnostic::error(Code::IN_DOUBT, format!("cannot finish the {verb} of {}: {message}", resource.name))
        .at(resource.source.clone(), 0, "declared here")
        .note(format!("The {verb} was under way when a run stopped, and may have happened."))
}

/// Adds the command that puts the matter into a person's hands.
fn settling(problem: Diagnostic, resource: &Resource, pending: &Pending) -> Diagnostic {
    let happened = match pending.intent.operation() {
        Operation::Create => "--created ID",
        Operation::Update | Operation::Delete => "--done",
    };
    let name = &resource.name;
    problem.help(format!("or say what became of it: stead state resolve '{name}' {happened} | --not-created"))
}

/// The record that an operation is about.
fn subject<'a>(state: &'a State, intent: &'a Intent) -> Option<&'a Resource> {
    match intent {
        Intent::Create { resource, .. } | Intent::Update { resource, .. } => Some(resource),
        Intent::Delete { copy, .. } => state.copy(copy),
    }
}

fn unserved(resource: &TypeToken) -> Diagnostic {
    Diagnostic::error(Code::NO_PROVIDER, format!("no provider serves {resource}"))
}
