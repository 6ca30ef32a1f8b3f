//! Carries a permitted plan out: ready steps at once, no layers, everything written down first.
//!
//! When a call is answered, its `End` goes into the journal's queue and dependants may line up behind it at
//! once: their receipts come only after both records are durable, so one append serves the two.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use stead_guard::Permits;
use stead_journal::{Ack, Closed, JournalError, Run};
use stead_model::{
    Code, Diagnostic, Event, Graph, Map, NodeId, OpId, Operation, Resource, RunResult, StepEnd,
};
use stead_plan::{Action, Plan, Step, StepId};
use stead_state::{Intent, Outcome, Record, State};
use tokio::sync::watch;

use crate::Engine;
use crate::call::{Answer, Deletion, call};
use crate::context::{Context, Unresolved};
use crate::queue::Queue;

/// What the person at the keyboard wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    No,
    /// Start nothing new; let what runs finish.
    Finish,
    /// Leave now; what runs stays in doubt.
    Now,
}

/// A plan that the guards have nothing against.
pub struct Permitted<'a> {
    plan: &'a Plan,
    permits: Permits,
}

/// What a run did.
#[derive(Debug)]
pub struct Report {
    pub result: RunResult,
    pub done: usize,
    pub problems: Vec<Diagnostic>,
    /// Names of the steps that did not start.
    pub skipped: usize,
    pub outputs: Map,
    /// The new state; why there is none otherwise. The journal has everything either way.
    pub closed: Result<Closed, JournalError>,
}

impl Engine {
    /// Asks the guards about the whole plan, before anything happens.
    pub fn permit<'a>(
        &self,
        plan: &'a Plan,
        base: &State,
        graph: &Graph,
    ) -> Result<Permitted<'a>, Vec<Diagnostic>> {
        let declared = |id: NodeId| graph.node(id).and_then(|node| node.options.prevent_delete);
        match stead_guard::decide(&plan.deletions(base, declared)) {
            Ok(permits) => Ok(Permitted { plan, permits }),
            Err(refused) => Err(refused.iter().map(stead_guard::Refusal::diagnostic).collect()),
        }
    }

    /// Runs the plan in an open run, and closes the run. `base` is the state that the plan was made on.
    pub async fn execute(
        &self,
        run: Run,
        permitted: Permitted<'_>,
        base: &State,
        graph: &Graph,
        events: &mut dyn FnMut(Event),
        stop: watch::Receiver<Stop>,
    ) -> Report {
        let Permitted { plan, permits } = permitted;
        events(Event::RunStarted { run: run.id(), steps: plan.steps.len() });
        let mut executor = Executor {
            engine: self,
            run: &run,
            plan,
            permits,
            context: Context::new(base, graph, run.stack(), plan, self.functions.as_ref()),
            queue: Queue::new(plan),
            tasks: FuturesUnordered::new(),
            calls: 0,
            since: vec![Duration::ZERO; plan.steps.len()],
            events,
            stopping: Stop::No,
            broken: None,
            done: 0,
            skipped: 0,
            problems: Vec::new(),
            doubts: 0,
        };
        executor.run(stop).await;
        let (result, outputs) = executor.conclude(base).await;
        let Executor { broken, done, skipped, problems, stopping, events, .. } = executor;
        events(Event::RunEnded { run: run.id(), result });
        let closed = match (broken, stopping) {
            (Some(error), _) => Err(run.abandon(error).await),
            // Leaving without closing is what a crash is; the next run recovers.
            (None, Stop::Now) => Err(JournalError::Outside {
                action: "close the run",
                problem: "it was told to leave at once".to_owned(),
            }),
            (None, _) => run.close(result).await,
        };
        Report { result, done, problems, skipped, outputs, closed }
    }
}

/// Something that a step waited for.
enum Happened {
    NotBegun { step: StepId, error: JournalError },
    Called { step: StepId, op: OpId, intent: Box<Intent>, answer: Answer },
    Durable { step: StepId, end: StepEnd, result: Result<(), JournalError> },
}

struct Executor<'a> {
    engine: &'a Engine,
    run: &'a Run,
    plan: &'a Plan,
    permits: Permits,
    context: Context<'a>,
    queue: Queue,
    tasks: FuturesUnordered<BoxFuture<'static, Happened>>,
    /// Steps whose provider has not answered yet.
    calls: usize,
    since: Vec<Duration>,
    events: &'a mut dyn FnMut(Event),
    stopping: Stop,
    broken: Option<JournalError>,
    done: usize,
    skipped: usize,
    problems: Vec<Diagnostic>,
    doubts: usize,
}

