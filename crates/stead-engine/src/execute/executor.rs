//! Ready steps at once, no layers, everything written down first.
//!
//! When a call is answered, its `End` goes into the journal's queue and dependants may line up behind it at
//! once: their receipts come only after both records are durable, so one append serves the two.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use stead_guard::Permits;
use stead_journal::{JournalError, Run};
use stead_model::{
    Code, CopyRef, DeletionPolicy, Diagnostic, Event, Graph, Map, Name, NodeId, OpId, Operation, Resource,
    StepEnd,
};
use stead_plan::{Action, Plan, StepId, Why};
use stead_state::{AfterDelete, Intent, Record, RetainReason, State};
use tokio::sync::watch;

use crate::execute::call::{Answer, Deletion, call};
use crate::execute::downgrade::Replacements;
use crate::execute::queue::Queue;
use crate::execute::values::Context;
use crate::physical_ids::PhysicalIds;
use crate::pinfile::{PinfileWrite, listed_before};
use crate::{Engine, OnFailure, PermittedPlan, Stop};

/// Something that a step waited for.
pub(crate) enum TaskEvent {
    NotBegun {
        step: StepId,
        error: JournalError,
    },
    Called {
        step: StepId,
        op: OpId,
        intent: Box<Intent>,
        answer: Box<Answer>,
    },
    Durable {
        step: StepId,
        end: StepEnd,
        result: Result<(), JournalError>,
    },
    /// Enough time has passed to try again.
    RetryDue {
        step: StepId,
    },
}

pub(crate) struct Executor<'a> {
    pub engine: &'a Engine,
    pub run: &'a Run,
    pub plan: &'a Plan,
    pub permits: Permits,
    pub context: Context<'a>,
    pub identities: PhysicalIds<'a>,
    pub queue: Queue,
    pub tasks: FuturesUnordered<BoxFuture<'static, TaskEvent>>,
    /// Steps whose provider has not answered yet, in all and of each provider.
    pub calls: usize,
    pub calls_of: HashMap<&'a str, usize>,
    /// Ready steps whose provider has enough to do.
    pub held: HashMap<&'a str, VecDeque<StepId>>,
    /// Steps that may go on before any other starts.
    pub next: VecDeque<StepId>,
    /// Steps that wait before they try again, and why they have to.
    pub retrying: HashMap<StepId, Diagnostic>,
    /// Tasks in which nobody is interested any more.
    pub abandoned: usize,
    pub attempts: HashMap<StepId, u32>,
    pub replacements: Replacements,
    pub spared: HashSet<NodeId>,
    pub since: Vec<Duration>,
    pub operations: Vec<Option<Operation>>,
    pub events: &'a mut dyn FnMut(Event),
    pub stopping: Stop,
    pub halted_by: Option<StepId>,
    pub broken: Option<JournalError>,
    pub done: usize,
    pub skipped: usize,
    pub problems: Vec<Diagnostic>,
    pub doubts: usize,
    /// The steps that wait for a provider.
    pub calling: BTreeSet<StepId>,
    /// What became of the pinfile.
    pub pinfile: Option<Result<PinfileWrite, Diagnostic>>,
}

