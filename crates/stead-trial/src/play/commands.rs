//! The commands of a play, one method each.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use stead_engine::Stop;
use stead_engine::ops::{OpError, OpEvent, PlanRequest, StateEdit, Wait};
use stead_journal::JournalError;
use stead_model::{Event, Graph, PhysicalId, Resource, RunResult, StepEnd, Value};
use stead_plan::{Glob, MovePolicy, Purpose, Request, Selection};
use stead_state::State;
use tokio::sync::watch;

use super::cloud::ProviderBehaviour;
use super::program::PlayResource;
use super::store::StoreBehaviour;
use super::{Actor, NO_FAULTS, PlayFaults, PlaySimulation, StoreKind};
use crate::life::operate::DeclaredGraph;

/// Result of a command.
pub(super) struct CommandEnd {
    /// True if everything was done.
    pub outcome: Result<bool, JournalError>,
    pub trace: Vec<String>,
    /// State on which the plan was based.
    pub base: Option<Arc<State>>,
    /// The planner refused.
    pub refused: bool,
}

impl Actor {
    /// Runs `up` or `destroy`.
    pub(super) async fn run(&self, graph: &Graph, request: Request) -> CommandEnd {
        let mut ended = CommandEnd {
            outcome: Ok(false),
            trace: vec![format!(
                "process {} {:?} {:?}",
                self.process.id, request.purpose, request.selection.targets
            )],
            base: None,
            refused: false,
        };
        ended.outcome = self.attempt(graph, request, &mut ended).await;
        ended
    }

