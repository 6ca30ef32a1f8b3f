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

use crate::disk::Entry;
use crate::{Chance, Disk};

/// What may go wrong for a process, by count: after so many, it happens.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    /// The crash point, of all that it passes, at which it dies.
    pub dies_at: Option<u64>,
    /// The file operation that fails.
    pub disk_fails_at: Option<u64>,
}

/// A process that can die.
#[derive(Clone)]
pub(crate) struct Process {
    pub id: u64,
    alive: Arc<AtomicBool>,
    fate: Fate,
    points: Arc<AtomicU64>,
    operations: Arc<AtomicU64>,
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
            died_at: Arc::default(),
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::SeqCst)
    }

    /// Whether the file operation that was to fail was reached.
    pub(crate) fn disk_failed(&self) -> bool {
        self.fate.disk_fails_at.is_some_and(|at| self.operations.load(Ordering::SeqCst) >= at)
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
    fn allowed(&self) -> io::Result<()> {
        if !self.process.is_alive() {
            return Err(io::Error::other("the process is dead"));
        }
        let count = self.process.operations.fetch_add(1, Ordering::SeqCst) + 1;
        if self.process.fate.disk_fails_at == Some(count) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(())
    }
}

impl Files for SimulatedFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.allowed()?;
        match self.disk.content().now.get(path) {
            Some(Entry::File { bytes, .. }) => Ok(bytes.as_ref().clone()),
            Some(Entry::Folder { .. }) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        self.allowed()?;
        Ok(self.disk.content().now.get(path).map(|entry| match entry {
            Entry::File { bytes, mode } => {
                Metadata { kind: FileKind::File, len: bytes.len() as u64, mode: *mode }
            }
            Entry::Folder { mode } => Metadata { kind: FileKind::Directory, len: 0, mode: *mode },
        }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.allowed()?;
        let content = self.disk.content();
        if !content.now.contains_key(folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(content.children(folder))
    }

    fn create_synced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.allowed()?;
        let mut content = self.disk.content();
        content.syncs += 1;
        content.put(path, Entry::File { bytes: Arc::new(bytes.to_vec()), mode })
    }

    fn set_mode(&self, _: &Path, _: u32) -> io::Result<()> {
        self.allowed()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.allowed()?;
        self.disk.content().rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.allowed()?;
        let mut content = self.disk.content();
        let entry = content.now.get(from).cloned().ok_or(io::ErrorKind::NotFound)?;
        content.put(to, entry)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.allowed()?;
        self.disk.content().remove(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.allowed()?;
        self.disk.content().put(path, Entry::Folder { mode: 0o755 })
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.allowed()?;
        let mut content = self.disk.content();
        if !content.children(path).is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        content.remove(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.allowed()?;
        self.disk.content().sync(path);
        Ok(())
    }

    fn claim(&self, path: &Path) -> io::Result<Box<dyn Claim>> {
        self.allowed()?;
        let mut content = self.disk.content();
        // Claims are short or exclusive by construction here: one process acts at a time.
        content.claims.insert(path.to_owned(), self.process.id);
        if !content.now.contains_key(path) {
            content.put(path, Entry::File { bytes: Arc::default(), mode: 0o600 })?;
        }
        Ok(Box::new(Held { disk: self.disk.clone(), path: path.to_owned(), id: self.process.id }))
    }

    fn try_claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        self.allowed()?;
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
