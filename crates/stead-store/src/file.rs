//! A store in a folder: one file a blob.
//!
//! A new blob is a synced temporary file that gets its name by `link`, which fails if the name is taken.
//! A changed blob is compared and renamed over under a lock that the system lets go when its holder dies.
//! In both cases the folder is synced before `put` returns. Nothing is ever written in place.
//! Temporary files that a dead process left are swept by the next one that writes.

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

use crate::{Expect, Found, Key, Store, StoreError, Version};

/// Readable by the owner only: state may describe what others should not know.
const MODE: u32 = 0o600;

/// Holds the lock for changes of existing blobs. It starts with a dot, so it is never a key.
const LOCK: &str = ".lock";

pub struct FileStore {
    world: World,
    root: PathBuf,
    /// Folders whose own names this process has seen to be on the disk.
    durable: Arc<Mutex<BTreeSet<OsString>>>,
    writer: Arc<Mutex<Option<Writer>>>,
}

impl FileStore {
    /// The folder is made when the first blob is.
    pub fn new(world: World, root: PathBuf) -> FileStore {
        FileStore { world, root, durable: Arc::default(), writer: Arc::default() }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.root.join(key.as_str())
    }

    /// A name for a temporary file. If this process cannot be told to be alive, nobody sweeps it.
    async fn unique(&self, drawn: String) -> String {
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
    async fn get(&self, key: &Key) -> Result<Option<Found>, StoreError> {
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
        let unique = self.unique(drawn).await;
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
                    let stale = read(files, &path)?.map(|found| found.version) != Some(expected);
                    #[cfg(stead_planted)]
                    let stale = stale && !stead_world::planted::is("version-not-compared");
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
                // A folder that just became empty goes too; one that did not stays.
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

fn read(files: &dyn Files, path: &Path) -> io::Result<Option<Found>> {
    match files.read(path) {
        Ok(bytes) => {
            // The bytes themselves tell versions apart; blobs that change carry something that never repeats.
            let body = Bytes::from(bytes);
            Ok(Some(Found { version: Version(body.clone()), body }))
        }
        Err(error) if is_absent(error.kind()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes the folder, and sees to it once a process that its name and those above it are on the disk: whoever
/// made them may have died before that.
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
    files.ensure_folder(folder)?;
    #[cfg(stead_planted)]
    if stead_world::planted::is("folder-chain-not-synced") {
        return Ok(());
    }
    // Two levels above the root, if there are as many: `.stead` and the project that it is in.
    let above_root = root.ancestors().filter(|above| !above.as_os_str().is_empty());
    let enough = above_root.take(3).last().unwrap_or(root);
    let mut synced = Vec::new();
    let mut below = folder;
    while let Some(above) = below.parent().filter(|above| above.starts_with(enough)) {
        if durable.contains(below.as_os_str()) {
            break;
        }
        files.sync_folder(above)?;
        synced.push(below.as_os_str().to_owned());
        below = above;
    }
    // Only now: a name is worth nothing as long as one above it can go.
    durable.extend(synced);
    Ok(())
}

/// Creates the blob unless there is one. `false`: there is.
fn create(files: &dyn Files, path: &Path, body: &[u8], unique: &str) -> io::Result<bool> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temporary = <dyn Files>::temporary(path, unique);
    let linked = files.create_synced(&temporary, body, MODE).and_then(|()| files.link(&temporary, path));
    // What is left starts with a dot and is never read.
    let _ = files.remove_file(&temporary);
    let created = match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        other => other.map(|()| true)?,
    };
    #[cfg(stead_planted)]
    if stead_world::planted::is("folder-not-synced") {
        return Ok(created);
    }
    // Also if the name was taken: who is told of a conflict may rely on what is there.
    files.sync_folder(folder)?;
    Ok(created)
}

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
