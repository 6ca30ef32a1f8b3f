//! A play: a short life with situations that scripts leave out. A rival takes over from a slow process, two processes
//! plan at the same time, runs are targeted, resources are renamed, imported and retained, providers hang, fail in
//! part, are busy, unreadable or wrong, and stores are slow or lose answers. A second stack has providers that cannot look,
//! and people who answer for them.

mod cloud;
mod commands;
mod doubt;
mod losses;
mod program;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use stead_engine::ops::Workspace;
use stead_engine::{Engine, Stack, StackSecrets};
use stead_journal::{JournalError, StackKeys};
use stead_model::{Map, PhysicalId, Resource};
use stead_provider::Providers;
use stead_state::State;
use stead_store::{FileStore, MemoryStore, Store};

use crate::faults::process_faults::ProcessFaults;
use crate::oracle::leaks;
use crate::secret::is_record_of;
use crate::world::process::Process;
use crate::world::site::without_pinfile;
use crate::world::trace::Trace;
use crate::{Disk, Rng};
use cloud::{PlayCloud, PlayProvider, ProviderBehaviour};
use commands::CommandEnd;
use program::PlayProgram;
use store::{StoreBehaviour, UnreliableStore};

/// Runs the play of a seed. Returns its trace, or the failure with the trace that led to it.
pub fn play(seed: u64) -> Result<Vec<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut simulation = PlaySimulation::new(seed);
    let outcome = runtime.block_on(simulation.run());
    match outcome {
        Ok(()) => {
            let doubts = runtime.block_on(doubt::play(seed))?;
            Ok([simulation.trace, doubts].concat())
        }
        Err(lost) => Err(format!("play {seed}: {lost}\n{}", simulation.trace.join("\n"))),
    }
}

/// Faults of one command.
#[derive(Clone, Copy, Debug)]
struct PlayFaults {
    process: ProcessFaults,
    provider_behaviour: ProviderBehaviour,
    store_behaviour: StoreBehaviour,
    pace: u64,
}

const NO_FAULTS: PlayFaults = PlayFaults {
    process: ProcessFaults::NONE,
    provider_behaviour: ProviderBehaviour::Good,
    store_behaviour: StoreBehaviour::Good,
    pace: 0,
};

/// Kind of store that holds the state.
#[derive(Clone)]
enum StoreKind {
    InMemory(Arc<MemoryStore>),
    OnDisk,
}

/// A running play.
struct PlaySimulation {
    rng: Rng,
    disk: Disk,
    store_kind: StoreKind,
    cloud: PlayCloud,
    program: PlayProgram,
    processes: u64,
    trace: Vec<String>,
    /// Reports of the library.
    reports: Trace,
    /// Every password that was ever declared.
    secrets: BTreeSet<String>,
}

/// A process with its workspace.
struct Actor {
    process: Process,
    workspace: Workspace,
    reports: Trace,
}

impl PlaySimulation {
    fn new(seed: u64) -> PlaySimulation {
        let mut rng = Rng::new(seed ^ 0x706c_6179);
        let store_kind = if rng.one_in(2) { StoreKind::OnDisk } else { StoreKind::InMemory(Arc::default()) };
        let program = PlayProgram::draw(&mut rng, seed);
        let (disk, cloud, trace) = (Disk::default(), PlayCloud::default(), Vec::new());
        let (reports, secrets) = (Trace::default(), BTreeSet::new());
        disk.content().keep_written();
        reports.entries().keep_reported();
        PlaySimulation { rng, disk, store_kind, cloud, program, processes: 0, trace, reports, secrets }
    }

    async fn run(&mut self) -> Result<(), String> {
        for _ in 0..3 + self.rng.below(4) {
            match self.rng.below(18) {
                0 => self.destroy().await?,
                1 => self.refresh().await?,
                2 | 3 => self.part().await?,
                4 => self.rename().await?,
                5 => self.import().await?,
                6 => self.import_managed_object().await?,
                7..=9 => self.take_over().await?,
                10 => self.race().await?,
                11 => self.up_with_lying_provider().await?,
                12 => self.lose_an_object().await?,
                13 => self.apply_two_saved_plans().await?,
                14 | 15 => self.overtake_a_batch().await?,
                _ => self.up().await?,
            }
            self.check_state().await?;
            self.program.edit(&mut self.rng);
        }
        self.converge().await?;
        self.check_leaks()
    }

