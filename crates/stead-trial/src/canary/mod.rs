//! A canary: one stack with random secrets, whose provider gives them away in every answer and every message.
//!
//! Runs die in between, keys are rotated, and some runs have no key. After each act, every byte on the disk and every text that the
//! library reported is searched for every secret in all its forms, and at the end each secret must be readable with the key.

mod provider;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use stead_engine::ops::{ChangesRing, OpError, PlanRequest, Proposal, Workspace};
use stead_engine::{Engine, OneManager, Stack, StackSecrets, Stop};
use stead_journal::StackKeys;
use stead_model::{
    Expr, Graph, Input, Node, NodeKind, Options, RunResult, SecretInput, SourceRef, TemplatePart, TypeToken,
    Value,
};
use stead_plan::Request;
use stead_provider::Providers;
use stead_secrets::{DataKey, KeyManager, ManagerError, Needles, ProcessManager, UnlockedRing};
use stead_store::{FileStore, Store};
use stead_world::World;
use tokio::sync::watch;

use crate::faults::process_faults::ProcessFaults;
use crate::life::operate::DeclaredGraph;
use crate::world::process::Process;
use crate::world::site::without_pinfile;
use crate::{Disk, Rng};
use provider::{Answers, LeakyProvider, Objects, TYPE, held};

/// Pieces that secrets are made of: quotes, line breaks, other scripts, look-alikes of base64 and of escapes.
const PIECES: [&str; 12] =
    ["\"", "\\", "\n", "ü", "日本", "aGVsbG8=", "%41", "\\u0041", " ", "/+", "pass", "</script>"];

/// A declared object.
#[derive(Clone)]
struct Thing {
    number: u64,
    password: String,
    pin: String,
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
    /// Every text that the library reported.
    said: Vec<String>,
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
        said: Vec::new(),
        trace: Vec::new(),
    };
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

impl Canary {
    async fn run(&mut self) -> Result<(), String> {
        for _ in 0..4 + self.rng.below(6) {
            self.edit();
            let dies_at = self.rng.one_in(3).then(|| 1 + self.rng.below(60));
            let faults = ProcessFaults { dies_at, ..ProcessFaults::default() };
            match self.rng.below(8) {
                0 => self.rotate(faults).await,
                1 => {
                    let done = self.up(faults, StackSecrets::none(), Answers::Failing).await;
                    if done && !self.program.is_empty() {
                        return Err("a run without a key recorded secrets".to_owned());
                    }
                }
                _ => drop(self.up(faults, self.keys(), Answers::Failing).await),
            }
            self.search()?;
        }
        for _ in 0..2 {
            if self.up(ProcessFaults::NONE, self.keys(), Answers::Good).await {
                self.search()?;
                return self.check_values().await;
            }
        }
        Err("a run without faults succeeds".to_owned())
    }

    fn keys(&self) -> StackSecrets {
        StackSecrets::new(Arc::new(OneManager(self.manager.clone())))
    }

    /// Adds, removes and changes objects.
    fn edit(&mut self) {
        for _ in 0..1 + self.rng.below(2) {
            let at = self.rng.below(self.program.len().max(1) as u64) as usize;
            match self.rng.below(4) {
                0 if !self.program.is_empty() => drop(self.program.remove(at)),
                1 if !self.program.is_empty() => self.program[at].password = self.secret(),
                2 if !self.program.is_empty() => self.program[at].pin = self.secret(),
                _ if self.program.len() < 4 => {
                    let (password, pin) = (self.secret(), self.secret());
                    let number = self.rng.below(1_000_000);
                    self.program.push(Thing { number, password, pin });
                }
                _ => {}
            }
        }
    }

    /// Draws a secret of 8 bytes or more, sometimes one that begins like an earlier one.
    fn secret(&mut self) -> String {
        let mut text = match self.secrets.last() {
            Some(last) if self.rng.one_in(5) => last.clone(),
            _ => String::new(),
        };
        let most = if self.rng.one_in(8) { 60 } else { 6 };
        let parts = 2 + self.rng.below(most);
        for _ in 0..parts {
            text.push_str(PIECES[self.rng.below(PIECES.len() as u64) as usize]);
            text.push_str(&format!("{:08x}", self.rng.below(u64::from(u32::MAX))));
        }
        self.secrets.push(text.clone());
        text
    }

    async fn up(&mut self, faults: ProcessFaults, secrets: StackSecrets, answers: Answers) -> bool {
        let (process, world) = self.process(faults);
        let workspace = self.workspace(world, secrets, answers);
        let request = PlanRequest::up(Request::default());
        let graph = self.graph();
        let mut said = Vec::new();
        let previewed = workspace
            .preview(&DeclaredGraph(graph), request, &mut |event| said.push(format!("{event:?}")))
            .await;
        let done = apply(previewed, &mut said).await;
        process.end(&self.disk);
        self.trace.push(format!("up of {} ({faults:?}; {answers:?}): {done}", self.program.len()));
        self.said.extend(said);
        done
    }

