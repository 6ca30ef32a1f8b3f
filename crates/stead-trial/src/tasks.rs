//! What a process can do to a stack, each as its command does it.

use std::pin::Pin;
use std::sync::PoisonError;

use stead_engine::{
    Doubtful, Engine, Pinning, Refreshed, Settled, Stop, Today, Word, awaited_targets, graph_of,
};
use stead_guard::pins::Orphans;
use stead_journal::{JournalError, Loaded, Run, Seen, Takeover, load_run, read_head};
use stead_model::{Event, Graph, Lifecycle, Limits, Name, PhysicalId, Resource, RunId, RunResult, StepEnd};
use stead_plan::{Action, Follow, Glob, Moves, Plan, Reach, Request, Selection, Why};
use stead_state::{Export, Intent, Kept, Origin, Pending, Record, State};
use tokio::sync::watch;

use crate::model::{Loss, loss};
use crate::program::Program;
use crate::script::Task;
use crate::stage::Actor;
use crate::watched::{Watched, describe, outline};

/// How an attempt to do something ended.
pub(crate) enum Attempt {
    Succeeded,
    /// Something failed, was refused or died; the next attempt goes on.
    Unfinished,
}

/// A plan that was kept, with what it was made on.
#[derive(Clone)]
pub(crate) struct Saved {
    version: Seen,
    graph: Graph,
    plan: Plan,
    /// The text of the pinfile, as it was then.
    pinfile: Option<String>,
}

/// Why an attempt has no end.
pub(crate) enum Failed {
    Journal(JournalError),
    Lost(Loss),
}

impl From<JournalError> for Failed {
    fn from(error: JournalError) -> Failed {
        Failed::Journal(error)
    }
}

pub(crate) type Ended = Result<Attempt, Failed>;