impl<'a> Executor<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        run: &'a Run,
        PermittedPlan { plan, permits }: PermittedPlan<'a>,
        base: &'a State,
        graph: &'a Graph,
        events: &'a mut dyn FnMut(Event),
    ) -> Executor<'a> {
        let steps = plan.steps.len();
        Executor {
            engine,
            run,
            plan,
            permits,
            context: Context::new(base, graph, run.stack(), plan, engine.functions.as_ref()),
            identities: PhysicalIds::of(base),
            queue: Queue::new(plan),
            tasks: FuturesUnordered::new(),
            calls: 0,
            calls_of: HashMap::new(),
            held: HashMap::new(),
            next: VecDeque::new(),
            retrying: HashMap::new(),
            abandoned: 0,
            attempts: HashMap::new(),
            replacements: Replacements::of(plan),
            spared: HashSet::new(),
            since: vec![Duration::ZERO; steps],
            operations: plan.steps.iter().map(|step| operation(&step.action)).collect(),
            events,
            stopping: Stop::No,
            halted_by: None,
            broken: None,
            done: 0,
            skipped: 0,
            problems: Vec::new(),
            doubts: 0,
            calling: BTreeSet::new(),
            pinfile: None,
        }
    }

    /// What nobody waits for any more, although it was begun.
    pub(crate) fn under_way(&self) -> Vec<(Operation, Name)> {
        let begun = self.calling.iter().filter_map(|id| Some((self.operations[id.0]?, *id)));
        begun.map(|(operation, id)| (operation, self.plan.steps[id.0].name.clone())).collect()
    }

    pub(crate) async fn run(&mut self, mut stop: watch::Receiver<Stop>) {
        drop(self.run.submit(Record::Reserve { uids: self.plan.uids }));
        let listed = listed_before(&self.engine.pins, self.context.base, self.context.graph);
        listed.into_iter().for_each(|paths| drop(self.run.submit(Record::Pinfile { paths })));
        let mut watching = true;
        loop {
            while self.may_start()
                && let Some(step) = self.next_step()
            {
                self.start(step);
            }
            if self.tasks.len() == self.abandoned {
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
                        self.abandon_retries();
                    }
                }
                Some(happened) = self.tasks.next() => self.happened(happened),
            }
        }
    }

    fn may_start(&self) -> bool {
        self.stopping == Stop::No
            && self.broken.is_none()
            && self.halted_by.is_none()
            && self.calls < self.engine.parallel
    }

    /// A failure that the rest shall not outlive.
    pub(crate) fn halt(&mut self, because_of: StepId) {
        if self.engine.on_failure == OnFailure::Stop && self.halted_by.is_none() {
            self.halted_by = Some(because_of);
            self.abandon_retries();
        }
    }

    /// The next ready step whose provider has room for it.
    fn next_step(&mut self) -> Option<StepId> {
        if let Some(step) = self.next.pop_front() {
            return Some(step);
        }
        while let Some(step) = self.queue.start() {
            let provider = self.provider_of(step);
            let busy = self.calls_of.get(provider).copied().unwrap_or_default();
            let limit = || self.engine.providers.of(&self.plan.steps[step.0].ty)?.max_parallel_calls();
            if self.operations[step.0].is_some() && limit().is_some_and(|limit| busy >= limit.max(1)) {
                self.held.entry(provider).or_default().push_back(step);
            } else {
                return Some(step);
            }
        }
        None
    }

    pub(crate) fn provider_of(&self, step: StepId) -> &'a str {
        self.plan.steps[step.0].ty.provider()
    }

    fn start(&mut self, id: StepId) {
        let plan = self.plan;
        let step = &plan.steps[id.0];
        self.since[id.0] = self.engine.world.clock.monotonic();
        if let Some(node) = step.node
            && self.is_half_of_a_replacement(&step.action, node)
        {
            match self.replacement_unneeded(node) {
                Ok(true) => return self.downgrade_replacement(id, node),
                Ok(false) => {}
                Err(unresolved) => return self.unresolved(id, &unresolved),
            }
        }
        let started = match (&step.action, step.node) {
            (Action::Barrier, _) => {
                self.queue.done(id);
                Ok(())
            }
            (Action::Create { incarnation, inputs }, Some(node)) => {
                self.context.values(inputs).map(|inputs| {
                    let resource = Box::new(self.context.new_record(node, incarnation, inputs));
                    self.call(id, None, move |key| Intent::Create { key, resource });
                })
            }
            (Action::Update { inputs, .. }, Some(node)) => self.context.values(inputs).map(|inputs| {
                if let Some(old) = self.context.current(node).cloned() {
                    self.update(id, node, old, inputs);
                }
            }),
            (Action::Delete { copy, after_delete }, _) if self.is_anothers(copy) => {
                self.spare(id, copy.clone(), *after_delete);
                Ok(())
            }
            (Action::Delete { copy, after_delete }, _) => {
                let resource = self.context.base.copy(copy).cloned();
                let permit = self.permits.take(copy).or_else(|| self.permits.reissue(copy));
                let (copy, after) = (copy.clone(), *after_delete);
                self.call(id, resource.zip(permit), move |key| Intent::Delete { key, copy, after });
                Ok(())
            }
            (Action::Forget { copy, after_delete }, _) if self.outlives_its_container(step) => {
                self.delete_alone(id, copy.clone(), *after_delete);
                Ok(())
            }
            _ => {
                self.write_down(id);
                Ok(())
            }
        };
        if let Err(unresolved) = started {
            self.unresolved(id, &unresolved);
        }
    }

    /// Whether the thing behind a record is that of another record as well.
    fn is_anothers(&self, copy: &CopyRef) -> bool {
        let resource = self.context.base.copy(copy).and_then(|old| Some((&old.ty, old.id.as_ref()?)));
        resource.is_some_and(|(resource, id)| self.identities.others(resource, id, copy).next().is_some())
    }

    /// The record goes, and the thing stays: somebody else has it.
    fn spare(&mut self, id: StepId, copy: CopyRef, after: AfterDelete) {
        let end = StepEnd::Skipped { because: "another resource is the same thing; it stays".to_owned() };
        let name = self.plan.steps[id.0].name.clone();
        (self.events)(Event::StepEnded { operation: Operation::Delete, name, end, millis: 0 });
        self.operations[id.0] = None;
        self.identities.is_gone(copy.clone());
        self.submit(id, forgotten(copy, after, None));
    }

    /// Deletes a resource whose container stays. The guards permitted its deletion, in whatever way.
    fn delete_alone(&mut self, id: StepId, copy: CopyRef, after: AfterDelete) {
        let permit = self.permits.take(&copy).or_else(|| self.permits.reissue(&copy));
        let deletion = self.context.base.copy(&copy).cloned().zip(permit);
        self.call(id, deletion, move |key| Intent::Delete { key, copy, after });
    }

    /// The new copy, or the end of the one there is; an older one left over has nothing to do with it.
    fn is_half_of_a_replacement(&self, action: &Action, node: NodeId) -> bool {
        match action {
            Action::Create { .. } => true,
            Action::Delete { copy, .. } | Action::Forget { copy, .. } => {
                self.plan.existing.get(&node) == Some(copy)
            }
            _ => false,
        }
    }

    /// Steps that change records only.
    fn write_down(&mut self, id: StepId) {
        let step = &self.plan.steps[id.0];
        match (&step.action, step.node) {
            (Action::Record { copy }, Some(node)) => {
                if let Some(old) = self.context.base.copy(copy) {
                    let resource = self.context.changed_record(node, old, old.inputs.clone());
                    self.note(id, Some(node), resource);
                }
            }
            (Action::Move { copy, to, .. }, node) => {
                if let Some(old) = self.context.base.copy(copy) {
                    let resource = self.context.moved_record(node, old, to);
                    self.note(id, node, resource);
                }
            }
            (Action::Import { incarnation, id: physical, inputs, outputs }, Some(node)) => {
                let (physical, inputs, outputs) = (physical.clone(), inputs.clone(), outputs.clone());
                let resource = self.context.adopted_record(node, incarnation, physical, inputs, outputs);
                resource.id.iter().for_each(|id| self.identities.is_made(&resource.ty, id, resource.copy()));
                self.submit(id, Record::Adopt { resource: Box::new(resource.clone()) });
                self.context.made(node, resource);
            }
            (Action::Forget { copy, after_delete }, _) => {
                let (kept, copy) = (self.kept(id, copy), copy.clone());
                self.identities.is_gone(copy.clone());
                self.submit(id, forgotten(copy, *after_delete, kept));
            }
            _ => {}
        }
    }

    /// What is written down about something real that nobody manages any more.
    fn kept(&self, id: StepId, copy: &CopyRef) -> Option<Box<RetainReason>> {
        let step = &self.plan.steps[id.0];
        let resource = self.context.base.copy(copy).filter(|_| step.why == Why::Retained)?;
        let today = match step.node.and_then(|node| self.context.graph.node(node)) {
            Some(node) => node.effective_marks(),
            None => self.plan.outer.marks_for(resource),
        };
        let policies = [today.deletion_policy, resource.recorded_marks().deletion_policy];
        let policy = policies.into_iter().flatten().find(|mark| mark.value == DeletionPolicy::Retain);
        let source = policy.map(|mark| mark.source);
        Some(Box::new(RetainReason { run: self.run.id(), source }))
    }

    fn submit(&mut self, id: StepId, record: Record) {
        let ack = self.run.submit(record);
        self.queue.done(id);
        self.wait_for(id, ack, StepEnd::Done);
    }

    /// Execution may do less than planned: what turned out not to change is not sent.
    pub(crate) fn update(&mut self, id: StepId, node: NodeId, old: Resource, inputs: Map) {
        let resource = self.context.changed_record(node, &old, inputs);
        if resource.inputs == old.inputs {
            self.note(id, Some(node), resource);
        } else {
            let (resource, previous) = (Box::new(resource), old.inputs);
            self.call(id, None, move |key| Intent::Update { key, resource, previous });
        }
    }

    fn note(&mut self, id: StepId, node: Option<NodeId>, resource: Resource) {
        self.submit(id, Record::Amend { resource: Box::new(resource.clone()) });
        if let Some(node) = node {
            self.context.made(node, resource);
        }
    }

    fn call(&mut self, id: StepId, deletion: Option<Deletion>, intent: impl FnOnce(String) -> Intent) {
        let step = &self.plan.steps[id.0];
        let Some(provider) = self.engine.providers.of(&step.ty).cloned() else {
            let problem = Diagnostic::error(Code::NO_PROVIDER, format!("no provider serves {}", step.ty));
            self.fail(id, problem.at(step.source.clone(), 0, "declared here"));
            return;
        };
        let world = self.engine.world.clone();
        let mut asked = None;
        let begun = self.run.begin(|key| {
            let intent = intent(key);
            asked = Some(intent.operation());
            intent
        });
        let operation = asked.unwrap_or(Operation::Update);
        self.operations[id.0] = Some(operation);
        let (name, resource) = (step.name.clone(), step.ty.clone());
        (self.events)(Event::StepStarted { operation, name, ty: resource });
        let options =
            step.node.and_then(|node| self.context.graph.node(node)).map(|node| &node.options.timeouts);
        let patience = self.engine.patience(options, &provider, operation, &step.ty);
        self.calls += 1;
        self.calling.insert(id);
        *self.calls_of.entry(step.ty.provider()).or_default() += 1;
        self.tasks.push(Box::pin(async move {
            let (receipt, intent) = match begun.receipt().await {
                Ok(begun) => begun,
                Err(error) => return TaskEvent::NotBegun { step: id, error },
            };
            let op = receipt.op();
            let answer = call(&world, receipt, &provider, &intent, deletion, patience).await;
            TaskEvent::Called { step: id, op, intent: Box::new(intent), answer: Box::new(answer) }
        }));
    }
}

/// What is written down about a copy that is not managed any more.
fn forgotten(copy: CopyRef, after: AfterDelete, kept: Option<Box<RetainReason>>) -> Record {
    match after {
        AfterDelete::Gone => Record::Forget { copy, kept },
        AfterDelete::Replacing => Record::Observed { copy, inputs: None, outputs: None },
    }
}

/// What a provider is asked for in a step, if it is asked at all.
pub(crate) fn operation(action: &Action) -> Option<Operation> {
    match action {
        Action::Create { .. } => Some(Operation::Create),
        Action::Update { .. } => Some(Operation::Update),
        Action::Delete { .. } => Some(Operation::Delete),
        Action::Record { .. }
        | Action::Move { .. }
        | Action::Import { .. }
        | Action::Forget { .. }
        | Action::Barrier => None,
    }
}
