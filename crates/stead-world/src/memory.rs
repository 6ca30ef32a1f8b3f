//! A world without a machine: files in memory, a clock that stands still, numbers drawn from a counter.
//!
//! Operations that must not touch the machine run in it, such as the plans of tests. **Invariant:** two worlds that get the same
//! calls give the same answers.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::{
    Claim, Clock, Entropy, FileKind, Files, GatedProcess, GroupStatus, Host, Metadata, NoCrash, NoHttp,
    ProcessGroup, Processes, ShellCommand, SlowWork, Timestamp, World,
};

impl World {
    /// Returns a world without a machine, with these files.
    pub fn in_memory(files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> World {
        let host = Host {
            name: "memory".to_owned(),
            user: "memory".to_owned(),
            pid: 0,
            home: None,
            owners: None,
            variables: Default::default(),
        };
        let entries = files.into_iter().map(|(path, bytes)| (plain(&path), Entry::File(bytes)));
        World {
            clock: Arc::new(StillClock),
            entropy: Arc::new(CountedEntropy::default()),
            files: Arc::new(MemoryFiles { entries: Mutex::new(entries.collect()) }),
            processes: Arc::new(NoProcesses),
            http: Arc::new(NoHttp),
            crash: Arc::new(NoCrash),
            host: Arc::new(host),
            slow_work: SlowWork::Inline,
        }
    }
}

/// A clock that stands still. A sleep never ends, so that no timeout and no heartbeat ever comes.
struct StillClock;

#[async_trait]
impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    async fn sleep(&self, _: Duration) {
        std::future::pending().await
    }
}

/// Different numbers, the same in each world.
#[derive(Default)]
struct CountedEntropy {
    drawn: AtomicU64,
}

impl Entropy for CountedEntropy {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        for chunk in bytes.chunks_mut(8) {
            let drawn = scramble(self.drawn.fetch_add(1, Ordering::Relaxed)).to_be_bytes();
            chunk.copy_from_slice(&drawn[..chunk.len()]);
        }
        Ok(())
    }
}

/// Spreads a counter over all bits, one to one (splitmix64).
fn scramble(count: u64) -> u64 {
    let mut bits = count.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

struct NoProcesses;

#[async_trait]
impl Processes for NoProcesses {
    async fn start(&self, _: ShellCommand) -> io::Result<Box<dyn GatedProcess>> {
        Err(ErrorKind::Unsupported.into())
    }

    fn status(&self, _: &ProcessGroup) -> GroupStatus {
        GroupStatus::Gone
    }

    async fn end(&self, _: &ProcessGroup) -> io::Result<GroupStatus> {
        Ok(GroupStatus::Gone)
    }
}

enum Entry {
    File(Vec<u8>),
    Folder,
}

/// Files by path. The folders above a file exist.
struct MemoryFiles {
    entries: Mutex<BTreeMap<PathBuf, Entry>>,
}

struct MemoryClaim;

impl Claim for MemoryClaim {}

impl MemoryFiles {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Entry>> {
        // No code panics while it holds the lock, so the data of a poisoned lock is intact.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn create(&self, path: &Path, entry: Entry) -> io::Result<()> {
        let mut entries = self.entries();
        if entries.contains_key(&plain(path)) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        entries.insert(plain(path), entry);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<Entry> {
        self.entries().remove(&plain(path)).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

/// Returns the path without `.` and `..`. There are no links.
fn plain(path: &Path) -> PathBuf {
    let mut place = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(place.pop()),
            part => place.push(part),
        }
    }
    place
}

impl Files for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.entries().get(&plain(path)) {
            Some(Entry::File(bytes)) => Ok(bytes.clone()),
            Some(Entry::Folder) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        let (entries, path) = (self.entries(), plain(path));
        let (kind, len) = match entries.get(&path) {
            Some(Entry::File(bytes)) => (FileKind::File, bytes.len() as u64),
            Some(Entry::Folder) => (FileKind::Directory, 0),
            None if entries.keys().any(|inside| inside.starts_with(&path)) => (FileKind::Directory, 0),
            None => return Ok(None),
        };
        Ok(Some(Metadata { kind, len, mode: 0o644 }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let folder = plain(folder);
        let entries = self.entries();
        let inside = entries.keys().filter_map(|path| path.strip_prefix(&folder).ok()?.components().next());
        let mut names: Vec<String> =
            inside.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        names.dedup();
        Ok(names)
    }

    fn create_synced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.create_unsynced(path, bytes, mode)
    }

    fn create_unsynced(&self, path: &Path, bytes: &[u8], _: u32) -> io::Result<()> {
        self.create(path, Entry::File(bytes.to_vec()))
    }

    fn set_mode(&self, _: &Path, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let entry = self.remove(from)?;
        self.entries().insert(plain(to), entry);
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let bytes = self.read(from)?;
        self.create(to, Entry::File(bytes))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.remove(path).map(|_| ())
    }

    fn create_folder(&self, path: &Path, _: u32) -> io::Result<()> {
        self.create(path, Entry::Folder)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        match self.list(path)?.is_empty() {
            true => self.remove(path).map(|_| ()),
            false => Err(ErrorKind::DirectoryNotEmpty.into()),
        }
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn claim(&self, path: &Path) -> io::Result<Box<dyn Claim>> {
        self.entries().entry(plain(path)).or_insert_with(|| Entry::File(Vec::new()));
        Ok(Box::new(MemoryClaim))
    }

    /// Claims are never in conflict: one process at a time uses the world.
    fn try_claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        match self.metadata(path)? {
            Some(_) => Ok(Some(Box::new(MemoryClaim))),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(plain(path))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self.metadata(path)? {
            Some(_) => Ok(plain(path)),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn syncs(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_are_written_atomically_and_listed_by_folder() {
        let world = World::in_memory([(PathBuf::from("/p/main.ts"), b"x".to_vec())]);
        let files = &world.files;
        files.ensure_folder(Path::new("/p/.stead/claims")).unwrap();
        files.write_atomically(Path::new("/p/main.ts"), b"y", 0o644, "u").unwrap();
        assert_eq!(files.read(Path::new("/p/./a/../main.ts")).unwrap(), b"y");
        assert_eq!(files.list(Path::new("/p")).unwrap(), [".stead", "main.ts"]);
        assert!(files.write_exclusively(Path::new("/p/main.ts"), b"z", 0o644, "u").is_err());
        assert!(files.remove_folder(Path::new("/p/.stead")).is_err());
        assert_eq!(files.read(Path::new("/gone")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn two_worlds_in_memory_draw_the_same_different_numbers() {
        let draw = || {
            let world = World::in_memory([]);
            (0..3).map(|_| world.entropy.uuid().unwrap()).collect::<Vec<_>>()
        };
        let drawn = draw();
        assert_eq!(drawn, draw());
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2]);
    }
}
