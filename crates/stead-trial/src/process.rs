//! A process on the simulated machine: its view of the outside, which ends when it dies.
//!
//! A dead process goes on computing, as a simulation must, but nothing that it does has an effect any more.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use stead_world::{
    Claim, Clock, CrashPoints, Entropy, FileKind, Files, Finished, Host, Metadata, Processes, ShellCommand,
    SlowWork, Timestamp, World,
};

use crate::disk::{Content, Entry};
use crate::fate::{Access, Boundary, Fate, PowerCut, Torn};
use crate::{Chance, Disk};

/// A process that can die.
#[derive(Clone)]
pub(crate) struct Process {
    pub id: u64,
    alive: Arc<AtomicBool>,
    fate: Fate,
    points: Arc<AtomicU64>,
    operations: Arc<AtomicU64>,
    struck: Arc<AtomicBool>,
    syncs: Arc<AtomicU64>,
    /// What was lost when the power went in the middle of a sync.
    pub boundary: Arc<Mutex<Option<Boundary>>>,
    /// The crash point at which it died.
    pub died_at: Arc<Mutex<Option<&'static str>>>,
}

impl Process {
    pub(crate) fn new(id: u64, fate: Fate) -> Process {
        Process {
            id,
            alive: Arc::new(AtomicBool::new(true)),
            fate,
            points: Arc::default(),
            operations: Arc::default(),
            struck: Arc::default(),
            syncs: Arc::default(),
            boundary: Arc::default(),
            died_at: Arc::default(),
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::SeqCst)
    }

    /// Whether a file operation failed.
    pub(crate) fn disk_failed(&self) -> bool {
        self.struck.load(Ordering::SeqCst)
    }

    /// Ends it: its claims are let go, and it has no effect any more.
    pub(crate) fn end(&self, disk: &Disk) {
        self.alive.store(false, Ordering::SeqCst);
        disk.content().claims.retain(|_, holder| *holder != self.id);
    }

    pub(crate) fn world(&self, disk: &Disk, chance: &mut Chance) -> World {
        World {
            clock: Arc::new(SimulatedClock { start: tokio::time::Instant::now() }),
            entropy: Arc::new(SimulatedEntropy(Mutex::new(chance.fork()))),
            files: Arc::new(SimulatedFiles { disk: disk.clone(), process: self.clone() }),
            processes: Arc::new(NoProcesses),
            crash: Arc::new(Dying(self.clone())),
            host: Host {
                name: "host".into(),
                user: "user".into(),
                pid: self.id as u32,
                home: Some("/home".into()),
            },
            slow_work: SlowWork::Inline,
        }
    }
}

struct Dying(Process);

impl CrashPoints for Dying {
    fn reach(&self, point: &'static str) {
        let passed = self.0.points.fetch_add(1, Ordering::SeqCst) + 1;
        if self.0.fate.dies_at == Some(passed) && self.0.alive.swap(false, Ordering::SeqCst) {
            *self.0.died_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(point);
        }
    }
}

/// Tokio's paused clock: waiting costs nothing.
struct SimulatedClock {
    start: tokio::time::Instant,
}

#[async_trait]
impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_700_000_000_000)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

struct SimulatedEntropy(Mutex<Chance>);

impl Entropy for SimulatedEntropy {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        let mut chance = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.iter_mut().for_each(|byte| *byte = chance.draw() as u8);
        Ok(())
    }
}

struct NoProcesses;

#[async_trait]
impl Processes for NoProcesses {
    async fn run(&self, _: ShellCommand) -> io::Result<Finished> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

struct SimulatedFiles {
    disk: Disk,
    process: Process,
}

struct Held {
    disk: Disk,
    path: PathBuf,
    id: u64,
}

impl Claim for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        let mut content = self.disk.content();
        if content.claims.get(&self.path) == Some(&self.id) {
            content.claims.remove(&self.path);
        }
    }
}

impl SimulatedFiles {
    /// Every operation passes here: the dead do nothing, and some fail.
    fn allowed(&self, access: Access, path: &Path) -> io::Result<()> {
        if !self.process.is_alive() {
            return Err(dead());
        }
        let number = self.process.operations.fetch_add(1, Ordering::SeqCst) + 1;
        match self.process.fate.disk_fault {
            Some(fault) if fault.strikes(number, access, path) => {
                self.process.struck.store(true, Ordering::SeqCst);
                Err(fault.kind.into())
            }
            _ => Ok(()),
        }
    }

