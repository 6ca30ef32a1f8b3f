//! Executor: starts every ready step at once, after its intent is durable.
//!
//! When a provider answers, the `End` record enters the queue of the journal, and the `Begin` records of dependents may follow
//! at once. Their receipts come after both records are durable, so that one append serves both.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use stead_guard::Permits;
use stead_journal::{JournalError, Run};
use stead_model::{
    Code, CopyRef, Diagnostic, Event, Graph, Map, Name, NodeId, OpId, Operation, Resource, StepEnd,
};
use stead_plan::{Action, Plan, StepId};
use stead_provider::{Provider, Refusal};
use stead_state::{AfterDelete, Intent, Record, State};
use tokio::sync::watch;

use crate::execute::call::{Answer, Deletion, call};
use crate::execute::downgrade::{Need, Replacements};
use crate::execute::in_flight::Calls;
use crate::execute::progress::Progress;
use crate::execute::queue::Queue;
use crate::execute::retries::Retries;
use crate::execute::values::Context;
use crate::gather::declared_part::{as_inputs, declared_part};
use crate::owners::RunOwners;
use crate::physical_ids::PhysicalIds;
use crate::serving::ChangedProviders;
use crate::{Engine, OnFailure, PermittedPlan, Stop};

/// Result of a task of the executor.
pub(crate) enum TaskEvent {
    /// The intent could not be recorded, so the provider was not called.
    BeginFailed {
        step: StepId,
        error: JournalError,
    },
    Answered {
        step: StepId,
        op: OpId,
        intent: Box<Intent>,
        answer: Box<Answer>,
    },
    /// The records of a finished step are durable, or could not be written.
    Durable {
        step: StepId,
        end: StepEnd,
        result: Result<(), JournalError>,
    },
    RetryDue {
        step: StepId,
    },
}

/// Execution of one plan in an open run.
pub(crate) struct Executor<'a> {
    pub engine: &'a Engine,
    pub run: &'a Run,
    pub plan: &'a Plan,
    pub permits: Permits,
    pub context: Context<'a>,
    pub physical_ids: PhysicalIds<'a>,
    pub changed_providers: ChangedProviders,
    pub owners: RunOwners,
    /// Resources whose records this run adopted, and resources whose records it removed and left in place.
    pub adopted: Vec<Resource>,
    pub let_go: Vec<Resource>,
    pub queue: Queue,
    pub tasks: FuturesUnordered<BoxFuture<'static, TaskEvent>>,
    pub calls: Calls<'a>,
    pub retries: Retries,
    pub replacements: Replacements,
    /// Start of each step, as monotonic time.
    pub started_at: Vec<Duration>,
    /// The operation of each step. It can differ from the planned one, and is `None` if no provider is called.
    pub operations: Vec<Option<Operation>>,
    pub progress: Progress,
    pub events: &'a mut dyn FnMut(Event),
}

