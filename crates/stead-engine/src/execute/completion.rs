//! Completion of steps: answers of providers, retries, skipped dependents, and the end of the run.

use stead_journal::Ack;
use stead_model::{Diagnostic, Event, Map, OpId, Resource, RunResult, StepEnd};
use stead_plan::{Action, StepId};
use stead_provider::Occasion;
use stead_state::{Intent, Outcome, Record, State};

use crate::Stop;
use crate::execute::call::Answer;
use crate::execute::executor::{Executor, TaskEvent};
use crate::execute::problems::{Unfinished, failure, in_doubt, partial};
use crate::execute::values::Unresolved;
use crate::gather::retry::{MAX_ATTEMPTS, backoff};

impl Executor<'_> {
    /// Handles the result of a task.
    pub(crate) fn handle(&mut self, event: TaskEvent) {
        match event {
            TaskEvent::BeginFailed { step, error } => {
                self.calls.finish(step, self.provider_of(step));
                self.progress.journal_error.get_or_insert(error);
                self.skip(step, "the journal could not be written");
            }
            TaskEvent::Answered { step, op, intent, answer } => {
                self.calls.finish(step, self.provider_of(step));
                self.complete(step, op, *intent, *answer);
            }
            TaskEvent::Durable { step, end, result } => match result {
                Ok(()) => self.ended(step, end),
                Err(error) => {
                    self.progress.journal_error.get_or_insert(error);
                }
            },
            TaskEvent::RetryDue { step } => {
                if self.retries.timer_fired(step) {
                    self.calls.make_startable(step);
                }
            }
        }
    }

    /// Records the outcome of an operation, and starts or skips the dependents of its step.
    fn complete(&mut self, id: StepId, op: OpId, intent: Intent, mut answer: Answer) {
        for message in std::mem::take(&mut answer.warnings) {
            if let Some(operation) = self.operations[id.0] {
                let name = self.plan.steps[id.0].name.clone();
                (self.events)(Event::StepWarned { operation, name, message });
            }
        }
        if answer.is_transient() && self.schedule_retry(id, op, &answer) {
            return;
        }
        if self.tried_in_place(id, &answer) {
            return self.replace_instead(id, op, answer);
        }
        let answer = answer.checked(&intent, &self.physical_ids);
        let (step, operation) = (&self.plan.steps[id.0], self.operations[id.0]);
        let copy = intent.copy();
        match (&intent, &answer.outcome) {
            (Intent::Create { resource, .. }, Outcome::Created { id, .. }) => {
                self.physical_ids.add(resource, id);
            }
            (Intent::Delete { .. }, Outcome::Deleted) => self.physical_ids.remove(copy.clone()),
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
                let unfinished = match &intent {
                    Intent::Create { resource, .. } | Intent::Update { resource, .. }
                        if answer.actual_inputs.as_ref() == Some(&resource.inputs) =>
                    {
                        Unfinished::Outputs
                    }
                    _ => Unfinished::Inputs,
                };
                if let (Some(node), Some(resource)) = (step.node, after(intent, done)) {
                    self.changed_providers.note(self.engine, &resource);
                    self.context.set_current(node, resource);
                }
                match &answer.refusal {
                    Some(refusal) => {
                        StepEnd::Failed { problem: partial(step, operation, unfinished, refusal) }
                    }
                    None => StepEnd::Done,
                }
            }
        };
        // The `End` enters the journal's queue before the `Begin` of any dependent.
        let ended = Record::End { op, outcome: answer.outcome };
        let observed = answer.actual_inputs.map(|inputs| Record::observed(copy, Some(inputs), None));
        let ack = self.run.submit_together(std::iter::once(ended).chain(observed).collect());
        if end == StepEnd::Done {
            self.queue.done(id);
        } else {
            self.skip_dependents(id);
            self.halt(id);
        }
        self.end_when_durable(id, ack, end);
    }

    /// Starts a step again, because the service does not make its change in place. The plan shows the replacement.
    fn replace_instead(&mut self, id: StepId, op: OpId, answer: Answer) {
        if let Some(operation) = self.operations[id.0] {
            let name = self.plan.steps[id.0].name.clone();
            let because = answer.refusal.map(|refusal| refusal.message).unwrap_or_default();
            (self.events)(Event::StepReplaces { operation, name, because });
        }
        drop(self.run.submit(Record::End { op, outcome: answer.outcome }));
        self.calls.make_startable(id);
    }

    /// Schedules another attempt. Returns false if the step has no attempts left, or no step may start any more.
    fn schedule_retry(&mut self, id: StepId, op: OpId, answer: &Answer) -> bool {
        let attempts = self.retries.attempts_of(id);
        if attempts >= MAX_ATTEMPTS || self.progress.stopping != Stop::No || self.progress.halted_by.is_some()
        {
            return false;
        }
        let pause = backoff(&self.engine.world, attempts);
        let (step, operation) = (&self.plan.steps[id.0], self.operations[id.0]);
        let message = answer.refusal.as_ref().map(|refusal| refusal.message.clone()).unwrap_or_default();
        let problem = failure(step, operation, &message, answer.refusal.as_ref());
        let attempt = self.retries.schedule(id, problem);
        if let Some(operation) = operation {
            let (name, millis) = (step.name.clone(), pause.as_millis() as u64);
            (self.events)(Event::StepRetried { operation, name, attempt, because: message, millis });
        }
        // This attempt had no effect, so that the next one is an operation of its own.
        drop(self.run.submit(Record::End { op, outcome: answer.outcome.clone() }));
        let world = self.engine.world.clone();
        self.tasks.push(Box::pin(async move {
            world.clock.sleep(pause).await;
            TaskEvent::RetryDue { step: id }
        }));
        true
    }

    /// Fails all steps that wait for another attempt, because no step may start any more.
    pub(crate) fn cancel_retries(&mut self) {
        for (id, problem) in self.retries.cancel_all() {
            self.fail(id, problem);
        }
    }

    /// Ends the step once its records are durable.
    pub(crate) fn end_when_durable(&mut self, step: StepId, ack: Ack, end: StepEnd) {
        self.tasks
            .push(Box::pin(async move { TaskEvent::Durable { step, end, result: ack.durable().await } }));
    }

    /// Counts a finished step, and reports it.
    pub(crate) fn ended(&mut self, id: StepId, end: StepEnd) {
        self.progress.count(&end);
        self.context.step_ended(id);
        if let Some(operation) = self.operations[id.0] {
            let elapsed = self.engine.world.clock.monotonic().saturating_sub(self.started_at[id.0]);
            let (name, millis) = (self.plan.steps[id.0].name.clone(), elapsed.as_millis() as u64);
            (self.events)(Event::StepEnded { operation, name, end, millis });
        }
    }

    /// Ends a step that had no effect, and skips its dependents.
    pub(crate) fn fail(&mut self, id: StepId, problem: Diagnostic) {
        self.skip_dependents(id);
        self.ended(id, StepEnd::Failed { problem });
        self.halt(id);
    }

    /// Fails a step whose inputs have no values.
    pub(crate) fn unresolved(&mut self, id: StepId, unresolved: &Unresolved) {
        let step = &self.plan.steps[id.0];
        let problem = unresolved.diagnostic(Some((&step.name, &step.source)));
        self.fail(id, problem);
    }

    fn skip_dependents(&mut self, id: StepId) {
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

    /// Skips the steps that did not start, and records outputs and pinfile if all steps succeeded.
    ///
    /// Returns the result of the run and the outputs of the stack.
    pub(crate) async fn conclude(&mut self, base: &State) -> (RunResult, Map) {
        let because = match self.progress.halted_by {
            Some(id) => {
                format!("{} did not succeed, and no step starts after a failure", self.plan.steps[id.0].name)
            }
            None => "the run was stopped".to_owned(),
        };
        let mut unstarted = self.queue.unstarted();
        unstarted.extend(self.calls.unstarted());
        unstarted.sort_unstable();
        for id in unstarted {
            self.skip(id, &because);
        }
        let result = self.progress.result();
        if result != RunResult::Succeeded {
            return (result, base.outputs().clone());
        }
        let outputs = match self.context.outputs() {
            Ok(outputs) => outputs,
            Err(unresolved) => {
                self.progress.problems.push(unresolved.diagnostic(None));
                return (RunResult::Failed, base.outputs().clone());
            }
        };
        let changed = (outputs != *base.outputs()).then(|| Record::Outputs { outputs: outputs.clone() });
        self.progress.pinfile = self.engine.pinfile.as_ref().map(|pinned| pinned.write_after_run());
        if let Some(record) = changed
            && let Err(error) = self.run.submit(record).durable().await
        {
            self.progress.journal_error = Some(error);
            return (RunResult::Failed, outputs);
        }
        (result, outputs)
    }

    /// Marks what this run imported, and releases what it let go.
    pub(crate) async fn settle_owners(&self) {
        let providers = &self.engine.providers;
        self.owners.claim_all(providers, &self.adopted, Occasion::Import).await;
        self.owners.release_all(providers, &self.let_go).await;
    }
}

/// Returns the resource after its operation; `None` after a deletion.
fn after(intent: Intent, outcome: &Outcome) -> Option<Resource> {
    let (mut resource, id, outputs) = match (intent, outcome) {
        (Intent::Create { resource, .. }, Outcome::Created { id, outputs, .. }) => {
            (resource, Some(id.clone()), outputs)
        }
        (Intent::Update { resource, .. }, Outcome::Updated { outputs, .. }) => {
            let id = resource.id.clone();
            (resource, id, outputs)
        }
        _ => return None,
    };
    resource.id = id;
    resource.outputs.clone_from(outputs);
    Some(*resource)
}
