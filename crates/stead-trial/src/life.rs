//! One life: a program that changes, runs that crash, and in the end nothing lost.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use stead_engine::{Engine, Settled, Stack, Stop};
use stead_journal::{JournalError, Kept, StackKeys, Takeover};
use stead_model::{Event, Graph, Resource, RunResult};
use stead_plan::Purpose;
use stead_provider::Providers;
use stead_state::{Record, State};
use stead_store::FileStore;
use tokio::sync::watch;

use crate::fate::{Boundary, DISK_ERRORS, DiskFault, Extent, Fate};
use crate::process::Process;
use crate::program::Program;
use crate::{Blow, Chance, Cloud, Disk, oracle};

/// What happened in a life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Life {
    pub operations: usize,
    pub faults: usize,
    pub most_resources: usize,
    pub reached: Reached,
    /// Every event, in order: two lives from one seed are equal here.
    pub trace: Vec<String>,
}

/// Coverage marks: situations that a long trial must have seen.
pub type Reached = BTreeSet<String>;

/// How an attempt to run something ended.
enum Attempt {
    Succeeded,
    /// Something failed, was refused or died; the next attempt goes on.
    Unfinished,
}

/// Lives one life. `Err`: what was lost, with the trace that led there.
pub fn live(seed: u64) -> Result<Life, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut story = Story::new(seed);
    let outcome = runtime.block_on(story.live());
    outcome.map(|()| story.life.clone()).map_err(|lost| format!("seed {seed}: {lost}\n{}", story.trace()))
}

pub(crate) struct Story {
    chance: Chance,
    disk: Disk,
    cloud: Cloud,
    pub(crate) program: Program,
    life: Life,
    processes: u64,
    seen: BTreeSet<PathBuf>,
    /// Whether a death takes the power with it; drawn if not said.
    power: Option<bool>,
    /// What the last loss of power in the middle of a sync had to take.
    pub(crate) boundary: Option<Boundary>,
}

/// What goes wrong during one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub fate: Fate,
    /// One provider call in so many goes wrong; 0: none.
    pub cloud_faults: u64,
}

pub(crate) const CALM: Weather =
    Weather { fate: Fate { dies_at: None, disk_fault: None, power_cut: None }, cloud_faults: 0 };

impl Story {
    pub(crate) fn new(seed: u64) -> Story {
        let mut chance = Chance::new(seed);
        let program = Program::draw(&mut chance);
        Story {
            chance,
            disk: Disk::default(),
            cloud: Cloud::default(),
            program,
            life: Life::default(),
            processes: 0,
            seen: BTreeSet::new(),
            power: None,
            boundary: None,
        }
    }

    async fn live(&mut self) -> Result<(), String> {
        let operations = 4 + self.chance.below(9);
        for _ in 0..operations {
            let weather = self.weather();
            match self.chance.below(10) {
                0 => self.attempt("destroy", Purpose::Destroy, weather).await?,
                1 | 2 => {
                    self.meddle();
                    self.refresh(weather).await?
                }
                _ => self.attempt("up", Purpose::Up, weather).await?,
            };
            oracle::always(&self.disk, &self.cloud, &mut self.seen)?;
            if self.chance.one_in(2) {
                self.program.edit(&mut self.chance);
            }
        }
        self.come_to_rest().await
    }

    /// The last things that happened.
    pub(crate) fn trace(&self) -> String {
        let last: Vec<String> = self.life.trace.iter().rev().take(60).rev().cloned().collect();
        last.join("\n")
    }

    /// One `up` of the program as it is.
    pub(crate) async fn up(&mut self, weather: Weather) -> Result<(), String> {
        self.attempt("up", Purpose::Up, weather).await?;
        oracle::always(&self.disk, &self.cloud, &mut self.seen)
    }

    /// One `up` with a blow. `false`: it fell on nothing.
    pub(crate) async fn strike(&mut self, blow: Blow) -> Result<bool, String> {
        let before = self.life.faults;
        self.power = Some(matches!(blow, Blow::PowerLoss(_)));
        self.up(blow.weather()).await?;
        self.power = None;
        Ok(self.life.faults > before)
    }

