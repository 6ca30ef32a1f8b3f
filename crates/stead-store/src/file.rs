//! A store in a folder: one file per blob.
//!
//! A new blob is a synced temporary file that gets its name by `link`, which fails if the name exists. A blob
//! is replaced by comparing and renaming over it, under a file lock that the system releases when its holder
//! dies. In both cases the folder is synced before `put` returns. Nothing is written in place. The next
//! process that writes deletes the temporary files of dead processes.

mod writers;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use stead_world::{FileKind, Files, World};
use writers::Writer;

use crate::{Blob, Expect, Key, Store, StoreError, Version};

/// Readable by the owner only: state may contain confidential values.
const MODE: u32 = 0o600;

/// Lock file for replacing blobs. It starts with a dot, so it is never a key.
const LOCK: &str = ".lock";

pub struct FileStore {
    world: World,
    root: PathBuf,
    /// Folders whose directory entries are known to be durable.
    durable: Arc<Mutex<BTreeSet<OsString>>>,
    writer: Arc<Mutex<Option<Writer>>>,
}

impl FileStore {
    /// Returns a store in the folder `root`, which the first `put` creates.
    pub fn new(world: World, root: PathBuf) -> FileStore {
        FileStore { world, root, durable: Arc::default(), writer: Arc::default() }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }

    /// Returns a unique part for a temporary file's name.
    ///
    /// It names this process, so that its files can be deleted after its death. If the process cannot be
    /// registered, the name has no owner and the file is never deleted by others.
    async fn temporary_suffix(&self, drawn: String) -> String {
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            return writer.unique(&drawn);
        }
        let (writer, world, root) = (self.writer.clone(), self.world.clone(), self.root.clone());
        let name = drawn.clone();
        let named = move |_: &dyn Files| {
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            if writer.is_none() {
                *writer = Some(Writer::register(&world, &root, drawn.clone())?);
            }
            Ok(writer.as_ref().map_or(drawn.clone(), |writer| writer.unique(&drawn)))
        };
        self.world.with_files(named).await.unwrap_or(name)
    }

    async fn run<T: Send + 'static>(
        &self,
        action: &'static str,
        place: &Path,
        work: impl FnOnce(&dyn Files) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let failed = |source| StoreError::Io { action, place: place.display().to_string(), source };
        self.world.with_files(work).await.map_err(failed)
    }
}

#[async_trait]
impl Store for FileStore {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        let path = self.path(key);
        self.run("read", &path.clone(), move |files| read(files, &path)).await
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        let path = self.path(key);
        let drawn = self.world.entropy.uuid().map_err(|source| StoreError::Io {
            action: "name a temporary file for",
            place: path.display().to_string(),
            source,
        })?;
        let unique = self.temporary_suffix(drawn).await;
        let lock = self.root.join(LOCK);
        let version = Version(body.clone());
        self.world.crash_point("store.put.before");
        let done = match expect {
            Expect::Absent => {
                let (root, durable) = (self.root.clone(), self.durable.clone());
                self.run("write", &path.clone(), move |files| {
                    ensure_durable(files, &root, path.parent().unwrap_or(&root), &durable)?;
                    create(files, &path, &body, &unique)
                })
                .await?
            }
            Expect::Version(expected) => {
                self.run("write", &path.clone(), move |files| {
                    let _claim = files.claim(&lock)?;
                    let stale = read(files, &path)?.map(|blob| blob.version) != Some(expected);
                    if stale {
                        return Ok(false);
                    }
                    files.write_atomically(&path, &body, MODE, &unique).map(|()| true)
                })
                .await?
            }
        };
        self.world.crash_point("store.put.after");
        if done { Ok(version) } else { Err(StoreError::Conflict { key: key.clone() }) }
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        let path = if *prefix == Key::root() { self.root.clone() } else { self.path(prefix) };
        let prefix = prefix.as_str().to_owned();
        let names = self
            .run("list", &path.clone(), move |files| {
                let mut found = Vec::new();
                walk(files, &path, &prefix, &mut found)?;
                Ok(found)
            })
            .await?;
        let mut keys: Vec<Key> = names.iter().filter_map(|name| Key::parse(name).ok()).collect();
        keys.sort();
        Ok(keys)
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let (path, durable) = (self.path(key), self.durable.clone());
        self.run("delete", &path.clone(), move |files| match files.remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => {
                // Best effort: removes the folder if it is empty now.
                if let Some(folder) = path.parent() {
                    durable.lock().unwrap_or_else(PoisonError::into_inner).remove(folder.as_os_str());
                    let _ = files.remove_folder(folder);
                }
                Ok(())
            }
        })
        .await
    }

    fn describe(&self) -> String {
        self.root.display().to_string()
    }
}

fn read(files: &dyn Files, path: &Path) -> io::Result<Option<Blob>> {
    match files.read(path) {
        Ok(bytes) => {
            // The bytes are the version: every blob that changes contains a part that never repeats.
            let body = Bytes::from(bytes);
            Ok(Some(Blob { version: Version(body.clone()), body }))
        }
        Err(error) if is_absent(error.kind()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates the folder, and syncs the names in it, its directory entry and those above it, once per process: the process that
/// created them may have died before it synced them.
///
/// Without the first, a power loss could take a batch of the journal that this process has read, and leave its next one.
fn ensure_durable(
    files: &dyn Files,
    root: &Path,
    folder: &Path,
    durable: &Mutex<BTreeSet<OsString>>,
) -> io::Result<()> {
    let mut durable = durable.lock().unwrap_or_else(PoisonError::into_inner);
    if durable.contains(folder.as_os_str()) {
        return Ok(());
    }
    files.ensure_private_folder(folder)?;
    if !files.list(folder)?.is_empty() {
        files.sync_folder(folder)?;
    }
    // At most two levels above the root: `.stead` and the project folder.
    let above_root = root.ancestors().filter(|above| !above.as_os_str().is_empty());
    let top = above_root.take(3).last().unwrap_or(root);
    let mut synced = Vec::new();
    let mut below = folder;
    while let Some(above) = below.parent().filter(|above| above.starts_with(top)) {
        if durable.contains(below.as_os_str()) {
            break;
        }
        files.sync_folder(above)?;
        synced.push(below.as_os_str().to_owned());
        below = above;
    }
    // Recorded only now: an entry is durable only if all entries above it are.
    durable.extend(synced);
    Ok(())
}

/// Creates the blob. Returns false if it already exists.
fn create(files: &dyn Files, path: &Path, body: &[u8], unique: &str) -> io::Result<bool> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temporary = <dyn Files>::temporary(path, unique);
    let linked = files.create_synced(&temporary, body, MODE).and_then(|()| files.link(&temporary, path));
    // Best effort: a file that stays starts with a dot and is never read.
    let _ = files.remove_file(&temporary);
    let created = match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        other => other.map(|()| true)?,
    };
    // Also after a conflict, which promises that the existing blob is durable.
    files.sync_folder(folder)?;
    Ok(created)
}

/// Collects the names of all blobs below a folder.
fn walk(files: &dyn Files, folder: &Path, prefix: &str, found: &mut Vec<String>) -> io::Result<()> {
    let names = match files.list(folder) {
        Err(error) if is_absent(error.kind()) => return Ok(()),
        other => other?,
    };
    for name in names.iter().filter(|name| !name.starts_with('.')) {
        let path = folder.join(name);
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        match files.metadata(&path)?.map(|found| found.kind) {
            Some(FileKind::Directory) => walk(files, &path, &key, found)?,
            Some(_) => found.push(key),
            None => {}
        }
    }
    Ok(())
}

fn is_absent(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
