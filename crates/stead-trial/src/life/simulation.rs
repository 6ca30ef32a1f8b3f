//! Runs a life: applies the script round by round, checks the oracles after each, and finally checks that the stack
//! converges.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use stead_journal::{JournalError, UnrecordedAnswer};
use stead_model::{Environment, Node, Value};
use stead_state::State;

use crate::Rng;
use crate::faults::plan::FaultPlan;
use crate::faults::process_faults::SyncBoundary;
use crate::life::amend::{OTHER, other_stack};
use crate::life::branches::OtherBranch;
use crate::life::concurrency::run_concurrently;
use crate::life::edit::Edit;
use crate::life::initial_stack::InitialStack;
use crate::life::operate::{Attempt, CommandError, SavedPlan};
use crate::life::program::{DeclaredResource, Program, ResourceFlag};
use crate::life::script::{Command, OutsideChange, Round, Script, StoreKind};
use crate::oracle::model::{Violation, violation};
use crate::oracle::pins;
use crate::oracle::snapshots;
use crate::world::cloud::outputs;
use crate::world::process::{time_passes, within};
use crate::world::site::{Actor, Machine, SimulatedSite};

/// Virtual time limit of a round, more than any round takes.
const ROUND_TIME_LIMIT: Duration = Duration::from_secs(2 * 3600);

/// One round in this number checks the state at each provider call, which takes as long as all other rounds together.
const ROUNDS_PER_WATCHED_ONE: u64 = 16;

/// Report of a life that passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LifeReport {
    pub operations: usize,
    pub faults: usize,
    pub most_resources: usize,
    pub reached: BTreeSet<String>,
    /// Every event in order: two lives from one seed have equal traces.
    pub trace: Vec<String>,
}

/// A life that violated an oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedLife {
    pub violation: Violation,
    /// The last events.
    pub trace: String,
}

impl std::fmt::Display for FailedLife {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}\n{}", self.violation.oracle, self.violation.detail, self.trace)
    }
}

/// Runs the life of a seed. Returns the violation, with the trace that led to it.
pub fn run_seed(seed: u64) -> Result<LifeReport, String> {
    run_script(&Script::draw(seed, None)).map_err(|failed| format!("seed {seed}: {failed}"))
}

/// Runs a script.
pub fn run_script(script: &Script) -> Result<LifeReport, Box<FailedLife>> {
    let mut simulation = Simulation::new(script.store_kind, script.program.clone());
    let secrets = script.secrets();
    if !secrets.is_empty() {
        simulation.site.keep_everything();
    }
    let outcome = on_runtime(async {
        if let Some(start) = &script.start {
            simulation.load_initial_stack(start).await?;
        }
        for round in &script.rounds {
            simulation.run_round(round).await?;
        }
        simulation.converge().await?;
        simulation.site.check_leaks(&secrets)
    });
    match outcome {
        Ok(()) => Ok(simulation.life()),
        Err(violation) => Err(Box::new(FailedLife { violation, trace: simulation.trace() })),
    }
}

/// Runs a future on a single thread in virtual time.
pub(crate) fn on_runtime<T>(work: impl Future<Output = Result<T, Violation>>) -> Result<T, Violation> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    match runtime {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => Err(violation("the runtime starts", error.to_string())),
    }
}

/// A running life: the simulated site, the current program, and the counts for the report.
pub(crate) struct Simulation {
    pub(crate) site: SimulatedSite,
    pub(crate) program: Program,
    rng: Rng,
    saved: Option<SavedPlan>,
    operations: usize,
    most_resources: usize,
    /// Unsynced work at the last power cut.
    pub(crate) boundary: Option<SyncBoundary>,
    /// A resource was moved to another stack, or was about to be.
    uses_other: bool,
    /// The stack was renamed, or was about to be.
    renames: bool,
    /// A resource was pinned at some time.
    pub(super) pins: bool,
    /// The branch of the project that is not checked out, once people switched.
    pub(super) branch: Option<OtherBranch>,
}

impl Simulation {
    pub(crate) fn new(store_kind: StoreKind, program: Program) -> Simulation {
        Simulation {
            site: SimulatedSite::new(store_kind),
            program,
            rng: Rng::new(0),
            saved: None,
            operations: 0,
            most_resources: 0,
            boundary: None,
            uses_other: false,
            renames: false,
            pins: false,
            branch: None,
        }
    }

