//! A canary: one stack with random secrets, whose provider gives them away in every answer and every message.
//!
//! Runs die in between, disks fail, keys are rotated, and some runs have no key. At the end, every file that was written and every
//! text that the library reported is searched for every secret in all its forms (`oracle/leaks.rs` lists them), and each
//! secret must be readable with the key.

mod provider;
mod reports;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use stead_engine::ops::{
    ChangesRing, Declaration, Declares, Look, OpError, PlanRequest, Proposal, ResolveTarget, StateEdit, Wait,
    Workspace,
};
use stead_engine::{Engine, OneManager, Resolution, Stack, StackSecrets, Stop};
use stead_journal::{StackKeys, load_run};
use stead_model::{
    Argument, Builtin, Computed, Diagnostic, EvalError, Expr, FunctionRef, Functions, Graph, Input, Node,
    NodeKind, Options, RunId, RunResult, SecretInput, SourceRef, TemplatePart, TypeToken, Value,
};
use stead_plan::Request;
use stead_provider::Providers;
use stead_secrets::{DataKey, KeyManager, ManagerError, ProcessManager, UnlockedRing};
use stead_state::{Export, Origin};
use stead_store::{FileStore, Store};
use stead_world::World;
use tokio::sync::watch;

use crate::faults::process_faults::{DISK_ERRORS, DiskFault, FaultExtent, ProcessFaults};
use crate::oracle::leaks;
use crate::world::process::Process;
use crate::world::site::without_pinfile;
use crate::{Disk, Rng, secret};
use provider::{Answers, LeakyProvider, Objects, TYPE, held};
use reports::Reports;

/// A declared object.
#[derive(Clone)]
struct Thing {
    number: u64,
    /// A text, or an object with texts in it.
    password: Value,
    /// Write-only.
    pin: String,
    /// Ephemeral, if there is one.
    once: Option<String>,
}

struct Canary {
    rng: Rng,
    disk: Disk,
    program: Vec<Thing>,
    /// Every secret that was ever declared.
    secrets: Vec<String>,
    objects: Arc<Mutex<Objects>>,
    processes: u64,
    manager: Arc<dyn KeyManager>,
    reports: Reports,
    trace: Vec<String>,
}

/// Runs the canary of a seed. Returns its trace, or the failure with the trace that led to it.
pub fn canary(seed: u64) -> Result<Vec<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut canary = Canary {
        rng: Rng::new(seed ^ 0x6361_6e61),
        disk: Disk::default(),
        program: Vec::new(),
        secrets: Vec::new(),
        objects: Arc::default(),
        processes: 0,
        manager: Arc::new(ProcessManager::new("one", &DataKey::new([0x11; 32]))),
        reports: Reports::default(),
        trace: Vec::new(),
    };
    canary.disk.content().keep_written();
    let _logs = tracing::subscriber::set_default(canary.reports.clone());
    match runtime.block_on(canary.run()) {
        Ok(()) => Ok(canary.trace),
        Err(lost) => Err(format!("{lost}\ncanary {seed}:\n{}", canary.trace.join("\n"))),
    }
}

/// Gives a ring a new key, for the managers that it has.
struct Rotation(Arc<dyn KeyManager>, World);

#[async_trait]
impl ChangesRing for Rotation {
    async fn change(&self, ring: &UnlockedRing) -> Result<UnlockedRing, ManagerError> {
        ring.rotate(std::slice::from_ref(&self.0), &self.1).await
    }
}

/// A graph with ephemeral values, each by the ordinal of its function.
struct Declared {
    graph: Graph,
    once: Vec<String>,
}

#[async_trait(?Send)]
impl Declares for Declared {
    async fn declare(&self) -> Result<Declaration, OpError> {
        let functions = Arc::new(Once(self.once.clone()));
        Ok(Declaration { functions, ..Declaration::of(self.graph.clone()) })
    }
}

struct Once(Vec<String>);

impl Functions for Once {
    fn builtin(&self, _: &Builtin, _: &[Argument]) -> Result<Computed, EvalError> {
        Err(EvalError::NoInterpreter)
    }

    fn apply(&self, _: &FunctionRef, _: &[Computed]) -> Result<Computed, EvalError> {
        Err(EvalError::NoInterpreter)
    }