impl<'a> Executor<'a> {
    pub(crate) fn new(
        engine: &'a Engine,
        run: &'a Run,
        PermittedPlan { plan, permits }: PermittedPlan<'a>,
        base: &'a State,
        graph: &'a Graph,
        owners: RunOwners,
        events: &'a mut dyn FnMut(Event),
    ) -> Executor<'a> {
        Executor {
            engine,
            run,
            plan,
            permits,
            context: Context::new(base, graph, run.stack(), plan, engine.functions.as_ref(), &engine.catalog),
            physical_ids: PhysicalIds::of(base, &engine.providers),
            changed_providers: ChangedProviders::default(),
            owners,
            adopted: Vec::new(),
            let_go: Vec::new(),
            queue: Queue::new(plan),
            tasks: FuturesUnordered::new(),
            calls: Calls::default(),
            retries: Retries::default(),
            replacements: Replacements::of(plan),
            started_at: vec![Duration::ZERO; plan.steps.len()],
            operations: plan.steps.iter().map(|step| operation(&step.action)).collect(),
            progress: Progress::new(),
            events,
        }
    }

    /// Returns the operations whose provider has not answered.
    pub(crate) fn under_way(&self) -> Vec<(Operation, Name)> {
        let calls = self.calls.in_flight().filter_map(|id| Some((self.operations[id.0]?, id)));
        calls.map(|(operation, id)| (operation, self.plan.steps[id.0].name.clone())).collect()
    }

    /// Runs steps until all are finished, none may start any more, or the run shall leave at once.
    pub(crate) async fn run(&mut self, mut stop: watch::Receiver<Stop>) {
        drop(self.run.submit(Record::Reserve { uids: self.plan.uids }));
        let mut watching = true;
        loop {
            while self.may_start()
                && let Some(step) = self.next_step()
            {
                self.start(step);
            }
            if self.tasks.len() == self.retries.cancelled_timers() {
                return;
            }
            tokio::select! {
                biased;
                changed = stop.changed(), if watching => {
                    watching = changed.is_ok();
                    self.progress.stopping = *stop.borrow();
                    if self.progress.stopping == Stop::Now {
                        return;
                    }
                    if self.progress.stopping == Stop::Finish {
                        (self.events)(Event::Stopping { under_way: self.calls.count() });
                        self.cancel_retries();
                    }
                }
                Some(event) = self.tasks.next() => self.handle(event),
            }
        }
    }

    fn may_start(&self) -> bool {
        self.progress.allows_new_steps() && self.calls.count() < self.engine.parallel
    }

    /// Keeps further steps from starting after a failure, if the engine shall stop then.
    pub(crate) fn halt(&mut self, failed: StepId) {
        if self.engine.on_failure == OnFailure::Stop && self.progress.halted_by.is_none() {
            self.progress.halted_by = Some(failed);
            self.cancel_retries();
        }
    }

    /// Takes the next ready step whose provider is below its limit.
    fn next_step(&mut self) -> Option<StepId> {
        if let Some(step) = self.calls.next_startable() {
            return Some(step);
        }
        while let Some(step) = self.queue.start() {
            let provider = self.provider_of(step);
            let calls = self.calls.count_of(provider);
            let limit = || self.engine.providers.of(&self.plan.steps[step.0].ty)?.max_parallel_calls();
            if self.operations[step.0].is_some() && limit().is_some_and(|limit| calls >= limit.max(1)) {
                self.calls.wait_for_provider(step, provider);
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
        self.started_at[id.0] = self.engine.world.clock.monotonic();
        if let Some(node) = step.node
            && self.is_part_of_replacement(&step.action, node)
        {
            match self.replacement_need(node) {
                Ok(Need::Unneeded) => return self.downgrade_replacement(id, node),
                Ok(Need::Untried) => return self.try_in_place(id, node),
                Ok(Need::Needed) => {}
                Err(unresolved) => return self.unresolved(id, &unresolved),
            }
        }
        let started = match (&step.action, step.node) {
            (Action::Barrier, _) => {
                self.queue.done(id);
                Ok(())
            }
            (Action::Create { incarnation, inputs }, Some(node)) => {
                let inputs = self.context.values_for_call(node, &step.ty, inputs);
                inputs.and_then(|inputs| self.context.with_open_identity(&step.ty, inputs)).map(|inputs| {
                    let inputs = self.completed(id, inputs);
                    let resource = Box::new(self.context.new_record(node, incarnation, inputs));
                    self.call(id, None, move |key| Intent::Create { key, resource });
                })
            }
            (Action::Import { inputs, .. }, Some(_)) => {
                self.context.with_open_identity(&step.ty, inputs.clone()).map(|_| self.change_record(id))
            }
            (Action::Update { inputs, .. }, Some(node)) => {
                self.context.values_for_call(node, &step.ty, inputs).map(|inputs| {
                    if let Some(old) = self.context.current(node).cloned() {
                        self.update(id, node, old, inputs);
                    }
                })
            }
            (Action::Delete { copy, after_delete }, _) if self.is_shared(copy) => {
                self.forget_shared(id, copy.clone(), *after_delete);
                Ok(())
            }
            (Action::Delete { copy, after_delete }, _) => {
                let resource = self.context.base.copy(copy).cloned();
                let permit = self.permits.take(copy).or_else(|| self.permits.reissue(copy));
                let (copy, after) = (copy.clone(), *after_delete);
                self.call(id, resource.zip(permit), move |key| Intent::Delete { key, copy, after });
                Ok(())
            }
            (Action::Forget { copy, after_delete }, _) if self.container_is_kept(step) => {
                self.delete_alone(id, copy.clone(), *after_delete);
                Ok(())
            }
            _ => {
                self.change_record(id);
                Ok(())
            }
        };
        if let Err(unresolved) = started {
            self.unresolved(id, &unresolved);
        }
    }

    /// Returns true if another record has the same physical id, or is the same real resource.
    fn is_shared(&self, copy: &CopyRef) -> bool {
        if self.owners.is_shared(copy) {
            return true;
        }
        let resource = self.context.base.copy(copy).and_then(|old| Some((old, old.id.as_ref()?)));
        resource.is_some_and(|(old, id)| self.physical_ids.others(old, id).next().is_some())
    }

    /// Removes a record without a deletion, because another record has the same physical id.
    fn forget_shared(&mut self, id: StepId, copy: CopyRef, after: AfterDelete) {
        let because = "another record is the same real resource, so it is kept".to_owned();
        let (end, name) = (StepEnd::Skipped { because }, self.plan.steps[id.0].name.clone());
        (self.events)(Event::StepEnded { operation: Operation::Delete, name, end, millis: 0 });
        self.operations[id.0] = None;
        self.forget(id, copy, after, None);
    }

    /// Deletes a resource whose container stays. The guards permitted its deletion, in whatever way.
    fn delete_alone(&mut self, id: StepId, copy: CopyRef, after: AfterDelete) {
        let permit = self.permits.take(&copy).or_else(|| self.permits.reissue(&copy));
        let deletion = self.context.base.copy(&copy).cloned().zip(permit);
        self.call(id, deletion, move |key| Intent::Delete { key, copy, after });
    }

    /// Returns true for the create of a replacement, and for the end of the current copy.
    ///
    /// The deletion of an older copy that was left over is no part of it.
    fn is_part_of_replacement(&self, action: &Action, node: NodeId) -> bool {
        match action {
            Action::Create { .. } => true,
            Action::Delete { copy, .. } | Action::Forget { copy, .. } => {
                self.plan.existing.get(&node) == Some(copy)
            }
            _ => false,
        }
    }

    /// Updates a resource. No provider is called if the inputs turn out to be the recorded ones.
    pub(crate) fn update(&mut self, id: StepId, node: NodeId, old: Resource, inputs: Map) {
        let resource = self.context.changed_record(node, &old, self.completed(id, inputs));
        // What was imported and no program declared stays as it is.
        let old = match old.imported {
            true => Resource { inputs: declared_part(&old.inputs, &as_inputs(&resource.inputs)), ..old },
            false => old,
        };
        if resource.inputs == old.inputs {
            self.amend(id, Some(node), resource);
        } else {
            let (resource, previous) = (Box::new(resource), old.inputs);
            self.call(id, None, move |key| Intent::Update { key, resource, previous });
        }
    }

    /// Returns the inputs with the defaults that were left open while the inputs were not known.
    fn completed(&self, id: StepId, inputs: Map) -> Map {
        match self.provider_for(id, None) {
            Ok(provider) => provider.completed(&self.plan.steps[id.0].ty, inputs),
            // The call tells why there is no provider.
            Err(_) => inputs,
        }
    }

    /// Returns the provider that a step calls: for a deletion the one of the record, else the declared one.
    fn provider_for(&self, id: StepId, deleted: Option<&Resource>) -> Result<Arc<dyn Provider>, Refusal> {
        let step = &self.plan.steps[id.0];
        let declared = || step.node.and_then(|node| self.context.graph.node(node)?.options.provider);
        let provider = match deleted {
            Some(resource) => {
                let copy = resource.ties.provider.as_ref();
                copy.map(|copy| self.changed_providers.current(self.context.base, copy))
            }
            None => declared().map(|provider| self.context.current(provider)),
        };
        match provider {
            None => self.engine.served_by(&step.ty, None),
            Some(Some(provider)) => self.engine.served_by(&step.ty, Some(provider)),
            Some(None) => Err(Refusal::new("its provider resource is not recorded")),
        }
    }

    /// Records the intent, and then calls the provider.
    fn call(&mut self, id: StepId, deletion: Option<Deletion>, intent: impl FnOnce(String) -> Intent) {
        let step = &self.plan.steps[id.0];
        let provider = match self.provider_for(id, deletion.as_ref().map(|(resource, _)| resource)) {
            Ok(provider) => provider,
            Err(Refusal { message, help, .. }) => {
                let problem = Diagnostic::error(Code::NO_PROVIDER, message);
                let problem = problem.at(step.source.clone(), 0, "declared here");
                self.fail(id, help.into_iter().fold(problem, Diagnostic::help));
                return;
            }
        };
        let (world, owners) = (self.engine.world.clone(), self.owners.clone());
        let mut intended = None;
        let begun = self.run.begin(|key| {
            let intent = intent(key);
            intended = Some(intent.operation());
            intent
        });
        let operation = intended.unwrap_or(Operation::Update);
        self.operations[id.0] = Some(operation);
        let (name, ty) = (step.name.clone(), step.ty.clone());
        (self.events)(Event::StepStarted { operation, name, ty });
        let options =
            step.node.and_then(|node| self.context.graph.node(node)).map(|node| &node.options.timeouts);
        let timeout = self.engine.operation_timeout(options, &provider, operation, &step.ty);
        self.calls.begin(id, self.provider_of(id));
        self.tasks.push(Box::pin(async move {
            let (receipt, intent) = match begun.receipt().await {
                Ok(begun) => begun,
                Err(error) => return TaskEvent::BeginFailed { step: id, error },
            };
            let op = receipt.op();
            let answer = call(&world, &owners, receipt, &provider, &intent, deletion, timeout).await;
            TaskEvent::Answered { step: id, op, intent: Box::new(intent), answer: Box::new(answer) }
        }));
    }
}

/// Returns the planned operation of a step; `None` if no provider is called.
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