    async fn load_initial_stack(&mut self, start: &InitialStack) -> Result<(), Violation> {
        let actor = self.actor_without_faults();
        let imported = actor.import_initial_stack(start).await;
        actor.process.end(&self.site.disk);
        self.pins |= start.program.resources.iter().any(|(_, resource)| resource.is(ResourceFlag::Pinned));
        self.without_journal_errors(imported.map(|()| Attempt::Succeeded))?;
        self.check_idle_state().await.map(drop)
    }

    fn life(self) -> LifeReport {
        let mut written = self.site.trace.entries();
        LifeReport {
            operations: self.operations,
            faults: written.faults,
            most_resources: self.most_resources,
            reached: std::mem::take(&mut written.reached),
            trace: std::mem::take(&mut written.lines),
        }
    }

    /// Returns the last events.
    pub(crate) fn trace(&self) -> String {
        let written = self.site.trace.entries();
        let first = written.lines.len().saturating_sub(80);
        written.lines[first..].join("\n")
    }

    pub(crate) async fn run_round(&mut self, round: &Round) -> Result<(), Violation> {
        self.rng = Rng::new(round.seed);
        // People wait between commands, and delayed effects arrive.
        time_passes(Duration::from_secs(4)).await;
        for edit in &round.edits {
            self.program.apply(edit);
        }
        if let Some(outside) = round.outside {
            self.change_pinfile(outside).await?;
            self.apply_outside_change(outside);
        }
        self.pins |= self.program.resources.iter().any(|(_, resource)| resource.is(ResourceFlag::Pinned));
        self.most_resources = self.most_resources.max(self.program.resources.len());
        let (first, rivals) = self.start_actors(round);
        let mut saved = self.saved.take();
        let turns =
            run_concurrently(&first, &rivals, &round.rivals, &self.program, &round.command, &mut saved);
        let attempts = within(ROUND_TIME_LIMIT, turns).await;
        let attempts = attempts.ok_or_else(|| violation("every command ends", "a process waits for ever"))?;
        self.saved = saved;
        let actors: Vec<&Actor> = std::iter::once(&first).chain(&rivals).collect();
        self.end_processes(&actors, &attempts)?;
        let commands = std::iter::once(&round.command).chain(round.rivals.iter().map(|rival| &rival.command));
        for (command, attempt) in commands.zip(&attempts) {
            self.update_program_after(command, attempt);
        }
        pins::listed(&self.site.disk)?;
        let left = first.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        let undisturbed = rivals.is_empty() && first.process.died_at().is_none() && !self.uses_other;
        match left.filter(|_| undisturbed) {
            // The reported state is compared now; the next command reads the stored state and compares it as well.
            Some(state) => {
                snapshots::check(&self.site.disk, snapshots::SnapshotScope::AllButTheLast)?;
                self.site.cloud.model().check_idle(&state)
            }
            None => self.check_idle_state().await.map(drop),
        }
    }

    /// Edits the program as people do after a command, for example after a rename.
    fn update_program_after(&mut self, command: &Command, attempt: &Result<Attempt, CommandError>) {
        match command {
            Command::Rename(from, to) | Command::Move(from, to) => {
                let (from, to) = (from.clone(), to.clone());
                self.program.apply(&Edit::Rename { from, to, alias: false });
            }
            Command::Import(name, id) if matches!(attempt, Ok(Attempt::Succeeded)) => {
                let size = match self.site.cloud.model().objects.get(id) {
                    Some(object) => object.inputs.get("size").and_then(Value::as_i64).unwrap_or_default(),
                    None => 0,
                };
                self.program.apply(&Edit::Add(
                    name.clone(),
                    DeclaredResource { size, ..DeclaredResource::default() },
                ));
            }
            Command::ToStack(_) => self.uses_other = true,
            Command::RenameStack => self.renames = true,
            _ => {}
        }
    }

