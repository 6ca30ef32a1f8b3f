//! State of a cloud in a folder: a snapshot, and one file for the changes of each call since.
//!
//! A file appears under its name when it is complete, so a process may be killed anywhere. Several processes may use one
//! folder: each call holds a lock and first reads the changes of the others. Changes are not synced; after a power failure
//! the last calls may be gone. A damaged change is dropped with all later ones.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_model::Digest;
use stead_world::{Claim, Files};

use super::ids::Ids;
use super::outside::Snapshot;
use super::state::State;

const LOCK: &str = "lock";
const MODE: u32 = 0o600;
/// Changes after which a new snapshot is written.
const CHANGES: u64 = 256;

/// Folder of a cloud.
pub(crate) struct Disk {
    files: Arc<dyn Files>,
    folder: PathBuf,
    /// Number of the last change that this process knows.
    known: u64,
    /// Number of the last change in the snapshot.
    kept: u64,
}

/// Names in the folder, by number.
#[derive(Default)]
struct Names {
    snapshots: Vec<u64>,
    changes: Vec<u64>,
}

impl Disk {
    /// Returns the folder, which the first call creates.
    pub(crate) fn new(files: Arc<dyn Files>, folder: &Path) -> Disk {
        Disk { files, folder: folder.to_owned(), known: 0, kept: 0 }
    }

    /// Locks the folder and reads the changes of other processes.
    pub(crate) fn begin(&mut self, state: &mut State) -> io::Result<Box<dyn Claim>> {
        self.files.ensure_private_folder(&self.folder)?;
        let claim = self.files.claim(&self.folder.join(LOCK))?;
        let names = self.names()?;
        let newest = names.snapshots.iter().max().copied().unwrap_or(0);
        if newest > self.known {
            *state = State::of(self.read(&snapshot(newest))?.ok_or_else(|| damaged(&self.folder))?);
            self.known = newest;
        }
        self.kept = newest;
        let mut later: Vec<u64> = names.changes.into_iter().filter(|number| *number > self.known).collect();
        later.sort_unstable();
        let mut is_whole = true;
        for number in later {
            let next = if is_whole { self.read(&change(number))? } else { None };
            match next {
                Some(changes) => {
                    state.ids = Ids { seed: changes.seed, drawn: changes.drawn };
                    state.replay(changes.changes);
                    self.known = number;
                }
                None => {
                    is_whole = false;
                    self.files.remove_file(&self.folder.join(change(number)))?;
                }
            }
        }
        Ok(claim)
    }

    /// Writes the changes since the last call. The folder must be locked.
    pub(crate) fn write(&mut self, state: &mut State) -> io::Result<()> {
        let changes = state.unwritten();
        if changes.is_empty() {
            return Ok(());
        }
        let Ids { seed, drawn } = state.ids;
        let number = self.known + 1;
        self.put(&change(number), &Snapshot { seed, drawn, changes })?;
        state.written();
        self.known = number;
        if number - self.kept >= CHANGES {
            self.compact(state)?;
        }
        Ok(())
    }

    fn compact(&mut self, state: &State) -> io::Result<()> {
        let Ids { seed, drawn } = state.ids;
        self.put(&snapshot(self.known), &Snapshot { seed, drawn, changes: state.all() })?;
        self.kept = self.known;
        let names = self.names()?;
        let old = names.changes.into_iter().filter(|number| *number <= self.kept).map(change);
        let older = names.snapshots.into_iter().filter(|number| *number < self.kept).map(snapshot);
        for name in old.chain(older) {
            self.files.remove_file(&self.folder.join(name))?;
        }
        Ok(())
    }

    fn put(&self, name: &str, snapshot: &Snapshot) -> io::Result<()> {
        let text = serde_json::to_string(snapshot).map_err(io::Error::other)?;
        let bytes = format!("{}\n{text}\n", Digest::of(text.as_bytes()));
        let temporary = self.folder.join(format!(".tmp-{name}"));
        if self.files.metadata(&temporary)?.is_some() {
            // A killed process left it.
            self.files.remove_file(&temporary)?;
        }
        self.files.create_unsynced(&temporary, bytes.as_bytes(), MODE)?;
        self.files.rename(&temporary, &self.folder.join(name))
    }

    /// Reads a file, or returns `None` if it is damaged.
    fn read(&self, name: &str) -> io::Result<Option<Snapshot>> {
        let bytes = self.files.read(&self.folder.join(name))?;
        let text = String::from_utf8_lossy(&bytes);
        let Some((digest, text)) = text.split_once('\n') else { return Ok(None) };
        let text = text.strip_suffix('\n').unwrap_or_default();
        if Digest::of(text.as_bytes()).as_str() != digest {
            return Ok(None);
        }
        Ok(serde_json::from_str(text).ok())
    }

    fn names(&self) -> io::Result<Names> {
        let mut names = Names::default();
        for name in self.files.list(&self.folder)? {
            let number = |prefix: &str| name.strip_prefix(prefix)?.strip_suffix(".json")?.parse::<u64>().ok();
            names.snapshots.extend(number("snapshot-"));
            names.changes.extend(number("change-"));
        }
        Ok(names)
    }
}

fn snapshot(number: u64) -> String {
    format!("snapshot-{number:012}.json")
}

fn change(number: u64) -> String {
    format!("change-{number:012}.json")
}

fn damaged(folder: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the snapshot in {} is damaged", folder.display()))
}