    /// Searches everything that was written and reported for every password.
    fn check_leaks(&self) -> Result<(), String> {
        let needles = leaks::needles(&self.secrets);
        let (written, reported) =
            (self.disk.content().take_written(), self.reports.entries().take_reported());
        let text = leaks::in_texts(&needles, self.trace.iter().chain(&reported));
        let file = || leaks::in_files(&needles, written.iter().map(|(path, bytes)| (path, bytes.as_slice())));
        match text.or_else(file) {
            Some(leak) => Err(format!("a secret is in the clear: {leak}")),
            None => Ok(()),
        }
    }

    fn draw_faults(&mut self) -> PlayFaults {
        let shut = StoreBehaviour::Shut(self.rng.below(12) as u32);
        let behaviours =
            [StoreBehaviour::Good, StoreBehaviour::Good, StoreBehaviour::Slow, StoreBehaviour::Bad, shut];
        PlayFaults {
            process: ProcessFaults {
                dies_at: self.rng.one_in(3).then(|| 1 + self.rng.below(50)),
                ..ProcessFaults::default()
            },
            provider_behaviour: if self.rng.one_in(2) {
                ProviderBehaviour::Bad
            } else {
                ProviderBehaviour::Good
            },
            store_behaviour: *self.rng.pick(&behaviours).unwrap_or(&StoreBehaviour::Good),
            pace: 3_000,
        }
    }