    /// Checks that a moved resource is in exactly one of the two stacks, and removes it from the program.
    async fn check_other_stack(&mut self, state: &State) -> Result<(), Violation> {
        let actor = self.actor_without_faults();
        let loaded = other_stack(&actor.workspace.stack).load().await;
        actor.process.end(&self.site.disk);
        let other_state = loaded.map_err(|error| violation("state is sound", format!("{error:?}")))?.state;
        for copy in other_state.copies() {
            if state.copies_of(&copy.uid).next().is_some() && !state.transfers().is_departing(&copy.uid) {
                let detail = format!("{} is in both stacks", copy.name);
                return Err(violation("a resource is in one stack", detail));
            }
        }
        let ids = other_state.copies().filter_map(|copy| copy.id.as_ref());
        self.site.cloud.model().elsewhere = ids.map(|id| id.as_str().to_owned()).collect();
        let environment = Environment::new(OTHER);
        let gone = |node: &Node| {
            let left = other_state.by_name(&node.name.in_environment(&environment)).is_some();
            left && state.by_name(&node.name).is_none()
        };
        let graph = self.program.graph();
        let names = self.program.resources.iter().map(|(name, _)| name.clone());
        let left: Vec<String> =
            names.zip(&graph.nodes).filter(|(_, node)| gone(node)).map(|(name, _)| name).collect();
        left.into_iter().for_each(|name| self.program.apply(&Edit::Remove(name)));
        Ok(())
    }

    /// Starts the processes of a round.
    fn start_actors(&mut self, round: &Round) -> (Actor, Vec<Actor>) {
        let trace = self.site.trace.clone();
        trace.log(format!(
            "{:?} with {} resources and {:?}",
            round.command,
            self.program.resources.len(),
            round.fault_plan
        ));
        let first = self.site.actor(&round.fault_plan, &mut self.rng, Machine::Same);
        if round.rivals.is_empty() {
            first.process.wake(); // no rival wakes it later
        }
        self.site.cloud.model().watched =
            round.seed.is_multiple_of(ROUNDS_PER_WATCHED_ONE) && round.rivals.is_empty() && !self.uses_other;
        self.operations += 1 + round.rivals.len();
        let mut rivals = Vec::new();
        for rival in &round.rivals {
            let place = if rival.elsewhere { Machine::Other } else { Machine::Same };
            trace.log(format!(
                "rival {:?} after {} crash points with {:?}",
                rival.command, rival.after, rival.fault_plan
            ));
            rivals.push(self.site.actor(&rival.fault_plan, &mut self.rng, place));
        }
        rivals.last().into_iter().for_each(|last| last.process.wake());
        (first, rivals)
    }

    /// Ends all processes, and cuts the power if one of them died of a power loss.
    fn end_processes(
        &mut self,
        actors: &[&Actor],
        attempts: &[Result<Attempt, CommandError>],
    ) -> Result<(), Violation> {
        let trace = self.site.trace.clone();
        let mut power = None;
        for actor in actors {
            let process = &actor.process;
            let died = process.died_at();
            let fault_seen = usize::from(process.saw_fault());
            process.end(&self.site.disk);
            if let Some(point) = died {
                self.boundary = process.boundary();
                let how =
                    if process.faults.power || self.boundary.is_some() { "lost power" } else { "killed" };
                trace.mark(format!("{how} at {point}"));
                trace.log(format!("{how} at {point}"));
                if how == "lost power" {
                    power = Some(process.faults.power_cut.filter(|_| self.boundary.is_some()));
                }
            }
            if process.clock_jumped() {
                trace.mark("the wall clock jumped");
            }
            let mut written = trace.entries();
            written.faults += usize::from(died.is_some()) + fault_seen;
            written.points.extend(process.passed());
        }
        match power {
            Some(Some(cut)) => self.site.disk.lose_power_but(cut.survivors),
            Some(None) => self.site.disk.lose_power(&mut self.rng),
            None => {}
        }
        if actors.len() > 2 {
            trace.mark("a third writer");
        }
        let rivalry = actors.len() > 1;
        for (actor, attempt) in actors.iter().zip(attempts) {
            self.judge_error(actor, attempt, rivalry)?;
        }
        Ok(())
    }