    fn weather(&mut self) -> Weather {
        let fate = Fate {
            dies_at: self.chance.one_in(2).then(|| 1 + self.chance.below(60)),
            disk_fault: self.chance.one_in(4).then(|| self.disk_fault()),
            power_cut: None,
        };
        let cloud_faults = if self.chance.one_in(2) { 2 + self.chance.below(8) } else { 0 };
        Weather { fate, cloud_faults }
    }

    fn disk_fault(&mut self) -> DiskFault {
        let extents = [Extent::Once, Extent::Once, Extent::Store, Extent::Project, Extent::Disk];
        DiskFault {
            at: 1 + self.chance.below(120),
            kind: *self.chance.pick(&DISK_ERRORS).unwrap_or(&std::io::ErrorKind::Other),
            extent: *self.chance.pick(&extents).unwrap_or(&Extent::Once),
        }
    }

    /// In calm weather everything must settle within a few runs, and nothing may be missing.
    pub(crate) async fn come_to_rest(&mut self) -> Result<(), String> {
        self.refresh(CALM).await?;
        self.release().await?;
        for _ in 0..4 {
            // What was changed outside is seen only by who looks.
            self.refresh(CALM).await?;
            if let Attempt::Succeeded = self.attempt("up", Purpose::Up, CALM).await? {
                let state = self.state().await?;
                return oracle::at_rest(&state, &self.cloud, &self.program.graph());
            }
        }
        Err("four calm runs did not finish the work".to_owned())
    }

    /// To unprotect and to replace or remove are two runs: first every mark goes, then the last program comes.
    async fn release(&mut self) -> Result<(), String> {
        for (_, thing) in &mut self.program.things {
            thing.protected = false;
        }
        let (process, engine, stack) = self.process(CALM);
        let outcome = release(&engine, &stack).await;
        process.end(&self.disk);
        outcome.map_err(|error| format!("in calm weather: {error:?}"))
    }

    /// Somebody changes or removes something outside.
    fn meddle(&mut self) {
        let mut contents = self.cloud.contents();
        let ids: Vec<String> = contents
            .objects
            .iter()
            .filter(|(id, _)| !contents.is_protected(id))
            .map(|(id, _)| id.clone())
            .collect();
        let Some(id) = self.chance.pick(&ids) else { return };
        if self.chance.one_in(2) {
            for (id, _) in contents.remove(id) {
                contents.effects.remove(&id); // making it again is then no second one
            }
        } else if let Some(object) = contents.objects.get_mut(id) {
            object.inputs.insert("size".into(), stead_model::Value::from(99));
        }
        self.life.reached.insert("drift".to_owned());
    }