impl Executor<'_> {
    async fn run(&mut self, mut stop: watch::Receiver<Stop>) {
        drop(self.run.submit(Record::Reserve { uids: self.plan.uids }));
        let mut watching = true;
        loop {
            while self.stopping == Stop::No
                && self.broken.is_none()
                && self.calls < self.engine.parallel
                && let Some(step) = self.queue.start()
            {
                self.start(step);
            }
            if self.tasks.is_empty() {
                return;
            }
            tokio::select! {
                biased;
                changed = stop.changed(), if watching => {
                    watching = changed.is_ok();
                    self.stopping = *stop.borrow();
                    if self.stopping == Stop::Now {
                        return;
                    }
                    if self.stopping == Stop::Finish {
                        (self.events)(Event::Stopping { under_way: self.calls });
                    }
                }
                Some(happened) = self.tasks.next() => self.happened(happened),
            }
        }
    }

    fn start(&mut self, id: StepId) {
        let plan = self.plan;
        let step = &plan.steps[id.0];
        self.since[id.0] = self.engine.world.clock.monotonic();
        let started = match (&step.action, step.node) {
            (Action::Gather, _) => {
                self.queue.done(id);
                Ok(())
            }
            (Action::Create { incarnation, inputs }, Some(node)) => {
                self.context.values(inputs).map(|inputs| {
                    let resource = Box::new(self.context.new_record(node, incarnation, inputs));
                    self.call(id, None, move |key| Intent::Create { key, resource });
                })
            }
            (Action::Update { copy, inputs }, Some(node)) => self.context.values(inputs).map(|inputs| {
                if let Some(old) = self.context.base.copy(copy).cloned() {
                    self.update(id, node, old, inputs);
                }
            }),
            (Action::Delete { copy, after_delete }, _) => {
                let permit = self.permits.take(copy);
                let deletion = self.context.base.copy(copy).cloned().zip(permit);
                let (copy, after) = (copy.clone(), *after_delete);
                self.call(id, deletion, move |key| Intent::Delete { key, copy, after });
                Ok(())
            }
            (Action::Record { copy }, Some(node)) => {
                if let Some(old) = self.context.base.copy(copy) {
                    let inputs = old.inputs.clone();
                    let resource = self.context.changed_record(node, old, inputs);
                    self.note(id, node, resource);
                }
                Ok(())
            }
            (Action::Forget { copy }, _) => {
                let ack = self.run.submit(Record::Forget { copy: copy.clone() });
                self.queue.done(id);
                self.wait_for(id, ack, StepEnd::Done);
                Ok(())
            }
            (Action::Create { .. } | Action::Update { .. } | Action::Record { .. }, None) => Ok(()),
        };
        if let Err(unresolved) = started {
            self.unresolved(id, &unresolved);
        }
    }

    /// Execution may do less than planned: what turned out not to change is not sent.
    fn update(&mut self, id: StepId, node: NodeId, old: Resource, inputs: Map) {
        let resource = self.context.changed_record(node, &old, inputs);
        if resource.inputs == old.inputs {
            self.note(id, node, resource);
        } else {
            let (resource, previous) = (Box::new(resource), old.inputs);
            self.call(id, None, move |key| Intent::Update { key, resource, previous });
        }
    }

    fn note(&mut self, id: StepId, node: NodeId, resource: Resource) {
        let ack = self.run.submit(Record::Note { resource: Box::new(resource.clone()) });
        self.context.made(node, resource);
        self.queue.done(id);
        self.wait_for(id, ack, StepEnd::Done);
    }

    fn call(&mut self, id: StepId, deletion: Option<Deletion>, intent: impl FnOnce(String) -> Intent) {
        let step = &self.plan.steps[id.0];
        let Some(provider) = self.engine.providers.of(&step.resource).cloned() else {
            let problem =
                Diagnostic::error(Code::NO_PROVIDER, format!("no provider serves {}", step.resource));
            self.fail(id, problem.at(step.source.clone(), 0, "declared here"));
            return;
        };
        if let Some(operation) = operation(&step.action) {
            let (name, resource) = (step.name.clone(), step.resource.clone());
            (self.events)(Event::StepStarted { operation, name, resource });
        }
        let world = self.engine.world.clone();
        let begun = self.run.begin(intent);
        self.calls += 1;
        self.tasks.push(Box::pin(async move {
            let (receipt, intent) = match begun.receipt().await {
                Ok(begun) => begun,
                Err(error) => return Happened::NotBegun { step: id, error },
            };
            let op = receipt.op();
            let answer = call(&world, receipt, &provider, &intent, deletion).await;
            Happened::Called { step: id, op, intent: Box::new(intent), answer }
        }));
    }

    fn happened(&mut self, happened: Happened) {
        match happened {
            Happened::NotBegun { step, error } => {
                self.calls -= 1;
                self.broken.get_or_insert(error);
                self.skip(step, "the journal could not be written");
            }
            Happened::Called { step, op, intent, answer } => {
                self.calls -= 1;
                self.called(step, op, *intent, answer);
            }
            Happened::Durable { step, end, result } => match result {
                Ok(()) => self.ended(step, end),
                Err(error) => {
                    self.broken.get_or_insert(error);
                }
            },
        }
    }

    fn called(&mut self, id: StepId, op: OpId, intent: Intent, answer: Answer) {
        let step = &self.plan.steps[id.0];
        let end = match &answer.outcome {
            Outcome::Failed { message } => {
                StepEnd::Failed { problem: failure(step, message, answer.refusal.as_ref()) }
            }
            Outcome::InDoubt { message } => StepEnd::InDoubt { problem: in_doubt(step, message) },
            done => {
                if let (Some(node), Some(resource)) = (step.node, after(intent, done)) {
                    self.context.made(node, resource);
                }
                StepEnd::Done
            }
        };
        // The End goes in line before any dependant's Begin does.
        let ack = self.run.submit(Record::End { op, outcome: answer.outcome });
        if end == StepEnd::Done {
            self.queue.done(id);
        } else {
            self.skip_dependants(id);
        }
        self.wait_for(id, ack, end);
    }

    fn wait_for(&mut self, step: StepId, ack: Ack, end: StepEnd) {
        self.tasks
            .push(Box::pin(async move { Happened::Durable { step, end, result: ack.durable().await } }));
    }

    fn ended(&mut self, id: StepId, end: StepEnd) {
        match &end {
            StepEnd::Done => self.done += 1,
            StepEnd::Failed { problem } => self.problems.push(problem.clone()),
            StepEnd::InDoubt { problem } => {
                self.doubts += 1;
                self.problems.push(problem.clone());
            }
            StepEnd::Skipped { .. } => self.skipped += 1,
        }
        let step = &self.plan.steps[id.0];
        if let Some(operation) = operation(&step.action) {
            let elapsed = self.engine.world.clock.monotonic().saturating_sub(self.since[id.0]);
            let millis = elapsed.as_millis() as u64;
            (self.events)(Event::StepEnded { operation, name: step.name.clone(), end, millis });
        }
    }

    fn fail(&mut self, id: StepId, problem: Diagnostic) {
        self.skip_dependants(id);
        self.ended(id, StepEnd::Failed { problem });
    }

    fn unresolved(&mut self, id: StepId, unresolved: &Unresolved) {
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
        if !matches!(self.plan.steps[id.0].action, Action::Gather) {
            self.ended(id, StepEnd::Skipped { because: because.to_owned() });
        }
    }

    /// Records the outputs if everything went well, and says how the run ended.
    async fn conclude(&mut self, base: &State) -> (RunResult, Map) {
        for id in self.queue.unstarted() {
            self.skip(id, "the run was stopped");
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
        if outputs != *base.outputs() {
            let recorded = self.run.submit(Record::Outputs { outputs: outputs.clone() });
            if let Err(error) = recorded.durable().await {
                self.broken = Some(error);
                return (RunResult::Failed, outputs);
            }
        }
        (result, outputs)
    }
}

/// What a provider is asked for in a step, if it is asked at all.
fn operation(action: &Action) -> Option<Operation> {
    match action {
        Action::Create { .. } => Some(Operation::Create),
        Action::Update { .. } => Some(Operation::Update),
        Action::Delete { .. } => Some(Operation::Delete),
        Action::Record { .. } | Action::Forget { .. } | Action::Gather => None,
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

fn failure(step: &Step, message: &str, refusal: Option<&stead_provider::Refusal>) -> Diagnostic {
    let verb = operation(&step.action).map_or("change", Operation::verb);
    let problem = Diagnostic::error(Code::STEP_FAILED, format!("cannot {verb} {}: {message}", step.name)).at(
        step.source.clone(),
        0,
        "declared here",
    );
    refusal.and_then(|refusal| refusal.help.clone()).into_iter().fold(problem, Diagnostic::help)
}

fn in_doubt(step: &Step, message: &str) -> Diagnostic {
    let verb = operation(&step.action).map_or("change", Operation::verb);
    Diagnostic::error(
        Code::IN_DOUBT,
        format!("nobody knows whether the {verb} of {} happened: {message}", step.name),
    )
    .at(step.source.clone(), 0, "declared here")
}
