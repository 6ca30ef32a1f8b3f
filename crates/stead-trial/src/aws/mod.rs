//! A cloud life: one stack of AWS resources, applied by the shipped operations through the shipped provider to the embedded cloud.
//!
//! The cloud throttles, fails, loses answers, is slow and stale, and makes resources half; people change and remove
//! resources; processes die at crash points and at requests, and are taken over. After each act the inventory of the cloud, which no part of
//! the engine or the provider has written, must fit the state (`oracle.rs`).

mod connection;
mod crowd;
mod kind;
mod oracle;
mod outside;
mod program;
mod stranger;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use stead_aws::{AwsProvider, Settings};
use stead_cloud::{Cloud, DEFAULT_ACCOUNT, Delay, Fault, Injected, Place, Rate, ResourceName};
use stead_engine::ops::{Look, OpError, PlanRequest, Proposal, ResolveTarget, StateEdit, Wait, Workspace};
use stead_engine::{Doubtful, Engine, Owners, Resolution, Stack, StackSecrets, StatedOutputs, Stop};
use stead_journal::StackKeys;
use stead_model::{Map, PhysicalId, RunResult, Value};
use stead_plan::{MovePolicy, Request};
use stead_provider::{Providers, StatePlace};
use stead_state::{Intent, Pending, State};
use stead_store::{FileStore, Store};
use stead_world::World;
use tokio::sync::watch;

use crate::dispute::StoresOnDisk;
use crate::faults::process_faults::ProcessFaults;
use crate::life::operate::DeclaredGraph;
use crate::world::process::life_clock::LifeClock;
use crate::world::process::{ClockSkew, Process, time_passes};
use crate::world::site::without_pinfile;
use crate::{Disk, Rng};
use connection::{CallFaults, Connection, DiesAt};
use program::{Keeping, Program};

pub use crowd::{Crowd, cloud_crowd};

const REGION: &str = "eu-west-1";
const STATE: &str = "/state";

/// Runs without faults that are enough for everything to be as declared: operations that fail for a reason of the cloud, such as
/// a resource that is still in use, are repeated by the next one.
const CONVERGING_RUNS: usize = 4;

/// Returns a wait of this many looks, and of some minutes at most.
fn looks(count: u32) -> Delay {
    Delay { duration: Duration::from_secs(600), looks: Some(count) }
}

/// A cloud life under way.
struct CloudLife {
    rng: Rng,
    /// Randomness of persons with other credentials, apart from that of the life.
    strangers: Rng,
    disk: Disk,
    clock: Arc<LifeClock>,
    cloud: Cloud,
    program: Program,
    /// Resources of others, as they must stay.
    foreign: BTreeMap<ResourceName, Map>,
    /// Tags of others on resources of this stack.
    foreign_tags: BTreeMap<ResourceName, String>,
    /// A value that was set outside since the last run, with its resource and property.
    drifted: Option<(ResourceName, &'static str, Value)>,
    /// Real resources that a successful run left protected or retained.
    guarded: BTreeSet<ResourceName>,
    /// Share of calls that fail, in hundredths.
    percent: u64,
    processes: u64,
    trace: Vec<String>,
}

/// Faults of one run.
#[derive(Clone, Copy, Debug, Default)]
struct RunFaults {
    process: ProcessFaults,
    dies_at: Option<DiesAt>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
enum Ended {
    Succeeded,
    Died,
    Otherwise(String),
}

/// A process with its workspace.
struct Actor {
    process: Process,
    workspace: Workspace,
}

/// Runs the cloud life of a seed. Returns its trace, or the failure with the trace that led to it.
pub fn cloud_life(seed: u64) -> Result<Vec<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let (trace, lived) = runtime.block_on(async {
        let mut life = CloudLife::new(seed);
        let lived = life.run().await;
        (life.trace, lived)
    });
    match lived {
        Ok(()) => Ok(trace),
        Err(lost) => Err(format!("{lost}\ncloud life {seed}:\n{}", trace.join("\n"))),
    }
}

impl CloudLife {
    fn new(seed: u64) -> CloudLife {
        let mut rng = Rng::new(seed ^ 0x636c_6f75);
        let clock = Arc::new(LifeClock::new());
        let settings = stead_cloud::Settings { seed, ..stead_cloud::Settings::default() };
        let cloud = Cloud::new(clock.clone(), settings);
        let count = 3 + rng.below(6);
        let program = Program::draw(&mut rng, count);
        CloudLife {
            rng,
            strangers: Rng::new(seed ^ 0x7374_7261),
            disk: Disk::default(),
            clock,
            cloud,
            program,
            foreign: BTreeMap::new(),
            foreign_tags: BTreeMap::new(),
            drifted: None,
            guarded: BTreeSet::new(),
            percent: 0,
            processes: 0,
            trace: Vec::new(),
        }
    }

