//! A disk that remembers what was synced. Power loss takes some of the rest.
//!
//! Bytes of a file are durable when `create_synced` returned; a name is durable when its folder was synced.
//! At power loss each name change since then may survive or not: in order (a journalled file system), or each
//! for itself (a worse one).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Chance;

/// What is behind a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    File { bytes: Arc<Vec<u8>>, mode: u32 },
    Folder { mode: u32 },
}

/// A change of names that a crash may undo.
#[derive(Clone, Debug)]
enum Change {
    Put(PathBuf, Entry),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf, Entry),
}

impl Change {
    fn folder(&self) -> &Path {
        let (Change::Put(path, _) | Change::Remove(path) | Change::Rename(_, path, _)) = self;
        path.parent().unwrap_or(Path::new("/"))
    }
}

#[derive(Default)]
pub(crate) struct Content {
    pub(crate) now: BTreeMap<PathBuf, Entry>,
    durable: BTreeMap<PathBuf, Entry>,
    pending: Vec<Change>,
    pub(crate) claims: BTreeMap<PathBuf, u64>,
    pub(crate) syncs: u64,
}

/// Shared by all processes of a machine.
#[derive(Clone, Default)]
pub struct Disk {
    content: Arc<Mutex<Content>>,
}

impl Disk {
    pub(crate) fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The power goes: what was not synced is there or not, as chance has it.
    pub(crate) fn lose_power(&self, chance: &mut Chance) {
        let mut content = self.content();
        let pending = std::mem::take(&mut content.pending);
        let in_order = chance.one_in(2);
        let keep = chance.below(pending.len() as u64 + 1) as usize;
        for (index, change) in pending.into_iter().enumerate() {
            let survives = if in_order { index < keep } else { chance.one_in(2) };
            if survives {
                apply(&mut content.durable, change);
            }
        }
        content.now = content.durable.clone();
        content.claims.clear();
    }

    /// The power goes, and of what was not synced exactly these survive, one bit each.
    pub(crate) fn lose_power_but(&self, survivors: u64) {
        let mut content = self.content();
        for (index, change) in std::mem::take(&mut content.pending).into_iter().enumerate() {
            if index < 64 && (survivors >> index) & 1 == 1 {
                apply(&mut content.durable, change);
            }
        }
        content.now = content.durable.clone();
        content.claims.clear();
    }
}

impl Content {
    /// How many changes a loss of power could undo.
    pub(crate) fn unsynced(&self) -> usize {
        self.pending.len()
    }

    pub(crate) fn put(&mut self, path: &Path, entry: Entry) -> io::Result<()> {
        self.parent_exists(path)?;
        if self.now.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.change(Change::Put(path.to_owned(), entry));
        Ok(())
    }

    pub(crate) fn remove(&mut self, path: &Path) -> io::Result<()> {
        if !self.now.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.change(Change::Remove(path.to_owned()));
        Ok(())
    }

    pub(crate) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.parent_exists(to)?;
        let entry = self.now.get(from).cloned().ok_or(io::ErrorKind::NotFound)?;
        self.change(Change::Rename(from.to_owned(), to.to_owned(), entry));
        Ok(())
    }

    pub(crate) fn sync(&mut self, folder: &Path) {
        self.syncs += 1;
        let (synced, rest): (Vec<Change>, Vec<Change>) =
            std::mem::take(&mut self.pending).into_iter().partition(|change| change.folder() == folder);
        self.pending = rest;
        for change in synced {
            apply(&mut self.durable, change);
        }
    }

    pub(crate) fn children(&self, folder: &Path) -> Vec<String> {
        let inside = |path: &&PathBuf| path.parent() == Some(folder);
        let name = |path: &PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
        self.now
            .range(folder.to_owned()..)
            .map(|(path, _)| path)
            .take_while(|path| path.starts_with(folder))
            .filter(inside)
            .filter_map(name)
            .collect()
    }

    fn parent_exists(&self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(parent) if parent != Path::new("/") && !self.now.contains_key(parent) => {
                Err(io::ErrorKind::NotFound.into())
            }
            _ => Ok(()),
        }
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.now, change.clone());
        self.pending.push(change);
    }
}

fn apply(names: &mut BTreeMap<PathBuf, Entry>, change: Change) {
    match change {
        Change::Put(path, entry) => {
            names.insert(path, entry);
        }
        Change::Remove(path) => {
            names.remove(&path);
        }
        Change::Rename(from, to, entry) => {
            names.remove(&from);
            names.insert(to, entry);
        }
    }
}