    fn process(&mut self, weather: Weather) -> (Process, Engine, Stack) {
        self.processes += 1;
        let process = Process::new(self.processes, weather.fate);
        let world = process.world(&self.disk, &mut self.chance);
        let connection = self.cloud.provider(process.clone(), self.chance.fork(), weather.cloud_faults);
        let parallel = 1 + self.chance.below(6) as usize;
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(connection)), parallel);
        let store = Arc::new(FileStore::new(world.clone(), PathBuf::from("/state")));
        let keys = StackKeys::new("shop", "dev", "sim");
        (process, engine, Stack { store, keys, world, claims: PathBuf::from("/claims") })
    }

    async fn state(&mut self) -> Result<State, String> {
        let (process, _, stack) = self.process(CALM);
        let loaded = stack.load().await.map_err(|error| error.to_string());
        process.end(&self.disk);
        Ok(loaded?.state)
    }

    async fn attempt(
        &mut self,
        command: &str,
        purpose: Purpose,
        weather: Weather,
    ) -> Result<Attempt, String> {
        let graph = match purpose {
            Purpose::Up => self.program.graph(),
            Purpose::Destroy => Graph::default(),
        };
        let (process, engine, stack) = self.process(weather);
        let mut trace = vec![format!("{command} of {} in {weather:?}", graph.nodes.len())];
        let outcome = self.plan_and_run(&engine, &stack, &graph, purpose, &mut trace).await;
        self.over(&process, command, weather, &mut trace, &outcome);
        self.life.trace.append(&mut trace);
        self.judge(outcome, weather)
    }

    async fn refresh(&mut self, weather: Weather) -> Result<Attempt, String> {
        let (process, engine, stack) = self.process(weather);
        let mut trace = vec![format!("refresh in {weather:?}")];
        let outcome = refresh(&engine, &stack, &mut trace).await;
        self.over(&process, "refresh", weather, &mut trace, &outcome);
        self.life.trace.append(&mut trace);
        self.judge(outcome, weather)
    }

    async fn plan_and_run(
        &mut self,
        engine: &Engine,
        stack: &Stack,
        graph: &Graph,
        purpose: Purpose,
        trace: &mut Vec<String>,
    ) -> Result<Attempt, JournalError> {
        let Some(loaded) = settled(engine, stack, trace).await? else { return Ok(Attempt::Unfinished) };
        let base = loaded.state;
        self.protect(&base);
        self.life.most_resources = self.life.most_resources.max(graph.nodes.len());
        let Ok(plan) = engine.plan(&base, graph, purpose).await else { return Ok(Attempt::Unfinished) };
        if plan.is_empty() {
            trace.push("nothing to do".to_owned());
            return Ok(Attempt::Succeeded);
        }
        let steps = plan.steps.iter().map(|step| {
            let what = serde_json::to_value(&step.action).unwrap_or_default();
            let after: Vec<String> = step.after.iter().map(|id| id.0.to_string()).collect();
            format!(
                "{} {} <- {}",
                what["action"].as_str().unwrap_or_default(),
                step.name.short(),
                after.join(" ")
            )
        });
        trace.push(format!("plan: {}", steps.collect::<Vec<_>>().join("; ")));
        let Ok(permitted) = engine.permit(&plan, &base, graph) else {
            self.life.reached.insert("guard refused".to_owned());
            trace.push("a guard refused".to_owned());
            return Ok(Attempt::Unfinished);
        };
        let run = stack.open("up", Some(loaded.version), Takeover::IfDead).await?;
        let (_keep, stop) = watch::channel(Stop::No);
        let mut on_event = |event| trace.push(describe(&event));
        let report = engine.execute(run, permitted, &base, graph, &mut on_event, stop).await;
        let result = report.result;
        let state = report.closed?.state;
        self.protect(&state);
        trace.push(format!("{result:?}"));
        Ok(if result == RunResult::Succeeded { Attempt::Succeeded } else { Attempt::Unfinished })
    }

    /// Tells the cloud which of its objects the recorded marks protect from now on.
    fn protect(&self, state: &State) {
        let mut contents = self.cloud.contents();
        for object in contents.objects.values_mut() {
            object.protected = false;
        }
        for resource in state.resources() {
            let id = resource.id.as_ref().map(|id| id.as_str()).unwrap_or_default();
            if let Some(object) = contents.objects.get_mut(id) {
                object.protected = resource.prevent_delete;
            }
        }
    }

    /// The process is gone, one way or another; sometimes the power with it.
    fn over<T>(
        &mut self,
        process: &Process,
        command: &str,
        weather: Weather,
        trace: &mut Vec<String>,
        outcome: &Result<T, JournalError>,
    ) {
        self.life.operations += 1;
        let died = *process.died_at.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        process.end(&self.disk);
        if let Some(point) = died {
            self.life.faults += 1;
            let power = self.power.unwrap_or_else(|| self.chance.one_in(2));
            self.boundary = *process.boundary.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match weather.fate.power_cut.filter(|_| self.boundary.is_some()) {
                Some(cut) => self.disk.lose_power_but(cut.survivors),
                None if power => self.disk.lose_power(&mut self.chance),
                None => {}
            }
            let how = if power { "lost power" } else { "killed" };
            self.life.reached.insert(format!("{command} {how} at {point}"));
            trace.push(format!("{how} at {point}"));
        }
        if let Err(error) = outcome {
            trace.push(format!("error: {error}"));
            if let JournalError::Unrecorded { answers, .. } = error {
                let kept = |kept: &Kept| if kept.place.is_some() { "kept" } else { "told" };
                self.life
                    .reached
                    .extend(answers.iter().map(|answer| format!("an answer was {}", kept(answer))));
            }
        }
        self.life.faults += usize::from(process.disk_failed());
        self.life.faults += usize::from(weather.cloud_faults > 0);
    }

    /// An error is fine if something was wrong with the world; in calm weather it is a loss.
    fn judge(&self, outcome: Result<Attempt, JournalError>, weather: Weather) -> Result<Attempt, String> {
        match outcome {
            Ok(attempt) => Ok(attempt),
            Err(JournalError::Unrecorded { cause, .. }) => self.judge(Err(*cause), weather),
            Err(
                error @ (JournalError::Integrity(_)
                | JournalError::WouldBreak(_)
                | JournalError::Replay { .. }
                | JournalError::BrokenChain { .. }
                | JournalError::Format { .. }
                | JournalError::Missing { .. }),
            ) => Err(format!("state is not sound: {error:?}")),
            Err(_) if weather.fate.can_end_it() => Ok(Attempt::Unfinished),
            Err(error) => Err(format!("in calm weather: {error:?}")),
        }
    }
}