    async fn run(&mut self) -> Result<(), String> {
        for act in 0..3 + self.rng.below(4) {
            if act > 0 {
                self.program.edit(&mut self.rng);
            }
            if self.rng.one_in(2) {
                self.happens_outside().await?;
            }
            self.disturb();
            match self.rng.below(8) {
                0 => self.attack().await?,
                3 => self.claim_foreign().await?,
                1 | 2 => self.taken_over().await?,
                _ => {
                    let (faults, look) = (self.run_faults(), self.look());
                    let was_open = self.pending().await? > 0;
                    self.up(faults, look).await?;
                    if look == Look::Recorded && !was_open {
                        self.check_drift()?;
                    }
                }
            }
            self.calm().await?;
            self.drifted = None;
            self.check().await?;
            self.stranger().await?;
            self.answer_questions().await?;
        }
        self.converge().await
    }

    /// Draws what the cloud does to the next calls.
    fn disturb(&mut self) {
        let rng = &mut self.rng;
        self.percent = if rng.one_in(2) { 2 * (1 + rng.below(15)) } else { 0 };
        for _ in 0..rng.below(3) {
            let faults = [
                Fault::Throttled,
                Fault::InternalError,
                Fault::Unavailable,
                Fault::LostBefore,
                Fault::LostAfter,
                Fault::LostAfter,
                Fault::ExpiredToken,
                Fault::HalfMade,
                Fault::HalfMade,
                Fault::Slow,
                Fault::Stale,
                Fault::Stale,
            ];
            let fault = *rng.pick(&faults).unwrap_or(&Fault::Throttled);
            let calls = [
                "CreateResource",
                "UpdateResource",
                "DeleteResource",
                "GetResource",
                "GetResourceRequestStatus",
            ];
            let call = *rng.pick(&calls).unwrap_or(&"CreateResource");
            // More than a client repeats its request, so that it gives up.
            let times = *rng.pick(&[1, 1, 2, 7, 8, 25, 80]).unwrap_or(&1);
            self.cloud.fail_next(Injected { times, ..Injected::next(fault).of_call(call) });
            self.trace.push(format!("{times} × {call}: {fault:?}"));
        }
        let waits = [Delay::NONE, Delay::NONE, looks(2), Delay::of(Duration::from_secs(90))];
        let operations = *rng.pick(&waits).unwrap_or(&Delay::NONE);
        let waits = [Delay::NONE, Delay::NONE, looks(1), Delay::of(Duration::from_secs(9))];
        let consistency = *rng.pick(&waits).unwrap_or(&Delay::NONE);
        let rate = rng.one_in(6).then_some(Rate { per_second: 3, burst: 6 });
        self.cloud.configure(|settings| {
            (settings.operations, settings.consistency, settings.rate) = (operations, consistency, rate);
        });
        self.trace.push(format!("operations {operations:?}, consistency {consistency:?}, rate {rate:?}"));
    }

    /// Ends all faults of the cloud, and everything that was slow or stale.
    async fn calm(&mut self) -> Result<(), String> {
        self.percent = 0;
        self.cloud.forget_faults();
        self.cloud.configure(|settings| {
            (settings.operations, settings.consistency, settings.rate) = (Delay::NONE, Delay::NONE, None);
        });
        // A look at the cloud ends the operations that are due, and reads may be stale for an hour after that.
        for _ in 0..2 {
            time_passes(Duration::from_secs(3700)).await;
            self.ours()?;
        }
        Ok(())
    }

    fn run_faults(&mut self) -> RunFaults {
        let rng = &mut self.rng;
        match rng.below(5) {
            0 => RunFaults {
                process: ProcessFaults { dies_at: Some(1 + rng.below(90)), ..ProcessFaults::default() },
                ..RunFaults::default()
            },
            1 => RunFaults { dies_at: Some(DiesAt::After(1 + rng.below(60))), ..RunFaults::default() },
            2 => RunFaults { dies_at: Some(DiesAt::Before(1 + rng.below(60))), ..RunFaults::default() },
            _ => RunFaults::default(),
        }
    }

    fn look(&mut self) -> Look {
        [Look::Recorded, Look::Changed, Look::All][self.rng.below(3) as usize]
    }