    fn actor(&mut self, faults: PlayFaults) -> Actor {
        self.processes += 1;
        let process = Process::new(self.processes, faults.process);
        let world = process.world(&self.disk, &mut self.rng);
        let (inner, sent): (Arc<dyn Store>, _) = match &self.store_kind {
            StoreKind::InMemory(memory) => (memory.clone(), Some(self.disk.clone())),
            StoreKind::OnDisk => (Arc::new(FileStore::new(world.clone(), PathBuf::from("/state"))), None),
        };
        let rng = Mutex::new(self.rng.fork());
        let store = Arc::new(UnreliableStore {
            inner: inner.clone(),
            process: process.clone(),
            world: world.clone(),
            rng,
            store_behaviour: faults.store_behaviour,
            taken: AtomicU32::new(0),
            sent,
        });
        let keys = StackKeys::new("shop", "dev", "play");
        let provider = PlayProvider {
            cloud: self.cloud.clone(),
            process: process.clone(),
            world: world.clone(),
            rng: Mutex::new(self.rng.fork()),
            provider_behaviour: faults.provider_behaviour,
            pace: faults.pace,
            store: inner,
            keys: keys.clone(),
        };
        let parallel = 1 + self.rng.below(4) as usize;
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(provider)), parallel);
        let stack = Stack {
            store,
            keys,
            world,
            claims: PathBuf::from("/claims"),
            secrets: StackSecrets::in_memory(),
        };
        let workspace = without_pinfile(engine, stack, "dev");
        Actor { process, workspace, reports: self.reports.clone() }
    }

    /// Ends a process: the state it left must be sound, and answers that it spooled must be known to the next
    /// process.
    async fn end_process(
        &mut self,
        actor: &Actor,
        ended: CommandEnd,
        faults: PlayFaults,
    ) -> Result<(), String> {
        actor.process.end(&self.disk);
        if let Some(point) = actor.process.died_at() {
            self.trace.push(format!("killed at {point}"));
        }
        self.trace.extend(ended.trace);
        let Err(error) = ended.outcome else { return Ok(()) };
        self.trace.push(format!("error: {error}"));
        let (cause, answers) = match error {
            JournalError::Unrecorded { cause, answers } => (*cause, answers),
            other => (other, Vec::new()),
        };
        match cause {
            JournalError::RecordRefused(_) if faults.provider_behaviour == ProviderBehaviour::Lying => {
                return Ok(());
            }
            JournalError::Integrity(_)
            | JournalError::RecordRefused(_)
            | JournalError::Replay { .. }
            | JournalError::HeadMissing { .. }
            | JournalError::JournalGap { .. }
            | JournalError::BrokenChain { .. }
            | JournalError::Format { .. }
            | JournalError::Missing { .. } => return Err(format!("state is not sound: {cause:?}")),
            _ => {}
        }
        let state = self.state().await?;
        for answer in answers.iter().filter(|answer| answer.location.is_some()) {
            if state.pending().any(|pending| pending.op == answer.answer.op) {
                return Err(format!(
                    "the answer to operation {} was spooled, but is not known",
                    answer.answer.op
                ));
            }
        }
        Ok(())
    }

    /// Returns the state as a reader sees it now.
    async fn state(&mut self) -> Result<Arc<State>, String> {
        let actor = self.actor(NO_FAULTS);
        let loaded = actor.workspace.stack.load().await;
        actor.process.end(&self.disk);
        let state = loaded.map_err(|error| format!("state cannot be read: {error:?}"))?.state;
        let opened = actor.workspace.require_secrets(&state).await;
        opened.map_err(|error| format!("the key does not open a secret: {error:?}"))?;
        Ok(state)
    }

    /// Checks the oracles after a command.
    async fn check_state(&mut self) -> Result<(), String> {
        if let Some(violation) = self.cloud.contents().violations.first() {
            return Err(violation.clone());
        }
        let state = self.state().await?;
        for pending in state.pending() {
            self.trace.push(format!("operation {} is pending: {:?}", pending.op, pending.doubt));
        }
        let mut ids: BTreeMap<&str, &Resource> = BTreeMap::new();
        for resource in state.resources() {
            let id = resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default();
            if let Some(other) = ids.insert(id, resource).filter(|_| !id.is_empty()) {
                return Err(format!("{} and {} are recorded with one id", other.name, resource.name));
            }
        }
        Ok(())
    }

    /// Checks that runs without faults converge, and that program, state and cloud agree.
    async fn converge(&mut self) -> Result<(), String> {
        for _ in 0..4 {
            if self.up_without_faults().await? {
                self.check_state().await?;
                let state = self.state().await?;
                return self.check_agreement(&state);
            }
        }
        Err("four runs without faults did not finish the work".to_owned())
    }

    fn check_agreement(&self, state: &State) -> Result<(), String> {
        if let Some(pending) = state.pending().next() {
            return Err(format!("operation {} never ended", pending.op));
        }
        let contents = self.cloud.contents();
        if state.copies().count() != self.program.resources.len() {
            return Err(format!(
                "{} declared, {} recorded",
                self.program.resources.len(),
                state.copies().count()
            ));
        }
        let mut real = contents.objects.clone();
        for declared in &self.program.resources {
            let recorded = program::name(&declared.name).and_then(|name| state.by_name(&name).cloned());
            let Some(resource) = recorded else { return Err(format!("{} is not recorded", declared.name)) };
            let id = resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default();
            let Some(object) = real.remove(id) else {
                return Err(format!("{} does not exist", declared.name));
            };
            if !is_record_of(&resource.inputs, &object)
                || declared.inputs().iter().any(|(key, value)| object.get(key) != Some(value))
            {
                return Err(format!("{} differs from its record or its declaration", declared.name));
            }
        }
        // A retained object stays unmanaged; an object created by hand may never have been imported.
        let may_stay =
            |id: &str, inputs: &Map| id.starts_with("by-hand-") || inputs.get("keep") == Some(&true.into());
        match real.iter().find(|(id, inputs)| !may_stay(id, inputs)) {
            Some((id, _)) => Err(format!("{id} exists, but no resource manages it")),
            None => Ok(()),
        }
    }
}
