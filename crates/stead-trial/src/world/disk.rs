//! A simulated disk that distinguishes synced from unsynced changes.
//!
//! The bytes of a file are durable when `create_synced` returns; a name is durable when its folder was synced. At a
//! power loss each unsynced change of a name may survive or not: in order, as on a journalled file system, or
//! independently. The content of a folder whose name is lost is lost with it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Rng;

/// Entry of a folder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    File { bytes: Arc<Vec<u8>>, mode: u32 },
    Folder { mode: u32 },
}

/// Entries of a folder, by name.
type Names = BTreeMap<String, Entry>;

/// Folders by path; the root is the empty path.
type Folders = HashMap<String, Names>;

/// A change of names within one folder that a power loss may undo.
#[derive(Clone, Debug)]
struct Change {
    folder: String,
    gone: Option<String>,
    there: Option<(String, Entry)>,
}

/// Current, durable and unsynced content of the disk.
pub(crate) struct Content {
    now: Folders,
    durable: Folders,
    pending: Vec<Change>,
    pub(crate) claims: HashMap<String, u64>,
    pub(crate) syncs: u64,
    /// Snapshots stored since the last check.
    pub(crate) stored: Vec<String>,
    /// Every file written since the last look, temporary and removed ones too, if they are kept.
    written: Option<Vec<WrittenFile>>,
}

/// The path of a file when it was written, and its bytes.
pub(crate) type WrittenFile = (String, Arc<Vec<u8>>);

impl Default for Content {
    fn default() -> Content {
        let root: Folders = [(String::new(), Names::new())].into();
        Content {
            now: root.clone(),
            durable: root,
            pending: Vec::new(),
            claims: HashMap::new(),
            syncs: 0,
            stored: Vec::new(),
            written: None,
        }
    }
}

/// The disk, shared by all processes of a machine.
#[derive(Clone, Default)]
pub struct Disk {
    content: Arc<Mutex<Content>>,
}

impl Disk {
    pub(crate) fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loses power: a random choice of the unsynced changes survives.
    pub(crate) fn lose_power(&self, rng: &mut Rng) {
        let mut content = self.content();
        let in_order = rng.one_in(2);
        let keep = rng.below(content.pending.len() as u64 + 1) as usize;
        content.lose_all_but(|index| if in_order { index < keep } else { rng.one_in(2) });
    }

    /// Loses power: exactly the unsynced changes whose bit is set survive.
    pub(crate) fn lose_power_but(&self, survivors: u64) {
        self.content().lose_all_but(|index| index < 64 && (survivors >> index) & 1 == 1);
    }
}

/// Returns the folder of a path, and the name in it.
pub(crate) fn split(path: &Path) -> (&str, &str) {
    path.to_str().and_then(|path| path.rsplit_once('/')).unwrap_or_default()
}

fn whole(path: &Path) -> &str {
    path.to_str().unwrap_or_default().trim_end_matches('/')
}

impl Content {
    /// Returns the number of changes that a power loss could undo.
    pub(crate) fn unsynced(&self) -> usize {
        self.pending.len()
    }

    /// Keeps every file that is written from here on, for `take_written`.
    pub(crate) fn keep_written(&mut self) {
        self.written.get_or_insert_default();
    }

    /// Adds an object that was sent to a store in memory, if written files are kept.
    pub(crate) fn note_object(&mut self, key: &str, body: &[u8]) {
        if let Some(written) = &mut self.written {
            written.push((key.to_owned(), Arc::new(body.to_vec())));
        }
    }