    async fn up(&mut self, faults: RunFaults, look: Look) -> Result<Ended, String> {
        let actor = self.actor(faults);
        let graph = DeclaredGraph(self.program.graph()?);
        self.unguard();
        let ended = tokio::select! {
            ended = applied(&actor.workspace, &graph, look) => ended,
            () = actor.process.until_crash_points(u64::MAX) => Ended::Died,
        };
        self.end(&actor, &ended, look);
        Ok(ended)
    }

    /// A process is suspended in the middle of a run, another one takes the stack, and the first one goes on.
    async fn taken_over(&mut self) -> Result<(), String> {
        let stops_at = Some(1 + self.rng.below(90));
        let first = self.actor(RunFaults {
            process: ProcessFaults { stops_at, ..ProcessFaults::default() },
            dies_at: None,
        });
        let faults = self.run_faults();
        let second = self.actor(faults);
        let (look, other_look) = (self.look(), self.look());
        self.unguard();
        let graph = DeclaredGraph(self.program.graph()?);
        let take = async {
            first.process.until_crash_points(u64::MAX).await;
            if !first.process.is_stopped() {
                return None;
            }
            let ended = tokio::select! {
                ended = taken(&second.workspace, &graph, other_look) => ended,
                () = second.process.until_crash_points(u64::MAX) => Ended::Died,
            };
            first.process.wake();
            Some(ended)
        };
        let run = async {
            let ended = applied(&first.workspace, &graph, look).await;
            first.process.finish();
            ended
        };
        let (ended, other) = tokio::join!(run, take);
        if let Some(other) = other {
            self.end(&second, &other, other_look);
        }
        self.end(&first, &ended, look);
        Ok(())
    }

    /// Drops a protected resource from the program, which must fail, and declares it again.
    async fn attack(&mut self) -> Result<(), String> {
        let before = self.program.clone();
        let is_protected = |declared: &program::Declared| declared.keeping == Keeping::Protected;
        let Some(victim) = self.program.resources.iter().position(is_protected) else { return Ok(()) };
        let number = self.program.resources[victim].knobs.number;
        self.program
            .resources
            .retain(|declared| declared.knobs.number != number && !declared.knobs.refers.contains(&number));
        self.trace.push(format!("r{number} is dropped"));
        let faults = self.run_faults();
        self.up(faults, Look::Recorded).await?;
        self.program = before;
        Ok(())
    }

    /// Answers for operations whose ephemeral values are kept nowhere, after a look at the cloud.
    async fn answer_questions(&mut self) -> Result<(), String> {
        let actor = self.actor(RunFaults::default());
        let (state, doubtful) = questions(&actor.workspace).await?;
        let asked = doubtful.into_iter().map(|doubtful| doubtful.pending).collect();
        self.answer(&actor, &state, asked).await
    }

    /// Answers for creates whose names others have: if such a create failed for another reason, only a person knows that the
    /// unmarked resource is older.
    async fn answer_for_claims(&mut self) -> Result<(), String> {
        let actor = self.actor(RunFaults::default());
        let loaded = actor.workspace.load().await.map_err(|error| error.to_string())?;
        let is_claim = |pending: &&Pending| match &pending.intent {
            Intent::Create { resource, .. } => self.is_claim(&resource.inputs),
            _ => false,
        };
        let asked = loaded.state.pending().filter(is_claim).cloned().collect();
        self.answer(&actor, &loaded.state, asked).await
    }

    async fn answer(&mut self, actor: &Actor, state: &State, asked: Vec<Pending>) -> Result<(), String> {
        for pending in asked {
            let name = state.subject(&pending.intent).map(|name| name.to_string()).unwrap_or_default();
            let answer = match &pending.intent {
                Intent::Create { .. } => match self.unrecorded(state, &name)? {
                    Some(id) => Resolution::Created { id: PhysicalId(id), outputs: StatedOutputs::default() },
                    None => Resolution::DidNotHappen,
                },
                // If it happened, it happens again.
                Intent::Update { .. } | Intent::Delete { .. } => Resolution::DidNotHappen,
            };
            self.trace.push(format!("a person answers for {name}: {answer:?}"));
            let target = ResolveTarget::Operation(pending.op);
            let edit = StateEdit::Resolve { target, answer: Some(answer) };
            let answered = edited(&actor.workspace, edit).await;
            answered.map_err(|error| format!("an answer is recorded: {error}"))?;
        }
        actor.process.end(&self.disk);
        Ok(())
    }

    /// Runs without faults until everything is as declared.
    async fn converge(&mut self) -> Result<(), String> {
        self.make_room()?;
        let mut last = Ended::Died;
        for _ in 0..CONVERGING_RUNS {
            last = self.up(RunFaults::default(), Look::All).await?;
            self.check().await?;
            if last == Ended::Succeeded {
                return self.check_converged().await;
            }
            self.answer_for_claims().await?;
        }
        Err(format!("a run without faults succeeds: {last:?}"))
    }

