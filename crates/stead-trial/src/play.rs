//! A play: a short life with what the long ones leave out. Rivals that take a stack over while its holder is slow,
//! two that plan in the same moment, runs for a part, renames, imports, things that are retained, providers that
//! hang, do half of it, are busy, cannot be read or lie, stores that are slow or lose answers.

mod act;
mod cast;
mod stage;
mod store;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use stead_engine::ops::Workspace;
use stead_engine::{Engine, Stack};
use stead_journal::{JournalError, StackKeys};
use stead_model::{Map, PhysicalId, Resource};
use stead_provider::Providers;
use stead_state::State;
use stead_store::{FileStore, MemoryStore, Store};

use crate::fate::Fate;
use crate::process::Process;
use crate::stage::without_pinfile;
use crate::{Chance, Disk};
use act::Ended;
use cast::Cast;
use stage::{Actor, Stage, Temper};
use store::{Mood, Moody};

/// Performs the play of a seed. `Err`: what was lost, with what led there.
pub fn play(seed: u64) -> Result<Vec<String>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut company = Company::new(seed);
    let outcome = runtime.block_on(company.perform());
    match outcome {
        Ok(()) => Ok(company.trace),
        Err(lost) => Err(format!("play {seed}: {lost}\n{}", company.trace.join("\n"))),
    }
}

/// What goes wrong in one act.
#[derive(Clone, Copy, Debug)]
struct Weather {
    fate: Fate,
    temper: Temper,
    mood: Mood,
    pace: u64,
}

const CALM: Weather = Weather { fate: Fate::NONE, temper: Temper::Good, mood: Mood::Good, pace: 0 };

/// Where the stack is kept.
#[derive(Clone)]
enum Kept {
    InMemory(Arc<MemoryStore>),
    OnDisk,
}

struct Company {
    chance: Chance,
    disk: Disk,
    kept: Kept,
    stage: Stage,
    cast: Cast,
    processes: u64,
    trace: Vec<String>,
}

/// A process with its way to everything.
struct Player {
    process: Process,
    workspace: Workspace,
}

impl Company {
    fn new(seed: u64) -> Company {
        let mut chance = Chance::new(seed ^ 0x706c_6179);
        let kept = if chance.one_in(2) { Kept::OnDisk } else { Kept::InMemory(Arc::default()) };
        let cast = Cast::draw(&mut chance);
        let (disk, stage, trace) = (Disk::default(), Stage::default(), Vec::new());
        Company { chance, disk, kept, stage, cast, processes: 0, trace }
    }

    async fn perform(&mut self) -> Result<(), String> {
        for _ in 0..3 + self.chance.below(4) {
            match self.chance.below(14) {
                0 => self.destroy().await?,
                1 => self.refresh().await?,
                2 | 3 => self.part().await?,
                4 => self.rename().await?,
                5 => self.import().await?,
                6 => self.import_what_another_has().await?,
                7..=9 => self.relieve().await?,
                10 => self.race().await?,
                11 => self.lie().await?,
                _ => self.up().await?,
            }
            self.look().await?;
            self.cast.edit(&mut self.chance);
        }
        self.come_to_rest().await
    }

    fn weather(&mut self) -> Weather {
        let shut = Mood::Shut(self.chance.below(12) as u32);
        let moods = [Mood::Good, Mood::Good, Mood::Slow, Mood::Bad, shut];
        Weather {
            fate: Fate {
                dies_at: self.chance.one_in(3).then(|| 1 + self.chance.below(50)),
                ..Fate::default()
            },
            temper: if self.chance.one_in(2) { Temper::Bad } else { Temper::Good },
            mood: *self.chance.pick(&moods).unwrap_or(&Mood::Good),
            pace: 3_000,
        }
    }