    async fn rotate(&mut self, faults: ProcessFaults) {
        let (process, world) = self.process(faults);
        let (secrets, manager) = (self.keys(), self.manager.clone());
        let workspace = self.workspace(world.clone(), secrets, Answers::Good);
        let changed = workspace.change_keys("secrets rotate", &Rotation(manager, world), &mut |_| ()).await;
        process.end(&self.disk);
        let said = changed.map_or_else(|error| format!("{error:?}"), |_| "rotated".to_owned());
        self.trace.push(format!("rotate ({faults:?}): {said}"));
        self.said.push(said);
    }

    /// Searches everything that was written or reported for every secret.
    fn search(&mut self) -> Result<(), String> {
        if let Some(violation) = held(&self.objects).violation.take() {
            return Err(violation);
        }
        let needles = Needles::new(&self.secrets);
        if let Some(text) = self.said.iter().find(|text| needles.contains(text.as_bytes())) {
            return Err(format!("a secret was reported: {text}"));
        }
        self.said.clear();
        for (path, bytes) in self.disk.content().files() {
            if needles.contains(&bytes) {
                return Err(format!(
                    "a secret is in the clear in {path}: {}",
                    String::from_utf8_lossy(&bytes)
                ));
            }
        }
        Ok(())
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
            if password != Some(Ok(Value::from(thing.password.as_str()))) {
                return Err(format!("the key does not open the password of {name}"));
            }
        }
        Ok(())
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let source = |line: usize| SourceRef { file: "main.ts".into(), line: line as u32 + 1, column: 1 };
        for (line, thing) in self.program.iter().enumerate() {
            let secret = graph.exprs.push(Expr::Secret {
                from: "config `password`".into(),
                source: source(line),
                needs: Vec::new(),
                value: SecretInput::new(Input::Known(Value::from(thing.password.as_str()))),
            });
            let url = graph.exprs.push(Expr::Template(vec![
                TemplatePart::Text("https://ada:".into()),
                TemplatePart::Hole(Input::Deferred(secret)),
            ]));
            let inputs = [
                ("password".to_owned(), Input::Deferred(secret)),
                ("label".to_owned(), Input::List(vec![Input::Known("open".into()), Input::Deferred(url)])),
                ("pin".to_owned(), Input::Known(Value::from(thing.pin.as_str()))),
            ];
            let Ok(name) = thing.name().parse() else { continue };
            graph.nodes.push(Node {
                name,
                ty: TypeToken(TYPE.to_owned()),
                kind: NodeKind::Provisioned,
                parent: None,
                inputs: inputs.into(),
                options: Options::default(),
                source: source(line),
                marks: Default::default(),
            });
            graph.outputs.insert(format!("url{line}"), Input::Deferred(url));
        }
        graph
    }

    fn process(&mut self, faults: ProcessFaults) -> (Process, World) {
        self.processes += 1;
        let process = Process::new(self.processes, faults);
        let world = process.world(&self.disk, &mut self.rng);
        (process, world)
    }

    fn workspace(&mut self, world: World, secrets: StackSecrets, answers: Answers) -> Workspace {
        let seed = self.rng.below(u64::MAX);
        let provider =
            LeakyProvider { objects: self.objects.clone(), rng: Mutex::new(Rng::new(seed)), answers };
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

/// Applies a proposal. Returns true if it succeeded; everything that is reported goes into `said`.
async fn apply(previewed: Result<Proposal, OpError>, said: &mut Vec<String>) -> bool {
    let proposal = match previewed {
        Ok(proposal) => proposal,
        Err(error) => {
            said.push(format!("{error} {error:?}"));
            return false;
        }
    };
    said.push(format!("{:?}", proposal.plan()));
    let permitted = match proposal.permit() {
        Ok(permitted) => permitted,
        Err(error) => {
            said.push(format!("{error} {error:?}"));
            return false;
        }
    };
    let mut events = Vec::new();
    let applied =
        permitted.apply(watch::channel(Stop::No).1, &mut |event| events.push(format!("{event:?}"))).await;
    said.extend(events);
    match applied {
        Ok(report) => {
            said.push(format!("{:?} {:?}", report.problems, report.outputs));
            report.result == RunResult::Succeeded && report.closed.is_ok()
        }
        Err(error) => {
            said.push(format!("{error} {error:?}"));
            false
        }
    }
}