    fn actor(&mut self, faults: RunFaults) -> Actor {
        self.processes += 1;
        // The wall clocks of machine and cloud agree.
        let skew = ClockSkew { off: self.clock.seconds(), ..ClockSkew::default() };
        let process = Process::new(self.processes, ProcessFaults { skew, ..faults.process });
        let mut world = process.world(&self.disk, &mut self.rng);
        world.http = Arc::new(Connection {
            cloud: self.cloud.clone(),
            process: process.clone(),
            dies_at: faults.dies_at,
            faults: CallFaults { rng: Mutex::new(self.rng.fork()), percent: self.percent },
            sent: AtomicU64::new(0),
        });
        let parallel = 1 + self.rng.below(4) as usize;
        let settings = Settings { region: Some(REGION.to_owned()), ..Settings::default() };
        Actor { workspace: workspace(world, settings, parallel), process }
    }

    fn end(&mut self, actor: &Actor, ended: &Ended, look: Look) {
        let died = actor.process.died_at().map(|at| format!(" (at {at})")).unwrap_or_default();
        actor.process.end(&self.disk);
        self.trace.push(format!("up of {} with {look:?}: {ended:?}{died}", self.program.resources.len()));
        if *ended == Ended::Succeeded {
            self.guard();
        }
    }

    fn place(&self) -> Place {
        Place::new(DEFAULT_ACCOUNT, REGION)
    }
}

fn workspace(world: World, settings: Settings, parallel: usize) -> Workspace {
    let provider = AwsProvider::embedded(world.clone(), settings);
    let mut engine = Engine::new(world.clone(), Providers::default().with(Arc::new(provider)), parallel);
    let place = StatePlace {
        store: STATE.to_owned(),
        project: "shop".to_owned(),
        environment: "dev".to_owned(),
        target: "sim".to_owned(),
    };
    engine.owners = Some(Owners::new(place, Arc::new(StoresOnDisk(world.clone()))));
    let store: Arc<dyn Store> = Arc::new(FileStore::new(world.clone(), PathBuf::from(STATE)));
    let keys = StackKeys::new("shop", "dev", "sim");
    let (claims, secrets) = (PathBuf::from("/claims"), StackSecrets::in_memory());
    without_pinfile(engine, Stack { store, keys, world, claims, secrets }, "dev")
}

/// Returns the state with its secrets open, as a run has it, and the operations that need the answer of a person.
async fn questions(workspace: &Workspace) -> Result<(Arc<State>, Vec<Doubtful>), String> {
    let loaded = workspace.load().await.map_err(|error| format!("state loads: {error}"))?;
    workspace.require_secrets(&loaded.state).await.map_err(|error| format!("secrets open: {error}"))?;
    let (_, doubtful) = workspace.engine.triage(&loaded.state);
    Ok((loaded.state, doubtful))
}

/// Takes the stack from its holder, and runs.
async fn taken(workspace: &Workspace, graph: &DeclaredGraph, look: Look) -> Ended {
    match edited(workspace, StateEdit::Unlock).await {
        Ok(()) => applied(workspace, graph, look).await,
        Err(error) => Ended::Otherwise(error.to_string()),
    }
}

async fn edited(workspace: &Workspace, edit: StateEdit) -> Result<(), OpError> {
    let edit = workspace.edit(edit, Wait::No, &mut |_| ()).await?;
    edit.permit()?.apply(&mut |_| ()).await.map(|_| ())
}

async fn applied(workspace: &Workspace, graph: &DeclaredGraph, look: Look) -> Ended {
    let moves = MovePolicy::Refuse;
    let request = PlanRequest { look, ..PlanRequest::up(Request { moves, ..Request::default() }) };
    finished(workspace.preview(graph, request, &mut |_| ()).await).await
}

async fn finished(previewed: Result<Proposal, OpError>) -> Ended {
    let applied = async { previewed?.permit()?.apply(watch::channel(Stop::No).1, &mut |_| ()).await };
    match applied.await {
        Ok(report) if report.result == RunResult::Succeeded && report.closed.is_ok() => Ended::Succeeded,
        Ok(report) => {
            let problems: Vec<&str> =
                report.problems.iter().map(|problem| problem.message.as_str()).collect();
            Ended::Otherwise(format!("{:?}: {}", report.result, problems.join("; ")))
        }
        Err(error) => {
            let problems: Vec<String> =
                error.problems().iter().map(|problem| problem.message.clone()).collect();
            Ended::Otherwise(format!("{error}: {}", problems.join("; ")))
        }
    }
}