    async fn attempt(
        &self,
        graph: &Graph,
        request: Request,
        ended: &mut CommandEnd,
    ) -> Result<bool, JournalError> {
        let trace = &mut ended.trace;
        let request = match request.purpose {
            Purpose::Up => PlanRequest::up(request),
            Purpose::Destroy => PlanRequest::destroy(request),
        };
        let mut on_event = |event| trace.extend(self.described(event));
        let declared = DeclaredGraph(graph.clone());
        let proposal = match self.workspace.preview(&declared, request, &mut on_event).await {
            Ok(proposal) => proposal,
            Err(OpError::Stack(error)) => return Err(error),
            Err(OpError::Plan(problems)) => {
                trace.extend(problems.into_iter().map(|problem| problem.message));
                ended.base = Some(self.workspace.stack.load().await?.state);
                ended.refused = true;
                return Ok(false);
            }
            Err(error) => {
                self.reports.report(|| format!("{error} {error:?}"));
                return Ok(false);
            }
        };
        let base = proposal.base();
        trace.push(format!("planned on {} resources, {} pending", base.len(), base.pending().count()));
        ended.base = Some(base.clone());
        let permitted = match proposal.permit() {
            Ok(permitted) => permitted,
            Err(refused) => {
                trace.push(format!("{refused:?}"));
                return Ok(false);
            }
        };
        let mut on_event = |event| trace.extend(self.described(event));
        match permitted.apply(watch::channel(Stop::No).1, &mut on_event).await {
            Ok(report) => {
                self.reports.report(|| serde_json::to_string(&report.problems).unwrap_or_default());
                report.closed?;
                Ok(report.result == RunResult::Succeeded)
            }
            Err(OpError::Stack(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Reports an event, and returns a short description of it for the trace.
    fn described(&self, event: OpEvent) -> Option<String> {
        let OpEvent::Run(event) = event else { return None };
        self.reports.report(|| serde_json::to_string(&event).unwrap_or_default());
        describe(&event)
    }

    /// Runs `refresh`.
    async fn refresh(&self) -> CommandEnd {
        let trace = vec![format!("process {} refreshes", self.process.id)];
        let mut ended = CommandEnd { outcome: Ok(false), trace, base: None, refused: false };
        ended.outcome = self.refresh_state().await;
        ended
    }

    async fn refresh_state(&self) -> Result<bool, JournalError> {
        self.edit(StateEdit::Refresh { selection: Selection::default() }).await
    }

    /// Applies an edit. Returns false if it was refused.
    async fn edit(&self, edit: StateEdit) -> Result<bool, JournalError> {
        let applied = async {
            let edit = self.workspace.edit(edit, Wait::No, &mut |_| ()).await?;
            edit.permit()?.apply(&mut |_| ()).await
        };
        match applied.await {
            Ok(_) => Ok(true),
            Err(OpError::Stack(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Runs `unlock`, and then `up`.
    async fn take_over(&self, after: Duration, graph: &Graph) -> CommandEnd {
        self.workspace.stack.world.clock.sleep(after).await;
        match self.edit(StateEdit::Unlock).await {
            Ok(_) => self.run(graph, up()).await,
            Err(error) => CommandEnd { outcome: Err(error), trace: Vec::new(), base: None, refused: false },
        }
    }
}

pub(super) fn up() -> Request {
    Request { moves: MovePolicy::Refuse, ..Request::default() }
}

/// Returns a short description of an event for the trace.
fn describe(event: &Event) -> Option<String> {
    Some(match event {
        Event::StepStarted { operation, name, .. } => format!("{} {}", operation.verb(), name.short()),
        Event::StepEnded { operation, name, end, .. } => {
            let end = match end {
                StepEnd::Done => "done",
                StepEnd::Failed { .. } => "failed",
                StepEnd::InDoubt { .. } => "in doubt",
                StepEnd::Skipped { .. } => "skipped",
            };
            format!("{} {} {end}", operation.verb(), name.short())
        }
        Event::Recovering { operation, name, .. } => format!("recover {} {}", operation.verb(), name.short()),
        _ => return None,
    })
}

impl PlaySimulation {
    /// Tells the cloud which resources are declared, and returns their graph.
    pub(super) fn declare(&mut self) -> Graph {
        let mut contents = self.cloud.contents();
        for resource in &mut self.program.resources {
            // An imported object that is gone is created like any other.
            resource.import.take_if(|id| !contents.objects.contains_key(id));
        }
        self.secrets.extend(self.program.resources.iter().filter_map(PlayResource::password));
        contents.declared = self.program.resources.iter().map(|resource| resource.title.clone()).collect();
        self.program.graph()
    }

    pub(super) async fn up(&mut self) -> Result<(), String> {
        let (graph, faults) = (self.declare(), self.draw_faults());
        let actor = self.actor(faults);
        let ended = actor.run(&graph, up()).await;
        self.end_process(&actor, ended, faults).await
    }

    /// Runs `up` without faults. Returns true if everything was done.
    pub(super) async fn up_without_faults(&mut self) -> Result<bool, String> {
        let graph = self.declare();
        let actor = self.actor(NO_FAULTS);
        let ended = actor.run(&graph, up()).await;
        let done = matches!(ended.outcome, Ok(true));
        if let Err(error) = &ended.outcome {
            let lost = format!("without faults: {error:?}");
            self.end_process(&actor, ended, NO_FAULTS).await?;
            return Err(lost);
        }
        self.end_process(&actor, ended, NO_FAULTS).await?;
        Ok(done)
    }

    pub(super) async fn destroy(&mut self) -> Result<(), String> {
        self.cloud.contents().declared.clear();
        let faults = self.draw_faults();
        let actor = self.actor(faults);
        let ended = actor.run(&Graph::default(), Purpose::Destroy.into()).await;
        self.end_process(&actor, ended, faults).await
    }

    pub(super) async fn refresh(&mut self) -> Result<(), String> {
        let faults = self.draw_faults();
        let actor = self.actor(faults);
        let ended = actor.refresh().await;
        self.end_process(&actor, ended, faults).await
    }

    /// Runs `up` for one resource: the records of all others stay unchanged.
    pub(super) async fn part(&mut self) -> Result<(), String> {
        let (graph, faults) = (self.declare(), self.draw_faults());
        let Some(resource) = self.rng.pick(&self.program.resources).cloned() else { return Ok(()) };
        let actor = self.actor(faults);
        let selection = Selection { targets: vec![Glob::new(resource.name.clone())], ..Selection::default() };
        let mut ended = actor.run(&graph, Request { selection, ..up() }).await;
        let base = ended.base.take();
        self.end_process(&actor, ended, faults).await?;
        let Some(base) = base else { return Ok(()) };
        let state = self.state().await?;
        for before in base.copies().filter(|copy| title(copy) != resource.title) {
            if state.copy(&before.copy()) != Some(before) {
                return Err(format!("{} was not selected, but changed", before.name));
            }
        }
        let others = |state: &State| state.copies().filter(|copy| title(copy) != resource.title).count();
        if others(&base) != others(&state) {
            return Err("an unselected resource is new in the state".to_owned());
        }
        Ok(())
    }

    /// Renames a resource, possibly back again: its object stays the same.
    pub(super) async fn rename(&mut self) -> Result<(), String> {
        if !self.up_without_faults().await? && !self.up_without_faults().await? {
            return Ok(());
        }
        let before = self.physical_ids().await?;
        let Some(index) = self.rng.pick(&self.program.resources).map(|resource| resource.title.clone())
        else {
            return Ok(());
        };
        let Some(at) = self.program.resources.iter().position(|resource| resource.title == index) else {
            return Ok(());
        };
        let old = std::mem::replace(&mut self.program.resources[at].name, format!("n{}", self.processes));
        self.program.resources[at].aliases = vec![old.clone()];
        if self.rng.one_in(2) {
            // Another resource declares the same alias; only one of them had that name.
            let title = self.program.new_title();
            let twin = PlayResource {
                aliases: vec![old.clone()],
                name: title.clone(),
                from: None,
                import: None,
                title,
                ..self.program.resources[at].clone()
            };
            self.program.resources.push(twin);
        }
        self.check_same_objects(&before).await?;
        if self.rng.one_in(2) {
            self.program.resources[at].aliases.clear();
            self.check_same_objects(&before).await?;
        }
        if self.rng.one_in(2) && self.program.resources.iter().all(|resource| resource.name != old) {
            self.program.resources[at].name = old;
            self.program.resources.iter_mut().for_each(|resource| resource.aliases.clear());
            self.check_same_objects(&before).await?;
        }
        Ok(())
    }

    async fn check_same_objects(&mut self, before: &BTreeMap<String, PhysicalId>) -> Result<(), String> {
        if !self.up_without_faults().await? {
            return Err("a rename failed without faults".to_owned());
        }
        let after = self.physical_ids().await?;
        match before.iter().find(|(title, id)| after.get(*title) != Some(id)) {
            Some((title, _)) => Err(format!("{title} was renamed, and is another object now")),
            None => Ok(()),
        }
    }

    async fn physical_ids(&mut self) -> Result<BTreeMap<String, PhysicalId>, String> {
        let state = self.state().await?;
        Ok(state.copies().filter_map(|copy| Some((title(copy), copy.id.clone()?))).collect())
    }

    /// Imports an object that was created by hand.
    pub(super) async fn import(&mut self) -> Result<(), String> {
        let mut resource = self.program.imported(String::new());
        let id = format!("by-hand-{}", resource.title);
        resource.import = Some(id.clone());
        let mut made = resource.inputs();
        made.insert("size".to_owned(), Value::from(7));
        self.cloud.contents().objects.insert(id, made);
        self.program.resources.push(resource);
        self.up().await
    }

    /// Tries to import an object that another resource manages, which must be refused.
    pub(super) async fn import_managed_object(&mut self) -> Result<(), String> {
        let physical_ids: Vec<(String, PhysicalId)> = self.physical_ids().await?.into_iter().collect();
        let Some((of, id)) = self.rng.pick(&physical_ids).cloned() else { return Ok(()) };
        let Some(inputs) = self.cloud.contents().objects.get(id.as_str()).cloned() else { return Ok(()) };
        let place = inputs.get("place").and_then(Value::as_str).unwrap_or_default();
        let place = place.trim_start_matches('p').parse().unwrap_or(0);
        let imported = self.program.imported(id.as_str().to_owned());
        self.program.resources.push(PlayResource { place, ..imported });
        let graph = self.declare();
        let actor = self.actor(NO_FAULTS);
        let ended = actor.run(&graph, up()).await;
        self.program.resources.pop();
        let (ready, refused) = (ended.base.is_some(), ended.refused);
        self.end_process(&actor, ended, NO_FAULTS).await?;
        self.check_state().await?;
        if ready && !refused {
            Err(format!("the object of {of} was imported as another resource"))
        } else {
            Ok(())
        }
    }

    /// Takes the stack over from a slow process.
    pub(super) async fn take_over(&mut self) -> Result<(), String> {
        let graph = self.declare();
        let faults = PlayFaults { store_behaviour: StoreBehaviour::Slow, pace: 0, ..self.draw_faults() };
        let first = PlayFaults { provider_behaviour: ProviderBehaviour::Good, ..faults };
        let second = PlayFaults {
            store_behaviour: StoreBehaviour::Good,
            provider_behaviour: ProviderBehaviour::Good,
            ..faults
        };
        let (old, new) = (self.actor(PlayFaults { process: NO_FAULTS.process, ..first }), self.actor(second));
        let after = Duration::from_millis(self.rng.below(20_000));
        let (left, right) = tokio::join!(old.run(&graph, up()), new.take_over(after, &graph));
        self.end_process(&old, left, first).await?;
        self.end_process(&new, right, second).await
    }

    /// Runs two processes that plan at the same time.
    pub(super) async fn race(&mut self) -> Result<(), String> {
        let (graph, faults) = (self.declare(), PlayFaults { pace: 3_000, ..NO_FAULTS });
        let (one, other) = (self.actor(faults), self.actor(faults));
        let after = Duration::from_millis(if self.rng.one_in(2) { self.rng.below(2_000) } else { 0 });
        let later = async {
            other.workspace.stack.world.clock.sleep(after).await;
            other.run(&graph, up()).await
        };
        let (left, right) = tokio::join!(one.run(&graph, up()), later);
        self.end_process(&one, left, faults).await?;
        self.end_process(&other, right, faults).await
    }

    /// Runs two processes: a batch of the first arrives while the second plans or opens its run.
    ///
    /// Files are written by the process itself, so that none of them arrives late.
    pub(super) async fn overtake_a_batch(&mut self) -> Result<(), String> {
        if matches!(self.store_kind, StoreKind::OnDisk) {
            return self.up().await;
        }
        let graph = self.declare();
        let late = Duration::from_millis(self.rng.below(10_000));
        let number = 1 + self.rng.below(6) as u32;
        let first = PlayFaults { store_behaviour: StoreBehaviour::Overtaken(number, late), ..NO_FAULTS };
        let second = PlayFaults { store_behaviour: StoreBehaviour::Slow, ..NO_FAULTS };
        for faults in [first, second] {
            let actor = self.actor(faults);
            let ended = actor.run(&graph, up()).await;
            self.end_process(&actor, ended, faults).await?;
        }
        Ok(())
    }

    /// Runs `up` with a provider that reports an empty id, which must never be recorded.
    pub(super) async fn up_with_lying_provider(&mut self) -> Result<(), String> {
        let (graph, faults) =
            (self.declare(), PlayFaults { provider_behaviour: ProviderBehaviour::Lying, ..NO_FAULTS });
        let actor = self.actor(faults);
        let ended = actor.run(&graph, up()).await;
        self.end_process(&actor, ended, faults).await
    }
}

fn title(resource: &Resource) -> String {
    resource.inputs.get("title").and_then(Value::as_str).unwrap_or_default().to_owned()
}