    /// Whether the power goes now, when something is about to be synced.
    fn power_goes(&self) -> Option<PowerCut> {
        let number = self.process.syncs.fetch_add(1, Ordering::SeqCst) + 1;
        self.process.fate.power_cut.filter(|cut| cut.sync == number)
    }

    fn die(&self, content: &Content, writing: Writing) -> io::Error {
        let boundary = Boundary { unsynced: content.unsynced(), writing: writing == Writing::Bytes };
        *self.process.boundary.lock().unwrap_or_else(PoisonError::into_inner) = Some(boundary);
        *self.process.died_at.lock().unwrap_or_else(PoisonError::into_inner) = Some("a sync");
        self.process.alive.store(false, Ordering::SeqCst);
        dead()
    }
}

/// What was about to be synced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Bytes,
    Names,
}

fn dead() -> io::Error {
    io::Error::other("the process is dead")
}

impl Files for SimulatedFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.allowed(Access::Read, path)?;
        match self.disk.content().now.get(path) {
            Some(Entry::File { bytes, .. }) => Ok(bytes.as_ref().clone()),
            Some(Entry::Folder { .. }) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        self.allowed(Access::Read, path)?;
        Ok(self.disk.content().now.get(path).map(|entry| match entry {
            Entry::File { bytes, mode } => {
                Metadata { kind: FileKind::File, len: bytes.len() as u64, mode: *mode }
            }
            Entry::Folder { mode } => Metadata { kind: FileKind::Directory, len: 0, mode: *mode },
        }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.allowed(Access::Read, folder)?;
        let content = self.disk.content();
        if !content.now.contains_key(folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(content.children(folder))
    }

    fn create_synced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        let file = |bytes: Vec<u8>| Entry::File { bytes: Arc::new(bytes), mode };
        if let Err(error) = self.allowed(Access::Write, path) {
            if self.process.is_alive() {
                // A write that fails half-way leaves what it wrote.
                let _ = self.disk.content().put(path, file(Torn::Half.tear(bytes)));
            }
            return Err(error);
        }
        let mut content = self.disk.content();
        if let Some(cut) = self.power_goes() {
            content.put(path, file(cut.torn.tear(bytes)))?;
            return Err(self.die(&content, Writing::Bytes));
        }
        content.syncs += 1;
        content.put(path, file(bytes.to_vec()))
    }

    fn set_mode(&self, path: &Path, _: u32) -> io::Result<()> {
        self.allowed(Access::Write, path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.allowed(Access::Write, to)?;
        self.disk.content().rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.allowed(Access::Write, to)?;
        let mut content = self.disk.content();
        let entry = content.now.get(from).cloned().ok_or(io::ErrorKind::NotFound)?;
        content.put(to, entry)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.allowed(Access::Write, path)?;
        self.disk.content().remove(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.allowed(Access::Write, path)?;
        self.disk.content().put(path, Entry::Folder { mode: 0o755 })
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.allowed(Access::Write, path)?;
        let mut content = self.disk.content();
        if !content.children(path).is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        content.remove(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.allowed(Access::Write, path)?;
        let mut content = self.disk.content();
        if self.power_goes().is_some() {
            return Err(self.die(&content, Writing::Names));
        }
        content.sync(path);
        Ok(())
    }

    fn claim(&self, path: &Path) -> io::Result<Box<dyn Claim>> {
        self.allowed(Access::Write, path)?;
        let mut content = self.disk.content();
        // Claims are short or exclusive by construction here: one process acts at a time.
        content.claims.insert(path.to_owned(), self.process.id);
        if !content.now.contains_key(path) {
            content.put(path, Entry::File { bytes: Arc::default(), mode: 0o600 })?;
        }
        Ok(Box::new(Held { disk: self.disk.clone(), path: path.to_owned(), id: self.process.id }))
    }

    fn try_claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        self.allowed(Access::Read, path)?;
        let mut content = self.disk.content();
        if !content.now.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if content.claims.contains_key(path) {
            return Ok(None);
        }
        content.claims.insert(path.to_owned(), self.process.id);
        drop(content);
        Ok(Some(Box::new(Held { disk: self.disk.clone(), path: path.to_owned(), id: self.process.id })))
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn syncs(&self) -> u64 {
        self.disk.content().syncs
    }
}