impl Actor {
    /// On the heap: it is large, and whoever awaits it is moved about.
    pub(crate) fn perform<'a>(
        &'a self,
        task: &'a Task,
        program: &'a Program,
        saved: &'a mut Option<Saved>,
    ) -> Pin<Box<dyn Future<Output = Ended> + 'a>> {
        Box::pin(self.does(task, program, saved))
    }

    async fn does(&self, task: &Task, program: &Program, saved: &mut Option<Saved>) -> Ended {
        match task {
            Task::Destroy => self.destroy().await,
            Task::Up | Task::FailFast => self.apply(program.graph(), Request::default(), Look::Records).await,
            Task::UpRefreshed => self.apply(program.graph(), Request::default(), Look::Changed).await,
            Task::UpLooking => {
                let request = Request { moves: Moves::Refuse, ..Request::default() };
                self.apply(program.graph(), request, Look::All).await
            }
            Task::UpPins => {
                let request = Request { moves: Moves::Refuse, ..Request::default() };
                self.apply_with(program.graph(), request, Look::All, Orphans::Remove).await
            }
            Task::PinsFollow => self.pins_follow(program).await,
            Task::Unpin(name) => self.unpin(program, name).await,
            Task::PinsRestore => {
                *saved = None;
                self.restore_pins().await
            }
            Task::Import(name, id) => self.import(program, name, id).await,
            Task::ToStack(name) => self.to_stack(program, name).await,
            Task::Miswrites(name) => self.miswrites(program, name).await,
            Task::UpMoves { accept } => {
                let moves = if *accept { Moves::Accept } else { Moves::Refuse };
                let request = Request { moves, ..Request::default() };
                self.apply(program.graph(), request, Look::Records).await
            }
            Task::Target(names, along) => {
                let reach = Reach { dependencies: Follow::from_flag(*along), ..Reach::default() };
                let targets = names.iter().map(Glob::new).collect();
                let selection = Selection { targets, reach, ..Selection::default() };
                self.apply(program.graph(), Request { selection, ..Request::default() }, Look::Records).await
            }
            Task::Exclude(names) => {
                let exclude = names.iter().map(Glob::new).collect();
                let selection = Selection { exclude, ..Selection::default() };
                self.apply(program.graph(), Request { selection, ..Request::default() }, Look::Records).await
            }
            Task::Plan => self.plan(program.graph(), saved).await,
            Task::UpSaved => self.up_saved(saved.take()).await,
            Task::Refresh => self.refresh().await,
            Task::Rename(from, to) => self.rename(program, from, to, Remember::OldName).await,
            Task::Move(from, to) => self.rename(program, from, to, Remember::Nothing).await,
            Task::Remove(name) => self.remove(program, name).await,
            Task::Reimport => self.reimport().await,
            Task::Rollback(back) => self.rollback(*back).await,
            Task::Resolve => self.resolve(Doubts::NobodyElseCanTell).await,
            Task::Unlock => self.unlock(Takeover::Always).await,
            Task::Wait => {
                self.waits().await?;
                self.apply(program.graph(), Request::default(), Look::Records).await
            }
        }
    }

    /// Opens the stack, and lets the witness know.
    pub(crate) async fn open(
        &self,
        command: &str,
        planned_on: Option<Seen>,
        takeover: Takeover,
    ) -> Result<Run, JournalError> {
        let run = self.stack.open(command, planned_on, takeover).await?;
        self.knows(&run.id());
        Ok(run)
    }

    fn knows(&self, run: &RunId) {
        if self.process.is_alive() {
            let number = run.as_str().trim_start_matches("run-").parse().unwrap_or_default();
            self.cloud.model().opened(self.process.id, number);
        }
    }

    pub(crate) async fn settled(&self) -> Result<Option<Loaded>, JournalError> {
        self.settled_for(None).await
    }

    /// What an earlier run left under way is finished first, by what is written today.
    async fn settled_for(&self, program: Option<&Graph>) -> Result<Option<Loaded>, JournalError> {
        let loaded = self.stack.load().await?;
        let pins = match Pinning::open(self.pins.clone(), Orphans::Refuse) {
            Ok(pinning) => pinning.standing(),
            Err(_) if loaded.state.pending().next().is_some() => {
                self.tape.say("not settled: the pinfile");
                return Ok(None);
            }
            Err(_) => Default::default(),
        };
        let mut on_event = |event| {
            match &event {
                Event::Recovering { run, .. } => self.knows(run),
                Event::StepEnded { end: StepEnd::Skipped { .. }, .. } => {
                    self.tape.reach("a deletion that was begun was not sent again");
                }
                _ => {}
            }
            self.tape.say(describe(&event));
        };
        self.keeps(&loaded.state, program);
        let today = Today { pins, program, ..Today::default() };
        let settled = self.engine.settle_loaded(&self.stack, loaded, &today, &mut on_event).await;
        self.cloud.model().kept.remove(&self.process.id);
        Ok(match settled? {
            Settled::Ready(loaded) => Some(*loaded),
            Settled::InDoubt(_) => {
                self.tape.reach("only a person could tell");
                self.tape.say("not settled");
                None
            }
            Settled::Failed(_) => {
                self.tape.say("not settled");
                None
            }
        })
    }

    async fn apply(&self, graph: Graph, request: Request, look: Look) -> Ended {
        self.apply_with(graph, request, look, Orphans::Refuse).await
    }

    async fn apply_with(&self, graph: Graph, request: Request, look: Look, orphans: Orphans) -> Ended {
        let Ok(pinning) = Pinning::open(self.pins.clone(), orphans) else {
            return self.refused("the pinfile");
        };
        self.cloud.model().reads_pinfile(self.process.id);
        let Some(loaded) = self.settled_for(Some(&graph)).await? else { return Ok(Attempt::Unfinished) };
        let Some((graph, engine)) = self.pinned(pinning, graph, &loaded.state, orphans) else {
            return self.refused("by the pins");
        };
        let Loaded { state, version, .. } = loaded;
        let mut base = Refreshed { state, drift: Vec::new(), records: Vec::new() };
        if look == Look::All {
            let Ok(refreshed) = engine.refresh(&base.state).await else {
                return self.refused("the look");
            };
            base = refreshed;
        }
        if look == Look::Changed {
            let Ok(plan) = engine.plan(&base.state, &graph, request.clone()).await else {
                return self.refused("the first plan");
            };
            let Ok(refreshed) = self.engine.refresh_touched(&base.state, &plan).await else {
                return self.refused("the look");
            };
            base = refreshed;
        }
        let plan = match engine.plan(&base.state, &graph, request).await {
            Ok(plan) => plan,
            Err(problems) => {
                self.tape.reach("a plan was refused");
                let first = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
                return self.refused(&format!("the plan: {first}"));
            }
        };
        self.carry_out(&engine, plan, graph, base, version).await
    }

    pub(crate) fn refused(&self, what: &str) -> Ended {
        self.tape.say(format!("refused: {what}"));
        Ok(Attempt::Unfinished)
    }

    /// Guards, run, and a look at whether it did what was planned.
    pub(crate) async fn carry_out(
        &self,
        engine: &Engine,
        plan: Plan,
        graph: Graph,
        base: Refreshed,
        version: Seen,
    ) -> Ended {
        let Refreshed { state: base, records, .. } = base;
        if plan.is_empty() && records.is_empty() {
            self.tape.say("nothing to do");
            return self.nothing_to_do(engine, &base, &graph);
        }
        self.tape.say(outline(&plan));
        if plan.looks_like_moves() {
            self.tape.reach("something looked like a move");
            return self.refused("it looks like a move");
        }
        self.cloud.model().learn(&base);
        self.holds_pins(&plan, &base, &graph);
        let permitted = match engine.permit(&plan, &base, &graph) {
            Ok(permitted) => permitted,
            Err(refusals) => {
                crate::marks::of_refusal(&refusals, &self.tape);
                return self.refused("by a guard");
            }
        };
        if engine.pinfile.as_ref().is_some_and(|pinned| pinned.still_the_same().is_err()) {
            return self.refused("the pinfile is another one by now");
        }
        crate::marks::of_plan(&plan, &base, &graph, &self.tape);
        self.lets_go(&plan, &base, &graph);
        for copy in plan.steps.iter().filter(|step| step.why == Why::Retained).filter_map(subject) {
            if let Some(id) = base.copy(copy).and_then(|resource| resource.id.as_ref()) {
                self.cloud.model().may_leave(id.as_str());
            }
        }
        let doomed = self.dooms(&plan, &base);
        let run = self.open("up", Some(version), Takeover::IfDead).await?;
        for record in records {
            run.submit(record).durable().await?;
        }
        let (stop, stopping) = watch::channel(Stop::No);
        let mut watched = Watched::new(self, stop);
        let mut on_event = |event| watched.see(event);
        let report = engine.execute(run, permitted, &base, &graph, &mut on_event, stopping).await;
        drop(doomed);
        let result = report.result;
        watched.is_planned(&plan, result)?;
        let closed = report.closed?;
        self.has_pinned(&closed.state, &graph, &plan, result, report.pinfile)?;
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(closed.state);
        self.tape.say(format!("{result:?}"));
        Ok(if result == RunResult::Succeeded { Attempt::Succeeded } else { Attempt::Unfinished })
    }

    async fn plan(&self, graph: Graph, saved: &mut Option<Saved>) -> Ended {
        let Loaded { state, version, .. } = self.stack.load().await?;
        if state.pending().next().is_some() {
            return self.refused("something is under way");
        }
        let Ok(pinning) = Pinning::open(self.pins.clone(), Orphans::Refuse) else {
            return self.refused("the pinfile");
        };
        let declared = graph.clone();
        let Ok((graph, pinned)) = pinning.settle(graph, &self.engine.catalog, Some(&state)) else {
            return self.refused("by the pins");
        };
        let Ok(plan) = self.engine.plan(&state, &graph, Request::default()).await else {
            return self.refused("the plan");
        };
        *saved = Some(Saved { version, graph: declared, plan, pinfile: pinned.text() });
        Ok(Attempt::Succeeded)
    }

    async fn up_saved(&self, saved: Option<Saved>) -> Ended {
        let Some(Saved { version, graph, plan, pinfile }) = saved else { return Ok(Attempt::Unfinished) };
        let Some(loaded) = self.settled().await? else { return Ok(Attempt::Unfinished) };
        if loaded.version != version {
            self.tape.reach("a saved plan was too old");
            return self.refused("the plan is too old");
        }
        let (orphans, place) = (Orphans::Refuse, self.pins.clone());
        let Ok(pinning) = Pinning::of_saved(place, &self.pins.main, pinfile.as_deref(), orphans) else {
            return self.refused("the pinfile");
        };
        let Some((graph, engine)) = self.pinned(pinning, graph, &loaded.state, orphans) else {
            return self.refused("by the pins");
        };
        let Ok(again) = engine.plan(&loaded.state, &graph, Request::default()).await else {
            return Err(Failed::Lost(loss(
                "a plan equals what then runs",
                "a saved plan cannot be made again",
            )));
        };
        if again != plan {
            return Err(Failed::Lost(loss(
                "a plan equals what then runs",
                "a saved plan is another one now",
            )));
        }
        self.cloud.model().reads_pinfile(self.process.id);
        if engine.pinfile.as_ref().is_some_and(|pinned| pinned.still_the_same().is_err()) {
            return self.refused("the pinfile is another one by now");
        }
        self.tape.reach("a saved plan was carried out");
        let base = Refreshed { state: loaded.state, drift: Vec::new(), records: Vec::new() };
        self.carry_out(&engine, plan, graph, base, version).await
    }

    async fn refresh(&self) -> Ended {
        let Some(loaded) = self.settled().await? else { return Ok(Attempt::Unfinished) };
        let Ok(refreshed) = self.engine.refresh(&loaded.state).await else { return self.refused("the look") };
        if refreshed.records.is_empty() {
            return Ok(Attempt::Succeeded);
        }
        self.tape.reach("drift");
        let run = self.open("refresh", Some(loaded.version), Takeover::IfDead).await?;
        for record in refreshed.records {
            run.submit(record).durable().await?;
        }
        run.close(RunResult::Succeeded).await?;
        self.tape.say(format!("{} drifted", refreshed.drift.len()));
        Ok(Attempt::Succeeded)
    }

    /// Waits for whoever has the stack, and for whoever has one that this one needs.
    pub(crate) async fn waits(&self) -> Result<(), Failed> {
        if self.stack.wait(&mut |_| ()).await? == Takeover::Always {
            self.tape.reach("a holder without a sign of life was taken over");
            self.unlock(Takeover::Always).await?;
        }
        for target in awaited_targets(&self.stack).await? {
            if target.wait(&mut |_| ()).await? == Takeover::Always {
                self.tape.reach("the holder of another stack was taken over");
                target.open("unlock", None, Takeover::Always).await?.close(RunResult::Succeeded).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn unlock(&self, takeover: Takeover) -> Ended {
        let Some((head, _)) = read_head(&self.stack.store, &self.stack.keys).await? else {
            return Ok(Attempt::Succeeded);
        };
        if head.owner.is_none() {
            return Ok(Attempt::Succeeded);
        }
        let run = self.open("unlock", None, takeover).await?;
        crate::marks::of_takeover(run.base(), &self.tape);
        run.close(RunResult::Succeeded).await?;
        Ok(Attempt::Succeeded)
    }

    async fn rename(&self, program: &Program, from: &str, to: &str, remember: Remember) -> Ended {
        let Some(loaded) = self.settled().await? else { return Ok(Attempt::Unfinished) };
        let Some(old) = found(&loaded.state, program, from) else { return self.refused("no such resource") };
        let new = crate::program::name(old.resource.clone(), Some(to.to_owned()));
        if loaded.state.by_name(&new).is_some() {
            return self.refused("the name is taken");
        }
        let state = &loaded.state;
        let records: Vec<Record> = match remember {
            Remember::OldName => vec![renamed(state, old, &new)],
            Remember::Nothing => {
                state.copies_of(&old.uid).map(|copy| Resource { name: new.clone(), ..copy.clone() }).collect()
            }
        }
        .into_iter()
        .map(|resource| Record::Note { resource: Box::new(resource) })
        .collect();
        let run = self.open("rename", Some(loaded.version), Takeover::IfDead).await?;
        for record in records {
            run.submit(record).durable().await?;
        }
        run.close(RunResult::Succeeded).await?;
        Ok(Attempt::Succeeded)
    }

    async fn remove(&self, program: &Program, name: &str) -> Ended {
        let Some(loaded) = self.settled().await? else { return Ok(Attempt::Unfinished) };
        let Some(resource) = found(&loaded.state, program, name) else {
            return self.refused("no such resource");
        };
        let needs_it = |other: &Resource| {
            let mut needs = other.dependencies.iter().chain(&other.ties.provider);
            other.uid != resource.uid && needs.any(|copy| copy.uid == resource.uid)
        };
        if resource.prevents_deletion() || resource.pinned || loaded.state.copies().any(needs_it) {
            return self.refused("it is protected or needed");
        }
        let copies: Vec<&Resource> = loaded.state.copies_of(&resource.uid).collect();
        for id in copies.iter().filter_map(|copy| copy.id.as_ref()) {
            self.cloud.model().may_leave(id.as_str());
        }
        let copies: Vec<_> = copies.into_iter().map(Resource::copy).collect();
        let run = self.open("state rm", Some(loaded.version), Takeover::IfDead).await?;
        let kept = Some(Box::new(Kept { run: run.id(), source: None }));
        for copy in copies {
            run.submit(Record::Forget { copy, kept: kept.clone() }).durable().await?;
        }
        run.close(RunResult::Succeeded).await?;
        Ok(Attempt::Succeeded)
    }

    /// Out as a file, and in again.
    async fn reimport(&self) -> Ended {
        let Some(loaded) = self.settled().await? else { return Ok(Attempt::Unfinished) };
        let text = |text: &str| text.to_owned();
        let origin =
            Origin { stead: text("0"), project: text("shop"), environment: text("dev"), target: text("sim") };
        let bytes = serde_json::to_vec(&Export::new(origin, loaded.state.snapshot(None))).unwrap_or_default();
        let read = match Export::decode(&bytes, &Limits::default().of_state()) {
            Ok(export) => export.into_snapshot(),
            Err(error) => return Err(Failed::Lost(loss("an export can be imported", error.to_string()))),
        };
        let run = self.open("stack import", Some(loaded.version), Takeover::IfDead).await?;
        run.close_with(read).await?;
        Ok(Attempt::Succeeded)
    }

    async fn rollback(&self, back: u64) -> Ended {
        let Ok(pinning) = Pinning::open(self.pins.clone(), Orphans::Refuse) else {
            return self.refused("the pinfile");
        };
        let Some(loaded) = self.settled().await? else { return Ok(Attempt::Unfinished) };
        let epoch = loaded.head.as_ref().map_or(0, |head| head.epoch.0);
        let run = RunId(format!("run-{}", epoch.saturating_sub(back)));
        let Some(snapshot) = load_run(&self.stack.store, &self.stack.keys, &run).await? else {
            return self.refused("there is no such run");
        };
        let request = Request { moves: Moves::Refuse, ..Request::default() };
        let graph = graph_of(&snapshot);
        let Ok(plan) = self.engine.plan(&loaded.state, &graph, request).await else {
            return self.refused("the plan");
        };
        self.tape.reach("a rollback");
        let base = Refreshed { state: loaded.state, drift: Vec::new(), records: Vec::new() };
        self.carry_out(&self.engine.clone().with_pins(pinning.standing()), plan, graph, base, loaded.version)
            .await
    }

    /// Looks at the cloud, and tells what became of operations in doubt.
    pub(crate) async fn resolve(&self, doubts: Doubts) -> Ended {
        let chosen = |state: &State| -> Vec<Pending> {
            match doubts {
                Doubts::All => state.pending().cloned().collect(),
                Doubts::NobodyElseCanTell => {
                    let (_, doubtful) = self.engine.triage(state);
                    doubtful.into_iter().map(|Doubtful { pending, .. }| pending).collect()
                }
            }
        };
        if chosen(&self.stack.load().await?.state).is_empty() {
            return Ok(Attempt::Succeeded);
        }
        let run = self.open("state resolve", None, Takeover::IfDead).await?;
        for pending in chosen(run.base()) {
            let word = self.truth(run.base(), &pending.intent);
            let Ok(records) = self.engine.answered(run.base(), &pending, &word).await else {
                self.tape.say("refused: the answer");
                continue;
            };
            self.tape.reach("a person settled a doubt");
            run.submit_together(records).durable().await?;
        }
        run.close(RunResult::Succeeded).await?;
        Ok(Attempt::Succeeded)
    }

    /// What a person sees who looks at the cloud.
    fn truth(&self, state: &State, intent: &Intent) -> Word {
        let model = self.cloud.model();
        let thing = |resource: &Resource| model.things.get(resource.id.as_ref()?.as_str());
        let created = |key: &str| model.made(key).filter(|id| model.things.contains_key(*id));
        let done = match intent {
            Intent::Create { key, .. } => {
                return created(key).map_or(Word::DidNotHappen, |id| Word::Created(PhysicalId(id.clone())));
            }
            Intent::Update { resource, .. } => {
                thing(resource).is_some_and(|thing| thing.inputs == resource.inputs)
            }
            Intent::Delete { copy, .. } => state.copy(copy).and_then(thing).is_none(),
        };
        if done { Word::Done } else { Word::DidNotHappen }
    }
}

/// What to look at before planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Records,
    Changed,
    All,
}

/// Which doubts a person settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubts {
    NobodyElseCanTell,
    All,
}

/// What a rename keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remember {
    OldName,
    Nothing,
}

pub(crate) fn found<'a>(state: &'a State, program: &Program, wanted: &str) -> Option<&'a Resource> {
    let at = program.position(wanted)?;
    let name: &Name = &program.graph().nodes.get(at)?.name.clone();
    state.by_name(name).filter(|resource| resource.lifecycle == Lifecycle::Live)
}

fn renamed(state: &State, resource: &Resource, to: &Name) -> Resource {
    let mut record = Resource { name: to.clone(), ..resource.clone() };
    let taken =
        state.copies().any(|copy| copy.uid != resource.uid && copy.ties.aliases.contains(&resource.name));
    let aliases = &mut record.ties.aliases;
    if !taken {
        aliases.push(resource.name.clone());
    }
    aliases.retain(|alias| alias != to);
    aliases.sort_unstable();
    aliases.dedup();
    record
}

/// The copy that a step is about.
fn subject(step: &stead_plan::Step) -> Option<&stead_model::CopyRef> {
    match &step.action {
        Action::Forget { copy, .. } | Action::Delete { copy, .. } => Some(copy),
        _ => None,
    }
}
