//! What is done in a play, one method an act.

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

use super::cast::Part;
use super::stage::Temper;
use super::store::Mood;
use super::{CALM, Company, Player, Weather};
use crate::operate::Declared;

/// How a process's command ended.
pub(super) struct Ended {
    /// Whether everything was done.
    pub outcome: Result<bool, JournalError>,
    pub trace: Vec<String>,
    /// The state that was planned on.
    pub base: Option<Arc<State>>,
    /// The planner would not.
    pub refused: bool,
}

impl Player {
    /// What `stead up` and `stead destroy` do.
    async fn run(&self, graph: &Graph, request: Request) -> Ended {
        let mut ended = Ended {
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
        ended: &mut Ended,
    ) -> Result<bool, JournalError> {
        let trace = &mut ended.trace;
        let request = match request.purpose {
            Purpose::Up => PlanRequest::up(request),
            Purpose::Destroy => PlanRequest::destroy(request),
        };
        let mut hears = |event| trace.extend(told(event));
        let declared = Declared(graph.clone());
        let proposal = match self.workspace.preview(&declared, request, &mut hears).await {
            Ok(proposal) => proposal,
            Err(OpError::Stack(error)) => return Err(error),
            Err(OpError::Plan(problems)) => {
                trace.extend(problems.into_iter().map(|problem| problem.message));
                ended.base = Some(self.workspace.stack.load().await?.state);
                ended.refused = true;
                return Ok(false);
            }
            Err(_) => return Ok(false),
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
        let mut hears = |event| trace.extend(told(event));
        match permitted.apply(watch::channel(Stop::No).1, &mut hears).await {
            Ok(report) => {
                report.closed?;
                Ok(report.result == RunResult::Succeeded)
            }
            Err(OpError::Stack(error)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// What `stead refresh` does.
    async fn refresh(&self) -> Ended {
        let trace = vec![format!("process {} refreshes", self.process.id)];
        let mut ended = Ended { outcome: Ok(false), trace, base: None, refused: false };
        ended.outcome = self.look_outside().await;
        ended
    }

    async fn look_outside(&self) -> Result<bool, JournalError> {
        self.edit(StateEdit::Refresh { selection: Selection::default() }).await
    }

    /// Returns whether the edit was applied.
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

    /// What `stead unlock` does, and then `stead up`.
    async fn relieve(&self, after: Duration, graph: &Graph) -> Ended {
        self.workspace.stack.world.clock.sleep(after).await;
        match self.edit(StateEdit::Unlock).await {
            Ok(_) => self.run(graph, up()).await,
            Err(error) => Ended { outcome: Err(error), trace: Vec::new(), base: None, refused: false },
        }
    }
}

fn up() -> Request {
    Request { moves: MovePolicy::Refuse, ..Request::default() }
}

fn told(event: OpEvent) -> Option<String> {
    match event {
        OpEvent::Run(event) => describe(&event),
        _ => None,
    }
}

/// A few words about what is worth reading in a trace.
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

impl Company {
    /// Tells the stage what is wanted now.
    fn declare(&mut self) -> Graph {
        let mut contents = self.stage.contents();
        for part in &mut self.cast.parts {
            // What was imported and is gone is made like any other.
            part.import.take_if(|id| !contents.objects.contains_key(id));
        }
        contents.declared = self.cast.parts.iter().map(|part| part.title.clone()).collect();
        self.cast.graph()
    }

    pub(super) async fn up(&mut self) -> Result<(), String> {
        let (graph, weather) = (self.declare(), self.weather());
        let player = self.player(weather);
        let ended = player.run(&graph, up()).await;
        self.leaves(&player, ended, weather).await
    }

    /// Whether everything was done.
    pub(super) async fn calm_up(&mut self) -> Result<bool, String> {
        let graph = self.declare();
        let player = self.player(CALM);
        let ended = player.run(&graph, up()).await;
        let done = matches!(ended.outcome, Ok(true));
        if let Err(error) = &ended.outcome {
            let lost = format!("in calm weather: {error:?}");
            self.leaves(&player, ended, CALM).await?;
            return Err(lost);
        }
        self.leaves(&player, ended, CALM).await?;
        Ok(done)
    }

    pub(super) async fn destroy(&mut self) -> Result<(), String> {
        self.stage.contents().declared.clear();
        let weather = self.weather();
        let player = self.player(weather);
        let ended = player.run(&Graph::default(), Purpose::Destroy.into()).await;
        self.leaves(&player, ended, weather).await
    }

    pub(super) async fn refresh(&mut self) -> Result<(), String> {
        let weather = self.weather();
        let player = self.player(weather);
        let ended = player.refresh().await;
        self.leaves(&player, ended, weather).await
    }

    /// A run for one thing alone: all that is recorded of the others stays as it is, to the letter.
    pub(super) async fn part(&mut self) -> Result<(), String> {
        let (graph, weather) = (self.declare(), self.weather());
        let Some(part) = self.chance.pick(&self.cast.parts).cloned() else { return Ok(()) };
        let player = self.player(weather);
        let selection = Selection { targets: vec![Glob::new(part.name.clone())], ..Selection::default() };
        let mut ended = player.run(&graph, Request { selection, ..up() }).await;
        let base = ended.base.take();
        self.leaves(&player, ended, weather).await?;
        let Some(base) = base else { return Ok(()) };
        let state = self.state().await?;
        for before in base.copies().filter(|resource| title(resource) != part.title) {
            if state.copy(&before.copy()) != Some(before) {
                return Err(format!("{} was not selected and is not what it was", before.name));
            }
        }
        let others = |state: &State| state.copies().filter(|copy| title(copy) != part.title).count();
        if others(&base) != others(&state) {
            return Err("something that was not selected is new on record".to_owned());
        }
        Ok(())
    }

    /// Another name, and back again: the things stay the same.
    pub(super) async fn rename(&mut self) -> Result<(), String> {
        if !self.calm_up().await? && !self.calm_up().await? {
            return Ok(());
        }
        let before = self.identities().await?;
        let Some(index) = self.chance.pick(&self.cast.parts).map(|part| part.title.clone()) else {
            return Ok(());
        };
        let Some(at) = self.cast.parts.iter().position(|part| part.title == index) else { return Ok(()) };
        let old = std::mem::replace(&mut self.cast.parts[at].name, format!("n{}", self.processes));
        self.cast.parts[at].aliases = vec![old.clone()];
        if self.chance.one_in(2) {
            // Another one says that it had this name too; only one of them had.
            let title = self.cast.new_title();
            let twin = Part {
                aliases: vec![old.clone()],
                name: title.clone(),
                from: None,
                import: None,
                title,
                ..self.cast.parts[at].clone()
            };
            self.cast.parts.push(twin);
        }
        self.same_things(&before).await?;
        if self.chance.one_in(2) {
            self.cast.parts[at].aliases.clear();
            self.same_things(&before).await?;
        }
        if self.chance.one_in(2) && self.cast.parts.iter().all(|part| part.name != old) {
            self.cast.parts[at].name = old;
            self.cast.parts.iter_mut().for_each(|part| part.aliases.clear());
            self.same_things(&before).await?;
        }
        Ok(())
    }

    async fn same_things(&mut self, before: &BTreeMap<String, PhysicalId>) -> Result<(), String> {
        if !self.calm_up().await? {
            return Err("a rename did not succeed in calm weather".to_owned());
        }
        let after = self.identities().await?;
        match before.iter().find(|(title, id)| after.get(*title) != Some(id)) {
            Some((title, _)) => Err(format!("{title} got another name, and is another thing now")),
            None => Ok(()),
        }
    }

    async fn identities(&mut self) -> Result<BTreeMap<String, PhysicalId>, String> {
        let state = self.state().await?;
        Ok(state.copies().filter_map(|copy| Some((title(copy), copy.id.clone()?))).collect())
    }

    /// Something that was made by hand becomes part of the stack.
    pub(super) async fn import(&mut self) -> Result<(), String> {
        let title = self.cast.new_title();
        let (id, name) = (format!("by-hand-{title}"), title.clone());
        let part = Part {
            name,
            title,
            size: 1,
            place: 0,
            from: None,
            aliases: Vec::new(),
            import: Some(id.clone()),
        };
        let mut made = part.inputs();
        made.insert("size".to_owned(), Value::from(7));
        self.stage.contents().objects.insert(id, made);
        self.cast.parts.push(part);
        self.up().await
    }

    /// One thing is one resource: what is on record already cannot be imported under another name.
    pub(super) async fn import_what_another_has(&mut self) -> Result<(), String> {
        let identities: Vec<(String, PhysicalId)> = self.identities().await?.into_iter().collect();
        let Some((of, id)) = self.chance.pick(&identities).cloned() else { return Ok(()) };
        let Some(inputs) = self.stage.contents().objects.get(id.as_str()).cloned() else { return Ok(()) };
        let place = inputs.get("place").and_then(Value::as_str).unwrap_or_default();
        let place = place.trim_start_matches('p').parse().unwrap_or(0);
        let title = self.cast.new_title();
        let (name, import) = (title.clone(), Some(id.as_str().to_owned()));
        self.cast.parts.push(Part { name, title, size: 1, place, from: None, aliases: Vec::new(), import });
        let graph = self.declare();
        let player = self.player(CALM);
        let ended = player.run(&graph, up()).await;
        self.cast.parts.pop();
        let (ready, refused) = (ended.base.is_some(), ended.refused);
        self.leaves(&player, ended, CALM).await?;
        self.look().await?;
        if ready && !refused { Err(format!("what {of} is was imported as another")) } else { Ok(()) }
    }

    /// The holder is slow; somebody takes the stack from it and goes on.
    pub(super) async fn relieve(&mut self) -> Result<(), String> {
        let graph = self.declare();
        let weather = Weather { mood: Mood::Slow, pace: 0, ..self.weather() };
        let first = Weather { temper: Temper::Good, ..weather };
        let second = Weather { mood: Mood::Good, temper: Temper::Good, ..weather };
        let (old, new) = (self.player(Weather { fate: CALM.fate, ..first }), self.player(second));
        let after = Duration::from_millis(self.chance.below(20_000));
        let (left, right) = tokio::join!(old.run(&graph, up()), new.relieve(after, &graph));
        self.leaves(&old, left, first).await?;
        self.leaves(&new, right, second).await
    }

    /// Two plan in the same moment, and neither knows of the other.
    pub(super) async fn race(&mut self) -> Result<(), String> {
        let (graph, weather) = (self.declare(), Weather { pace: 3_000, ..CALM });
        let (one, other) = (self.player(weather), self.player(weather));
        let after = Duration::from_millis(if self.chance.one_in(2) { self.chance.below(2_000) } else { 0 });
        let later = async {
            other.workspace.stack.world.clock.sleep(after).await;
            other.run(&graph, up()).await
        };
        let (left, right) = tokio::join!(one.run(&graph, up()), later);
        self.leaves(&one, left, weather).await?;
        self.leaves(&other, right, weather).await
    }

    /// A provider answers with an empty id: that never becomes part of the record.
    pub(super) async fn lie(&mut self) -> Result<(), String> {
        let (graph, weather) = (self.declare(), Weather { temper: Temper::Lying, ..CALM });
        let player = self.player(weather);
        let ended = player.run(&graph, up()).await;
        self.leaves(&player, ended, weather).await
    }
}

fn title(resource: &Resource) -> String {
    resource.inputs.get("title").and_then(Value::as_str).unwrap_or_default().to_owned()
}