    fn ephemeral(&self, function: &FunctionRef) -> Result<Computed, EvalError> {
        let value = self.0.get(function.ordinal as usize).ok_or(EvalError::NoInterpreter)?;
        Ok(Computed::Data(Value::from(value.as_str())))
    }
}

impl Canary {
    async fn run(&mut self) -> Result<(), String> {
        for _ in 0..4 + self.rng.below(6) {
            self.edit();
            let faults = self.faults();
            match self.rng.below(10) {
                0 => self.rotate(faults).await,
                1 => {
                    let done = self.up(faults, StackSecrets::none(), Answers::Failing).await;
                    if done && !self.program.is_empty() {
                        return Err("a run without a key recorded secrets".to_owned());
                    }
                }
                2 => self.read_everything().await,
                _ => drop(self.up(faults, self.keys(), Answers::Failing).await),
            }
            self.check_requests()?;
        }
        for _ in 0..3 {
            if self.up(ProcessFaults::NONE, self.keys(), Answers::Good).await {
                self.read_everything().await;
                self.check_requests()?;
                self.search()?;
                return self.check_values().await;
            }
            self.settle().await;
        }
        self.search()?;
        Err("a run without faults succeeds".to_owned())
    }

    /// Draws the faults of a process: it dies, or writes fail in the store, in the project, or everywhere.
    fn faults(&mut self) -> ProcessFaults {
        match self.rng.below(6) {
            0 | 1 => ProcessFaults { dies_at: Some(1 + self.rng.below(60)), ..ProcessFaults::default() },
            2 => {
                let extents =
                    [FaultExtent::Once, FaultExtent::Store, FaultExtent::Project, FaultExtent::Disk];
                let extent = *self.rng.pick(&extents).unwrap_or(&FaultExtent::Once);
                let kind = *self.rng.pick(&DISK_ERRORS).unwrap_or(&std::io::ErrorKind::Other);
                let fault = DiskFault { at: 1 + self.rng.below(120), kind, extent };
                ProcessFaults { disk_fault: Some(fault), ..ProcessFaults::default() }
            }
            _ => ProcessFaults::default(),
        }
    }

    fn keys(&self) -> StackSecrets {
        StackSecrets::new(Arc::new(OneManager(self.manager.clone())))
    }

    /// Adds, removes and changes objects.
    fn edit(&mut self) {
        for _ in 0..1 + self.rng.below(2) {
            let at = self.rng.below(self.program.len().max(1) as u64) as usize;
            match self.rng.below(5) {
                0 if !self.program.is_empty() => drop(self.program.remove(at)),
                1 if !self.program.is_empty() => self.program[at].password = self.password(),
                2 if !self.program.is_empty() => self.program[at].pin = self.secret(),
                3 if !self.program.is_empty() => {
                    self.program[at].once = if self.rng.one_in(2) { Some(self.secret()) } else { None };
                }
                _ if self.program.len() < 4 => {
                    let (password, pin) = (self.password(), self.secret());
                    let number = self.rng.below(1_000_000);
                    self.program.push(Thing { number, password, pin, once: None });
                }
                _ => {}
            }
        }
    }

    fn secret(&mut self) -> String {
        let mut secret = secret::draw(&mut self.rng, &self.secrets, secret::PER_LONG_ONE);
        // Files have line ends of both kinds, and one at their end.
        match secret.len() % 4 {
            0 => secret.push('\n'),
            1 => secret = secret.replace('\n', "\r\n"),
            _ => {}
        }
        self.secrets.push(secret.clone());
        secret
    }