    fn player(&mut self, weather: Weather) -> Player {
        self.processes += 1;
        let process = Process::new(self.processes, weather.fate);
        let world = process.world(&self.disk, &mut self.chance);
        let inner: Arc<dyn Store> = match &self.kept {
            Kept::InMemory(memory) => memory.clone(),
            Kept::OnDisk => Arc::new(FileStore::new(world.clone(), PathBuf::from("/state"))),
        };
        let chance = Mutex::new(self.chance.fork());
        let store = Arc::new(Moody {
            inner: inner.clone(),
            process: process.clone(),
            world: world.clone(),
            chance,
            mood: weather.mood,
            taken: AtomicU32::new(0),
        });
        let keys = StackKeys::new("shop", "dev", "play");
        let actor = Actor {
            stage: self.stage.clone(),
            process: process.clone(),
            world: world.clone(),
            chance: Mutex::new(self.chance.fork()),
            temper: weather.temper,
            pace: weather.pace,
            store: inner,
            keys: keys.clone(),
        };
        let parallel = 1 + self.chance.below(4) as usize;
        let engine = Engine::new(world.clone(), Providers::default().with(Arc::new(actor)), parallel);
        let stack = Stack { store, keys, world, claims: PathBuf::from("/claims") };
        Player { process, workspace: without_pinfile(engine, stack, "dev") }
    }

    /// The process is gone. What it left must be sound, and what it kept must be known to the next one.
    async fn leaves(&mut self, player: &Player, ended: Ended, weather: Weather) -> Result<(), String> {
        player.process.end(&self.disk);
        if let Some(point) = player.process.died_at() {
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
            JournalError::RecordRefused(_) if weather.temper == Temper::Lying => return Ok(()),
            JournalError::Integrity(_)
            | JournalError::RecordRefused(_)
            | JournalError::Replay { .. }
            | JournalError::BrokenChain { .. }
            | JournalError::Format { .. }
            | JournalError::Missing { .. } => return Err(format!("state is not sound: {cause:?}")),
            _ => {}
        }
        let state = self.state().await?;
        for answer in answers.iter().filter(|answer| answer.location.is_some()) {
            if state.pending().any(|pending| pending.op == answer.answer.op) {
                return Err(format!(
                    "the answer to operation {} was kept and is not known",
                    answer.answer.op
                ));
            }
        }
        Ok(())
    }

    /// What anybody sees who looks now.
    async fn state(&mut self) -> Result<Arc<State>, String> {
        let player = self.player(CALM);
        let loaded = player.workspace.stack.load().await;
        player.process.end(&self.disk);
        loaded.map(|loaded| loaded.state).map_err(|error| format!("state cannot be read: {error:?}"))
    }

    /// What must be true after every act.
    async fn look(&mut self) -> Result<(), String> {
        if let Some(violation) = self.stage.contents().violations.first() {
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
                return Err(format!("{} and {} are one thing on record", other.name, resource.name));
            }
        }
        Ok(())
    }

    /// In calm weather everything settles, and program, record and reality agree.
    async fn come_to_rest(&mut self) -> Result<(), String> {
        for _ in 0..4 {
            if self.calm_up().await? {
                self.look().await?;
                let state = self.state().await?;
                return self.agree(&state);
            }
        }
        Err("four calm runs did not finish the work".to_owned())
    }

    fn agree(&self, state: &State) -> Result<(), String> {
        if let Some(pending) = state.pending().next() {
            return Err(format!("operation {} never ended", pending.op));
        }
        let contents = self.stage.contents();
        if state.copies().count() != self.cast.parts.len() {
            return Err(format!("{} declared, {} recorded", self.cast.parts.len(), state.copies().count()));
        }
        let mut real = contents.objects.clone();
        for part in &self.cast.parts {
            let recorded = cast::name(&part.name).and_then(|name| state.by_name(&name).cloned());
            let Some(resource) = recorded else { return Err(format!("{} is not recorded", part.name)) };
            let id = resource.id.as_ref().map(PhysicalId::as_str).unwrap_or_default();
            let Some(object) = real.remove(id) else { return Err(format!("{} is not real", part.name)) };
            if object != resource.inputs
                || part.inputs().iter().any(|(key, value)| object.get(key) != Some(value))
            {
                return Err(format!("{} is recorded or declared otherwise than it is", part.name));
            }
        }
        // What was retained stays, and nobody's record speaks of it; what was made by hand may never have been taken.
        let may_stay =
            |id: &str, inputs: &Map| id.starts_with("by-hand-") || inputs.get("keep") == Some(&true.into());
        match real.iter().find(|(id, inputs)| !may_stay(id, inputs)) {
            Some((id, _)) => Err(format!("{id} is real, and nobody's")),
            None => Ok(()),
        }
    }
}
