//! The simulated site of a life: machines, a store, a cloud and the trace.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use stead_engine::ops::Workspace;
use stead_engine::{Engine, PinfileLocation, Stack, StackSecrets};
use stead_guard::OuterLevels;
use stead_journal::StackKeys;
use stead_model::Environment;
use stead_provider::Providers;
use stead_schema::Catalog;
use stead_state::State;
use stead_store::{FileStore, MemoryStore, Store};

use crate::faults::faulty_store::FaultyStore;
use crate::faults::plan::FaultPlan;
use crate::life::script::StoreKind;
use crate::oracle::leaks;
use crate::oracle::model::{Violation, violation};
use crate::world::cloud::schemas;
use crate::world::journal_witness::JournalWitness;
use crate::world::process::Process;
use crate::world::trace::Trace;
use crate::{Cloud, Disk, Rng};

/// The shared surroundings of all processes of a life.
pub(crate) struct SimulatedSite {
    pub disk: Disk,
    pub objects: Arc<MemoryStore>,
    pub store_kind: StoreKind,
    pub cloud: Cloud,
    pub trace: Trace,
    processes: u64,
}

/// A process with its workspace.
pub(crate) struct Actor {
    pub process: Process,
    pub workspace: Workspace,
    pub cloud: Cloud,
    pub trace: Trace,
    pub fault_plan: FaultPlan,
    /// State that the last successful run left.
    pub left: Mutex<Option<Arc<State>>>,
}

/// Machine of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Machine {
    Same,
    Other,
}

pub(crate) fn keys() -> StackKeys {
    StackKeys::new("shop", "dev", "sim")
}

/// Returns a workspace whose target keeps no pins.
pub(crate) fn without_pinfile(engine: Engine, stack: Stack, environment: &str) -> Workspace {
    let pinfile = PinfileLocation {
        world: stack.world.clone(),
        root: PathBuf::from("/project"),
        main: "main.ts".to_owned(),
        target: "sim".to_owned(),
        environment: Environment::new(environment),
    };
    Workspace { engine, stack, pinfile, levels: OuterLevels::default() }
}

fn catalog() -> Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| schemas().iter().cloned().collect()).clone()
}

impl SimulatedSite {
    pub(crate) fn new(store_kind: StoreKind) -> SimulatedSite {
        SimulatedSite {
            disk: crate::oracle::pins::with_program(Disk::default()),
            objects: Arc::default(),
            store_kind,
            cloud: Cloud::default(),
            trace: Trace::default(),
            processes: 0,
        }
    }

    /// Keeps everything that is written and reported from here on, for `check_leaks`.
    pub(crate) fn keep_everything(&self) {
        self.disk.content().keep_written();
        self.trace.entries().keep_reported();
    }

    /// Searches everything that was kept for secrets.
    pub(crate) fn check_leaks(&self, secrets: &[String]) -> Result<(), Violation> {
        let written = self.disk.content().take_written();
        let mut trace = self.trace.entries();
        let reported = trace.take_reported();
        let needles = leaks::needles(secrets);
        let text = leaks::in_texts(&needles, trace.lines.iter().chain(&reported));
        let file = || leaks::in_files(&needles, written.iter().map(|(path, bytes)| (path, bytes.as_slice())));
        match text.or_else(file) {
            Some(leak) => Err(violation("no secret is in the clear", leak)),
            None => Ok(()),
        }
    }

    pub(crate) fn actor(&mut self, fault_plan: &FaultPlan, rng: &mut Rng, place: Machine) -> Actor {
        self.processes += 1;
        let mut process = Process::new(self.processes, fault_plan.process);
        let mut claims = PathBuf::from("/claims");
        if place == Machine::Other {
            (process.host, claims) = ("elsewhere", PathBuf::from("/elsewhere"));
        }
        let world = process.world(&self.disk, rng);
        let (store, sent): (Arc<dyn Store>, _) = match self.store_kind {
            StoreKind::Files => (Arc::new(FileStore::new(world.clone(), PathBuf::from("/state"))), None),
            StoreKind::Objects => (self.objects.clone(), Some(self.disk.clone())),
        };
        let store = Arc::new(FaultyStore::new(store, process.clone(), fault_plan.store.clone(), sent));
        let connection =
            self.cloud.provider(process.clone(), rng.fork(), fault_plan.cloud.clone(), self.witness());
        let providers = Providers::default().with(Arc::new(connection));
        let mut engine = Engine::new(world.clone(), providers, 1 + rng.below(6) as usize);
        engine.catalog = catalog();
        let pinfile = crate::oracle::pins::place(world.clone());
        let stack = Stack { store, keys: keys(), world, claims, secrets: StackSecrets::in_memory() };
        let workspace = Workspace { engine, stack, pinfile, levels: OuterLevels::default() };
        let (cloud, trace, fault_plan) = (self.cloud.clone(), self.trace.clone(), fault_plan.clone());
        Actor { process, workspace, cloud, trace, fault_plan, left: Mutex::default() }
    }

    fn witness(&self) -> JournalWitness {
        match self.store_kind {
            StoreKind::Files => JournalWitness::Files {
                disk: self.disk.clone(),
                journal: "/state/shop/dev/sim/journal".to_owned(),
            },
            StoreKind::Objects => JournalWitness::Objects { store: self.objects.clone(), keys: keys() },
        }
    }
}