async fn settled(
    engine: &Engine,
    stack: &Stack,
    trace: &mut Vec<String>,
) -> Result<Option<stead_journal::Loaded>, JournalError> {
    let mut on_event = |event| trace.push(describe(&event));
    Ok(match engine.settle(stack, &mut on_event).await? {
        Settled::Ready(loaded) => Some(*loaded),
        Settled::InDoubt(_) | Settled::Failed(_) => {
            trace.push("not settled".to_owned());
            None
        }
    })
}

async fn release(engine: &Engine, stack: &Stack) -> Result<(), JournalError> {
    let Some(loaded) = settled(engine, stack, &mut Vec::new()).await? else { return Ok(()) };
    let marked = loaded.state.copies().filter(|resource| resource.prevent_delete);
    let mut free: Vec<Resource> = marked.cloned().collect();
    free.sort_by(|a, b| a.place().cmp(&b.place()));
    let run = stack.open("unprotect", Some(loaded.version), Takeover::IfDead).await?;
    for resource in free {
        let resource = Box::new(Resource { prevent_delete: false, ..resource });
        run.submit(Record::Note { resource }).durable().await?;
    }
    run.close(RunResult::Succeeded).await?;
    Ok(())
}

async fn refresh(engine: &Engine, stack: &Stack, trace: &mut Vec<String>) -> Result<Attempt, JournalError> {
    let Some(loaded) = settled(engine, stack, trace).await? else { return Ok(Attempt::Unfinished) };
    let Ok(refreshed) = engine.refresh(&loaded.state).await else { return Ok(Attempt::Unfinished) };
    if refreshed.records.is_empty() {
        return Ok(Attempt::Succeeded);
    }
    let run = stack.open("refresh", Some(loaded.version), Takeover::IfDead).await?;
    for record in refreshed.records {
        run.submit(record).durable().await?;
    }
    run.close(RunResult::Succeeded).await?;
    trace.push(format!("{} drifted", refreshed.drift.len()));
    Ok(Attempt::Succeeded)
}

fn describe(event: &Event) -> String {
    match event {
        Event::StepStarted { operation, name, .. } => format!("{} {}", operation.verb(), name.short()),
        Event::StepEnded { operation, name, end, .. } => {
            let end = match end {
                stead_model::StepEnd::Done => "done".to_owned(),
                stead_model::StepEnd::Failed { .. } => "failed".to_owned(),
                stead_model::StepEnd::InDoubt { .. } => "in doubt".to_owned(),
                stead_model::StepEnd::Skipped { because } => format!("skipped: {because}"),
            };
            format!("{} {} {end}", operation.verb(), name.short())
        }
        Event::Recovering { operation, name } => format!("recover {} {}", operation.verb(), name.short()),
        Event::RunStarted { run, steps } => format!("{run} with {steps} steps"),
        Event::RunEnded { run, result } => format!("{run} {result:?}"),
        Event::StepRetried { operation, name, attempt, .. } => {
            format!("{} {} again: {attempt}", operation.verb(), name.short())
        }
        Event::Stopping { .. } => "stopping".to_owned(),
    }
}