    fn password(&mut self) -> Value {
        let first = Value::from(self.secret());
        if !self.rng.one_in(5) {
            return first;
        }
        let second = Value::from(self.secret());
        let members = [("user", first), ("keys", Value::from(vec![second, Value::from(true)]))];
        Value::Map(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    async fn up(&mut self, faults: ProcessFaults, secrets: StackSecrets, answers: Answers) -> bool {
        let (process, world) = self.process(faults);
        let workspace = self.workspace(world, secrets, answers);
        let look = [Look::Recorded, Look::Recorded, Look::Changed, Look::All][self.rng.below(4) as usize];
        let request = PlanRequest { look, ..PlanRequest::up(Request::default()) };
        let declared = self.declared();
        let reports = self.reports.clone();
        let previewed = workspace.preview(&declared, request, &mut |event| reports.event(&event)).await;
        let ended = apply(previewed, &reports).await;
        process.end(&self.disk);
        self.trace.push(format!("up of {} ({faults:?}; {answers:?}): {ended:?}", self.program.len()));
        ended == Ok(())
    }

    async fn rotate(&mut self, faults: ProcessFaults) {
        let (process, world) = self.process(faults);
        let (secrets, manager) = (self.keys(), self.manager.clone());
        let workspace = self.workspace(world.clone(), secrets, Answers::Good);
        let reports = self.reports.clone();
        let rotation = Rotation(manager, world);
        let changed =
            workspace.change_keys("secrets rotate", &rotation, &mut |event| reports.event(&event)).await;
        process.end(&self.disk);
        let ended = match changed {
            Ok(_) => "rotated".to_owned(),
            Err(error) => {
                self.reports.error(&error);
                format!("{error}")
            }
        };
        self.trace.push(format!("rotate ({faults:?}): {ended}"));
    }

    /// Answers for operations that cannot be sent again, because an ephemeral value of theirs is kept nowhere.
    async fn settle(&mut self) {
        let world = self.process(ProcessFaults::NONE).1;
        let secrets = self.keys();
        let workspace = self.workspace(world, secrets, Answers::Good);
        let Ok(loaded) = workspace.load().await else { return };
        for pending in loaded.state.pending() {
            // The provider knows an object by its name, so that a second create is the first one.
            let answer = Some(Resolution::DidNotHappen);
            let edit = StateEdit::Resolve { target: ResolveTarget::Operation(pending.op), answer };
            let reports = self.reports.clone();
            let settled = async {
                let edit = workspace.edit(edit, Wait::No, &mut |event| reports.event(&event)).await?;
                edit.permit()?.apply(&mut |event| reports.event(&event)).await
            };
            let settled = settled.await;
            settled.as_ref().err().into_iter().for_each(|error| reports.error(error));
            self.trace.push(format!("settle operation {}: {:?}", pending.op, settled.err()));
        }
    }

    /// Reports state, export and history as commands do that do not show secrets. Half of them have the key.
    async fn read_everything(&mut self) {
        let world = self.process(ProcessFaults::NONE).1;
        let secrets = if self.rng.one_in(2) { self.keys() } else { StackSecrets::none() };
        let workspace = self.workspace(world, secrets, Answers::Good);
        let Ok(loaded) = workspace.load().await else { return };
        let _ = workspace.require_secrets(&loaded.state).await;
        self.reports.add(format!("{:?}", loaded.state));
        let origin = Origin {
            stead: "0".to_owned(),
            project: "shop".to_owned(),
            environment: "dev".to_owned(),
            target: "sim".to_owned(),
        };
        let snapshot = loaded.state.snapshot(None);
        self.reports.add(format!("{snapshot:?}"));
        let export = Export::new(origin, snapshot);
        self.reports.add(serde_json::to_string(&export).unwrap_or_default());
        for run in 1..=self.processes {
            let stack = &workspace.stack;
            let run = load_run(&stack.store, &stack.keys, &RunId(format!("run-{run}"))).await;
            self.reports.add(format!("{run:?}"));
        }
    }

    /// Checks that the provider got every value.
    fn check_requests(&self) -> Result<(), String> {
        held(&self.objects).violation.take().map_or(Ok(()), Err)
    }

    /// Searches everything that was written or reported for every secret. Once for all acts, since making the needles costs more
    /// than the search.
    fn search(&mut self) -> Result<(), String> {
        let needles = leaks::needles(&self.secrets);
        if let Some(text) = leaks::in_texts(&needles, &self.reports.take()) {
            return Err(format!("a secret was reported: {text}"));
        }
        let written = self.disk.content().take_written();
        match leaks::in_files(&needles, written.iter().map(|(path, bytes)| (path, bytes.as_slice()))) {
            Some(file) => Err(format!("a secret is in the clear in {file}")),
            None => Ok(()),
        }
    }

    /// Checks that the key opens every recorded secret, and that each is the declared one.
    async fn check_values(&mut self) -> Result<(), String> {
        let world = self.process(ProcessFaults::NONE).1;
        let secrets = self.keys();
        let workspace = self.workspace(world, secrets, Answers::Good);
        let loaded = workspace.load().await.map_err(|error| error.to_string())?;
        workspace.require_secrets(&loaded.state).await.map_err(|error| error.to_string())?;
        for thing in &self.program {
            let name = thing.name();
            let record = loaded.state.copies().find(|copy| copy.name.to_string() == name);
            let record = record.ok_or_else(|| format!("{name} is not recorded"))?;
            let password = record.inputs.get("password").map(Value::revealed);
            if password != Some(Ok(thing.password.clone())) {
                return Err(format!("the key does not open the password of {name}"));
            }
        }
        Ok(())
    }

    fn declared(&self) -> Declared {
        let (mut graph, mut once) = (Graph::default(), Vec::new());
        for (line, thing) in self.program.iter().enumerate() {
            let source = SourceRef { file: "main.ts".into(), line: line as u32 + 1, column: 1 };
            let secret = graph.exprs.push(Expr::Secret {
                from: "config `password`".into(),
                source: source.clone(),
                needs: Vec::new(),
                value: SecretInput::new(Input::Known(thing.password.clone())),
            });
            let url = graph.exprs.push(Expr::Template(vec![
                TemplatePart::Text("https://ada:".into()),
                TemplatePart::Hole(Input::Deferred(secret)),
            ]));
            let mut inputs = vec![
                ("password".to_owned(), Input::Deferred(secret)),
                ("label".to_owned(), Input::List(vec![Input::Known("open".into()), Input::Deferred(url)])),
                ("pin".to_owned(), Input::Known(Value::from(thing.pin.as_str()))),
            ];
            if let Some(value) = &thing.once {
                let function = FunctionRef { ordinal: once.len() as u32, source: source.clone() };
                once.push(value.clone());
                let ephemeral = graph.exprs.push(Expr::Ephemeral { function });
                inputs.push(("once".to_owned(), Input::Deferred(ephemeral)));
            }
            let Ok(name) = thing.name().parse() else { continue };
            graph.nodes.push(Node {
                name,
                ty: TypeToken(TYPE.to_owned()),
                kind: NodeKind::Provisioned,
                parent: None,
                inputs: inputs.into_iter().collect(),
                options: Options::default(),
                source,
                marks: Default::default(),
            });
            graph.outputs.insert(format!("url{line}"), Input::Deferred(url));
        }
        Declared { graph, once }
    }

    fn process(&mut self, faults: ProcessFaults) -> (Process, World) {
        self.processes += 1;
        let process = Process::new(self.processes, faults);
        let world = process.world(&self.disk, &mut self.rng);
        (process, world)
    }

    fn workspace(&mut self, world: World, secrets: StackSecrets, answers: Answers) -> Workspace {
        let seed = self.rng.below(u64::MAX);
        let provider = LeakyProvider {
            objects: self.objects.clone(),
            rng: Mutex::new(Rng::new(seed)),
            answers,
            seen: Mutex::default(),
        };
        let parallel = 1 + self.rng.below(3) as usize;
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(provider)), parallel);
        let store: Arc<dyn Store> = Arc::new(FileStore::new(world.clone(), PathBuf::from("/state")));
        let keys = StackKeys::new("shop", "dev", "sim");
        without_pinfile(
            engine,
            Stack { store, keys, world, claims: PathBuf::from("/claims"), secrets },
            "dev",
        )
    }
}

impl Thing {
    fn name(&self) -> String {
        format!("dev:main:{TYPE}#t{}", self.number)
    }
}

/// Applies a proposal. Returns why it did not succeed.
async fn apply(previewed: Result<Proposal, OpError>, reports: &Reports) -> Result<(), String> {
    let applied = async {
        let proposal = previewed?;
        reports.proposal(&proposal);
        reports.approval(&proposal.approval());
        let permitted = proposal.permit()?;
        permitted.apply(watch::channel(Stop::No).1, &mut |event| reports.event(&event)).await
    };
    match applied.await {
        Ok(report) => {
            reports.report(&report);
            match (report.result, report.closed) {
                (RunResult::Succeeded, Ok(_)) => Ok(()),
                (_, Err(error)) => Err(error.to_string()),
                (_, Ok(_)) => Err(first(&report.problems)),
            }
        }
        Err(error) => {
            reports.error(&error);
            Err(first(&error.problems()))
        }
    }
}

fn first(problems: &[Diagnostic]) -> String {
    problems.first().map_or_else(|| "no problem was reported".to_owned(), |problem| problem.message.clone())
}
