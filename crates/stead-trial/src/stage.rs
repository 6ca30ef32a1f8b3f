//! Where a life takes place: machines, a store, a cloud, and the tape that everything is written on.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use stead_engine::ops::Workspace;
use stead_engine::{Engine, PinfileLocation, Stack};
use stead_guard::OuterLevels;
use stead_journal::StackKeys;
use stead_model::Environment;
use stead_provider::Providers;
use stead_schema::Catalog;
use stead_state::State;
use stead_store::{FileStore, MemoryStore, Store};

use crate::cloud::schemas;
use crate::ledger::Ledger;
use crate::process::Process;
use crate::reach::Reach;
use crate::script::{Medium, Weather};
use crate::{Chance, Cloud, Disk};

/// What happened, in order, and which situations were reached.
#[derive(Clone, Default)]
pub(crate) struct Tape(Arc<Mutex<Written>>);

#[derive(Default)]
pub(crate) struct Written {
    pub lines: Vec<String>,
    pub reached: BTreeSet<String>,
    pub faults: usize,
    /// The crash points that were passed.
    pub points: BTreeSet<&'static str>,
}

impl Tape {
    pub(crate) fn written(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn say(&self, line: impl Into<String>) {
        self.written().lines.push(line.into());
    }

    pub(crate) fn reach(&self, mark: impl Into<String>) {
        self.written().reached.insert(mark.into());
    }
}

pub(crate) struct Stage {
    pub disk: Disk,
    pub objects: Arc<MemoryStore>,
    pub medium: Medium,
    pub cloud: Cloud,
    pub tape: Tape,
    processes: u64,
}

/// A process that does something to the stack.
pub(crate) struct Actor {
    pub process: Process,
    pub workspace: Workspace,
    pub cloud: Cloud,
    pub tape: Tape,
    pub weather: Weather,
    /// The state that its last run left, if that ended well.
    pub left: Mutex<Option<Arc<State>>>,
}

/// On which machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    Here,
    Elsewhere,
}

pub(crate) fn keys() -> StackKeys {
    StackKeys::new("shop", "dev", "sim")
}

/// A workspace whose target keeps no pins.
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

impl Stage {
    pub(crate) fn new(medium: Medium) -> Stage {
        Stage {
            disk: crate::pinboard::with_program(Disk::default()),
            objects: Arc::default(),
            medium,
            cloud: Cloud::default(),
            tape: Tape::default(),
            processes: 0,
        }
    }

    pub(crate) fn actor(&mut self, weather: &Weather, chance: &mut Chance, place: Where) -> Actor {
        self.processes += 1;
        let mut process = Process::new(self.processes, weather.fate);
        let mut claims = PathBuf::from("/claims");
        if place == Where::Elsewhere {
            (process.host, claims) = ("elsewhere", PathBuf::from("/elsewhere"));
        }
        let world = process.world(&self.disk, chance);
        let store: Arc<dyn Store> = match self.medium {
            Medium::Files => Arc::new(FileStore::new(world.clone(), PathBuf::from("/state"))),
            Medium::Objects => self.objects.clone(),
        };
        let store = Arc::new(Reach::new(store, process.clone(), weather.store.clone()));
        let connection =
            self.cloud.provider(process.clone(), chance.fork(), weather.cloud.clone(), self.ledger());
        let providers = Providers::default().with(Arc::new(connection));
        let mut engine = Engine::new(world.clone(), providers, 1 + chance.below(6) as usize);
        engine.catalog = catalog();
        let pinfile = crate::pinboard::place(world.clone());
        let stack = Stack { store, keys: keys(), world, claims };
        let workspace = Workspace { engine, stack, pinfile, levels: OuterLevels::default() };
        let (cloud, tape, weather) = (self.cloud.clone(), self.tape.clone(), weather.clone());
        Actor { process, workspace, cloud, tape, weather, left: Mutex::default() }
    }

    fn ledger(&self) -> Ledger {
        match self.medium {
            Medium::Files => {
                Ledger::Files { disk: self.disk.clone(), journal: "/state/shop/dev/sim/journal".to_owned() }
            }
            Medium::Objects => Ledger::Objects { store: self.objects.clone(), keys: keys() },
        }
    }
}
