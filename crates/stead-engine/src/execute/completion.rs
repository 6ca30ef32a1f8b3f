//! What happens when something that a step waited for has happened.

use stead_journal::Ack;
use stead_model::{Diagnostic, Event, Map, OpId, Resource, RunResult, StepEnd};
use stead_plan::{Action, StepId};
use stead_state::{Intent, Outcome, Record, State};

use crate::Stop;
use crate::execute::call::Answer;
use crate::execute::executor::{Executor, TaskEvent};
use crate::execute::problems::{failure, in_doubt, partial};
use crate::execute::values::Unresolved;
use crate::gather::retry::{ATTEMPTS, pause};
use crate::pinfile::PinfileWrite;

impl Executor<'_> {
    pub(crate) fn happened(&mut self, happened: TaskEvent) {
        match happened {
            TaskEvent::NotBegun { step, error } => {
                self.call_is_over(step);
                self.broken.get_or_insert(error);
                self.skip(step, "the journal could not be written");
            }
            TaskEvent::Called { step, op, intent, answer } => {
                self.call_is_over(step);
                self.called(step, op, *intent, *answer);
            }
            TaskEvent::Durable { step, end, result } => match result {
                Ok(()) => self.ended(step, end),
                Err(error) => {
                    self.broken.get_or_insert(error);
                }
            },
            TaskEvent::RetryDue { step } => match self.retrying.remove(&step) {
                Some(_) => self.next.push_back(step),
                None => self.abandoned -= 1,
            },
        }
    }

    fn call_is_over(&mut self, step: StepId) {
        let provider = self.provider_of(step);
        self.calls -= 1;
        self.calling.remove(&step);
        if let Some(calls) = self.calls_of.get_mut(provider) {
            *calls -= 1;
        }
        self.next.extend(self.held.get_mut(provider).and_then(std::collections::VecDeque::pop_front));
    }

    fn called(&mut self, id: StepId, op: OpId, intent: Intent, answer: Answer) {
        if answer.is_transient() && self.schedule_retry(id, op, &answer) {
            return;
        }
        let answer = answer.checked(&intent, &self.identities);
        let (step, operation) = (&self.plan.steps[id.0], self.operations[id.0]);
        let copy = intent.copy();
        match (&intent, &answer.outcome) {
            (Intent::Create { resource, .. }, Outcome::Created { id, .. }) => {
                self.identities.is_made(&resource.ty, id, copy.clone());
            }
            (Intent::Delete { .. }, Outcome::Deleted) => self.identities.is_gone(copy.clone()),
            _ => {}
        }
        let end = match &answer.outcome {
            Outcome::Failed { message } => {
                StepEnd::Failed { problem: failure(step, operation, message, answer.refusal.as_ref()) }
            }
            Outcome::InDoubt { message } => {
                StepEnd::InDoubt { problem: in_doubt(step, operation, message, answer.timed_out) }
            }
            done => {
                if let (Some(node), Some(resource)) = (step.node, after(intent, done)) {
                    self.context.made(node, resource);
                }
                match &answer.refusal {
                    Some(refusal) => StepEnd::Failed { problem: partial(step, operation, refusal) },
                    None => StepEnd::Done,
                }
            }
        };
        // The End goes in line before any dependant's Begin does.
        let end_of_it = Record::End { op, outcome: answer.outcome };
        let as_found =
            answer.found.map(|inputs| Record::Observed { copy, inputs: Some(inputs), outputs: None });
        let ack = self.run.submit_together(std::iter::once(end_of_it).chain(as_found).collect());
        if end == StepEnd::Done {
            self.queue.done(id);
        } else {
            self.skip_dependants(id);
            self.halt(id);
        }
        self.wait_for(id, ack, end);
    }

    /// Puts a step aside that may succeed in a moment. `false`: it was tried often enough.
    fn schedule_retry(&mut self, id: StepId, op: OpId, answer: &Answer) -> bool {
        let attempts = self.attempts.entry(id).or_insert(1);
        if *attempts >= ATTEMPTS || self.stopping != Stop::No || self.halted_by.is_some() {
            return false;
        }
        let pause = pause(&self.engine.world, *attempts);
        *attempts += 1;
        let attempt = *attempts;
        let (step, operation) = (&self.plan.steps[id.0], self.operations[id.0]);
        let message = answer.refusal.as_ref().map(|refusal| refusal.message.clone()).unwrap_or_default();
        self.retrying.insert(id, failure(step, operation, &message, answer.refusal.as_ref()));
        if let Some(operation) = operation {
            let (name, millis) = (step.name.clone(), pause.as_millis() as u64);
            (self.events)(Event::StepRetried { operation, name, attempt, because: message, millis });
        }
        // It certainly did not happen: the next attempt is an operation of its own.
        drop(self.run.submit(Record::End { op, outcome: answer.outcome.clone() }));
        let world = self.engine.world.clone();
        self.tasks.push(Box::pin(async move {
            world.clock.sleep(pause).await;
            TaskEvent::RetryDue { step: id }
        }));
        true
    }

    /// Nothing new starts any more: what waits for another attempt has failed.
    pub(crate) fn abandon_retries(&mut self) {
        let mut resting: Vec<(StepId, Diagnostic)> = self.retrying.drain().collect();
        resting.sort_by_key(|(id, _)| *id);
        self.abandoned += resting.len();
        for (id, problem) in resting {
            self.fail(id, problem);
        }
    }

    pub(crate) fn wait_for(&mut self, step: StepId, ack: Ack, end: StepEnd) {
        self.tasks
            .push(Box::pin(async move { TaskEvent::Durable { step, end, result: ack.durable().await } }));
    }

    pub(crate) fn ended(&mut self, id: StepId, end: StepEnd) {
        match &end {
            StepEnd::Done => self.done += 1,
            StepEnd::Failed { problem } => self.problems.push(problem.clone()),
            StepEnd::InDoubt { problem } => {
                self.doubts += 1;
                self.problems.push(problem.clone());
            }
            StepEnd::Skipped { .. } => self.skipped += 1,
        }
        self.context.ended(id);
        if let Some(operation) = self.operations[id.0] {
            let elapsed = self.engine.world.clock.monotonic().saturating_sub(self.since[id.0]);
            let (name, millis) = (self.plan.steps[id.0].name.clone(), elapsed.as_millis() as u64);
            (self.events)(Event::StepEnded { operation, name, end, millis });
        }
    }

    pub(crate) fn fail(&mut self, id: StepId, problem: Diagnostic) {
        self.skip_dependants(id);
        self.ended(id, StepEnd::Failed { problem });
        self.halt(id);
    }

    pub(crate) fn unresolved(&mut self, id: StepId, unresolved: &Unresolved) {
        let step = &self.plan.steps[id.0];
        let problem = unresolved.diagnostic(&format!("an input of {}", step.name), Some(&step.source));
        self.fail(id, problem);
    }

    fn skip_dependants(&mut self, id: StepId) {
        let because = format!("{} did not succeed", self.plan.steps[id.0].name);
        for skipped in self.queue.failed(id) {
            self.skip(skipped, &because);
        }
    }

    fn skip(&mut self, id: StepId, because: &str) {
        if !matches!(self.plan.steps[id.0].action, Action::Barrier) {
            self.ended(id, StepEnd::Skipped { because: because.to_owned() });
        }
    }

    /// Records the outputs if everything went well, and says how the run ended.
    pub(crate) async fn conclude(&mut self, base: &State) -> (RunResult, Map) {
        let because = match self.halted_by {
            Some(id) => format!(
                "{} did not succeed, and nothing was to start after a failure",
                self.plan.steps[id.0].name
            ),
            None => "the run was stopped".to_owned(),
        };
        let mut left = self.queue.unstarted();
        left.extend(self.held.values().flatten().chain(&self.next));
        left.sort_unstable();
        for id in left {
            self.skip(id, &because);
        }
        let result = match (self.stopping, self.doubts, self.problems.len()) {
            (_, 1.., _) => RunResult::InDoubt,
            (Stop::Finish | Stop::Now, _, _) => RunResult::Interrupted,
            (_, _, 0) if self.broken.is_none() => RunResult::Succeeded,
            _ => RunResult::Failed,
        };
        if result != RunResult::Succeeded {
            return (result, base.outputs().clone());
        }
        let outputs = match self.context.outputs() {
            Ok(outputs) => outputs,
            Err(unresolved) => {
                self.problems.push(unresolved.diagnostic("an exported value", None));
                return (RunResult::Failed, base.outputs().clone());
            }
        };
        let differing = (outputs != *base.outputs()).then(|| Record::Outputs { outputs: outputs.clone() });
        #[cfg(stead_planted)]
        if stead_model::planted::is("pins-recorded-first") {
            let listed = self.engine.pinfile.as_ref().and_then(|pinned| pinned.paths());
            if let Some(paths) = listed.filter(|paths| Some(paths) != base.pinfile()) {
                let _ = self.run.submit(Record::Pinfile { paths }).durable().await;
            }
        }
        let listed = self.write_pinfile(base);
        for record in differing.into_iter().chain(listed) {
            if let Err(error) = self.run.submit(record).durable().await {
                self.broken = Some(error);
                return (RunResult::Failed, outputs);
            }
        }
        (result, outputs)
    }

    /// Writes the pinfile. What it has then is on record only afterwards: a path on record that the file does not have
    /// was taken out by somebody.
    fn write_pinfile(&mut self, base: &State) -> Option<Record> {
        let pinned = self.engine.pinfile.as_ref()?;
        let paths = pinned.paths().filter(|paths| Some(paths) != base.pinfile());
        let written = pinned.write_after_run();
        let done = written == Ok(PinfileWrite::Done);
        self.pinfile = Some(written);
        paths.filter(|_| done).map(|paths| Record::Pinfile { paths })
    }
}

/// The resource as it is now that its operation is done; `None` for a deletion.
fn after(intent: Intent, outcome: &Outcome) -> Option<Resource> {
    let (mut resource, id, outputs) = match (intent, outcome) {
        (Intent::Create { resource, .. }, Outcome::Created { id, outputs }) => {
            (resource, Some(id.clone()), outputs)
        }
        (Intent::Update { resource, .. }, Outcome::Updated { outputs }) => {
            let id = resource.id.clone();
            (resource, id, outputs)
        }
        _ => return None,
    };
    resource.id = id;
    resource.outputs.clone_from(outputs);
    Some(*resource)
}