    /// Accepts an error that a fault can explain. Without faults an error is a violation.
    fn judge_error(
        &self,
        actor: &Actor,
        attempt: &Result<Attempt, CommandError>,
        rivalry: bool,
    ) -> Result<(), Violation> {
        let error = match attempt {
            Ok(_) => return Ok(()),
            Err(CommandError::Violation(violation)) => return Err(violation.clone()),
            Err(CommandError::Journal(error)) => error,
        };
        let trace = &self.site.trace;
        trace.log(format!("error: {error}"));
        trace.report(|| format!("{error} {error:?}"));
        let mut cause = error;
        if let JournalError::Unrecorded { answers, cause: inner } = error {
            let end = |answer: &UnrecordedAnswer| {
                if answer.location.is_some() { "spooled" } else { "only reported" }
            };
            for answer in answers {
                trace.mark(format!("an unrecorded answer was {}", end(answer)));
                trace.report(|| String::from_utf8_lossy(&answer.answer.encode()).into_owned());
            }
            cause = inner;
        }
        match cause {
            JournalError::Integrity(_)
            | JournalError::RecordRefused(_)
            | JournalError::Replay { .. }
            | JournalError::HeadMissing { .. }
            | JournalError::JournalGap { .. }
            | JournalError::BrokenChain { .. }
            | JournalError::Format { .. }
            | JournalError::Missing { .. } => Err(violation("state is sound", format!("{cause:?}"))),
            JournalError::Fenced | JournalError::StateChanged
                if !rivalry && !actor.fault_plan.can_fail_a_run() =>
            {
                Err(violation("a process without rivals is not fenced", format!("{cause:?}")))
            }
            JournalError::Fenced => {
                trace.mark("a fenced writer woke up");
                Ok(())
            }
            // All other processes have ended, which is visible on the machine of the holder.
            JournalError::Held(owner) | JournalError::OtherStackHeld { owner, .. }
                if !rivalry && owner.host == actor.process.host && !actor.process.saw_fault() =>
            {
                Err(violation("a dead process of this machine holds no lock", format!("{owner:?}")))
            }
            JournalError::Held(_) | JournalError::OtherStackHeld { .. } | JournalError::StateChanged => {
                Ok(())
            }
            // A late request of the act before has renamed the stack, which is found before the next act.
            JournalError::Renamed { .. } if self.renames => Ok(()),
            _ if rivalry || actor.fault_plan.can_fail_a_run() => Ok(()),
            error => Err(violation("runs without faults succeed", format!("{error:?}"))),
        }
    }

    /// Checks the recorded state while no process runs.
    pub(super) async fn check_idle_state(&mut self) -> Result<Arc<State>, Violation> {
        snapshots::check(&self.site.disk, snapshots::SnapshotScope::AllButTheLast)?;
        let state = self.load_state().await?;
        if self.uses_other {
            self.check_other_stack(&state).await?;
        }
        self.site.cloud.model().check_idle(&state)?;
        Ok(state)
    }

    pub(super) async fn load_state(&mut self) -> Result<Arc<State>, Violation> {
        let actor = self.actor_without_faults();
        let mut loaded = actor.workspace.stack.load().await;
        let is_elsewhere = match &loaded {
            Err(JournalError::Renamed { .. }) => true,
            Ok(loaded) => self.renames && loaded.head.is_none(),
            Err(_) => false,
        };
        if is_elsewhere {
            let renamed = actor.finish_renaming().await;
            renamed.map_err(|error| violation("a renamed stack can be renamed again", error.to_string()))?;
            loaded = actor.workspace.stack.load().await;
        }
        actor.process.end(&self.site.disk);
        let state = loaded.map_err(|error| violation("state is sound", format!("{error:?}")))?.state;
        let opened = actor.workspace.require_secrets(&state).await;
        opened.map_err(|error| violation("the key opens every secret", format!("{error:?}")))?;
        Ok(state)
    }

    pub(super) fn actor_without_faults(&mut self) -> Actor {
        self.site.actor(&FaultPlan::default(), &mut self.rng, Machine::Same)
    }

    /// Changes, deletes or creates an object outside of Stead.
    fn apply_outside_change(&mut self, outside: OutsideChange) {
        let mut model = self.site.cloud.model();
        let ids: Vec<String> = model.objects.keys().cloned().collect();
        let pick = |which: u64| ids.get(which as usize % ids.len().max(1));
        match outside {
            OutsideChange::Deletes(which) => pick(which).into_iter().for_each(|id| model.delete_outside(id)),
            OutsideChange::Changes(which) => {
                if let Some(object) = pick(which).and_then(|id| model.objects.get_mut(id)) {
                    object.inputs.insert("size", Value::from(99));
                    object.drifted = true;
                }
            }
            OutsideChange::Makes(which) => {
                let id = format!("outside-{which}");
                let size = ("size".to_owned(), Value::from(1));
                let inputs = [size, ("place".to_owned(), Value::from("p0"))].into();
                let outputs = outputs(&id, 1000 + which as i64, &inputs);
                model.make_outside(id, inputs, outputs);
            }
            OutsideChange::LosesPinfile
            | OutsideChange::EmptiesPinfile
            | OutsideChange::AddsSection
            | OutsideChange::SwitchesBranch => {}
        }
        self.site.trace.log(format!("{outside:?}"));
    }
}