    /// Returns every file that was written since the last call.
    pub(crate) fn take_written(&mut self) -> Vec<WrittenFile> {
        self.written.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Entry> {
        let (folder, name) = split(path);
        if folder.is_empty() && name.is_empty() {
            return Some(&Entry::Folder { mode: 0o755 });
        }
        self.now.get(folder)?.get(name)
    }

    /// Searches the durable files in the subfolders of a folder, the last first.
    pub(crate) fn find_durable<T>(&self, folder: &str, find: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        let inner = self.durable.get(folder).filter(|_| self.is_durable(folder))?;
        inner.keys().rev().find_map(|name| {
            let files = self.durable.get(&format!("{folder}/{name}"))?;
            files.values().rev().find_map(|entry| match entry {
                Entry::File { bytes, .. } => find(bytes),
                Entry::Folder { .. } => None,
            })
        })
    }

    /// Returns true if the names of a folder and its ancestors are durable.
    fn is_durable(&self, folder: &str) -> bool {
        let Some((above, name)) = folder.rsplit_once('/') else { return true };
        self.durable.get(above).is_some_and(|names| names.contains_key(name)) && self.is_durable(above)
    }

    pub(crate) fn put(&mut self, path: &Path, entry: Entry) -> io::Result<()> {
        let (folder, name) = split(path);
        let names = self.now.get_mut(folder).ok_or(io::ErrorKind::NotFound)?;
        if names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        names.insert(name.to_owned(), entry.clone());
        if let (Some(written), Entry::File { bytes, .. }) = (&mut self.written, &entry) {
            written.push((whole(path).to_owned(), bytes.clone()));
        }
        if let Entry::Folder { .. } = entry {
            self.now.insert(whole(path).to_owned(), Names::new());
        } else if folder.ends_with("/snapshot") && !name.starts_with('.') {
            self.stored.push(whole(path).to_owned());
        }
        self.pending.push(Change {
            folder: folder.to_owned(),
            gone: None,
            there: Some((name.to_owned(), entry)),
        });
        Ok(())
    }

    pub(crate) fn remove(&mut self, path: &Path) -> io::Result<()> {
        let (folder, name) = split(path);
        let names = self.now.get_mut(folder).ok_or(io::ErrorKind::NotFound)?;
        if let Entry::Folder { .. } = names.remove(name).ok_or(io::ErrorKind::NotFound)? {
            self.now.remove(whole(path));
        }
        self.pending.push(Change { folder: folder.to_owned(), gone: Some(name.to_owned()), there: None });
        Ok(())
    }

    /// Renames an entry within its folder; Stead never moves an entry to another folder.
    pub(crate) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let ((folder, old), (same, new)) = (split(from), split(to));
        if folder != same {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        let names = self.now.get_mut(folder).ok_or(io::ErrorKind::NotFound)?;
        let entry = names.remove(old).ok_or(io::ErrorKind::NotFound)?;
        names.insert(new.to_owned(), entry.clone());
        self.pending.push(Change {
            folder: folder.to_owned(),
            gone: Some(old.to_owned()),
            there: Some((new.to_owned(), entry)),
        });
        Ok(())
    }

    pub(crate) fn sync(&mut self, folder: &Path) {
        self.syncs += 1;
        let folder = whole(folder);
        for change in self.pending.extract_if(.., |change| change.folder == folder) {
            apply(&mut self.durable, change);
        }
    }

    pub(crate) fn children(&self, folder: &Path) -> Option<Vec<String>> {
        Some(self.now.get(whole(folder))?.keys().cloned().collect())
    }

    fn lose_all_but(&mut self, mut survives: impl FnMut(usize) -> bool) {
        for (index, change) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            if survives(index) {
                apply(&mut self.durable, change);
            }
        }
        let mut reachable = Folders::new();
        let mut todo = vec![String::new()];
        while let Some(folder) = todo.pop() {
            let names = self.durable.remove(&folder).unwrap_or_default();
            let inner = names.iter().filter(|(_, entry)| matches!(entry, Entry::Folder { .. }));
            todo.extend(inner.map(|(name, _)| format!("{folder}/{name}")));
            reachable.insert(folder, names);
        }
        self.durable = reachable;
        self.now = self.durable.clone();
        self.claims.clear();
    }
}

fn apply(folders: &mut Folders, Change { folder, gone, there }: Change) {
    if let Some(gone) = &gone
        && let Some(Entry::Folder { .. }) = folders.get_mut(&folder).and_then(|names| names.remove(gone))
    {
        folders.remove(&format!("{folder}/{gone}"));
    }
    let names = folders.entry(folder).or_default();
    if let Some((name, entry)) = there {
        names.insert(name, entry);
    }
}
