//! The spool: provider answers that could not be appended to the journal.
//!
//! An answer is first stored in the store, as an object of its own, else in a folder of this machine. The
//! next run replays it as the `End` record that it should have been, and removes it once that record is
//! durable.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use stead_model::StackId;
use stead_state::{Head, SpoolStatus, Spooled, VerifiedState};
use stead_store::{Expect, Key, Store, StoreError};
use stead_world::World;

use crate::{JournalError, StackKeys, UnrecordedAnswer};

/// Readable by the owner only, like state.
const MODE: u32 = 0o600;

/// All places where spooled answers of a stack may be.
#[derive(Clone)]
pub struct Spool {
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
    /// Folders of this machine; `None`: only the store is searched.
    pub local: Option<LocalSpool>,
}

/// Folders of this machine, tried in order when an answer cannot be written to the store.
#[derive(Clone)]
pub struct LocalSpool {
    world: World,
    folders: Vec<PathBuf>,
}

impl LocalSpool {
    /// Returns a folder beside the project's claims, and one in the user's home.
    pub fn new(world: &World, claims: &Path) -> LocalSpool {
        let home = world.host.home.as_ref().map(|home| home.join(".local/state/stead/spool"));
        let folders = std::iter::once(claims.join("spool")).chain(home).collect();
        LocalSpool { world: world.clone(), folders }
    }

    async fn write(&self, folder: PathBuf, name: String, bytes: Vec<u8>) -> std::io::Result<PathBuf> {
        let unique = self.world.entropy.uuid()?;
        let write = move |files: &dyn stead_world::Files| {
            let path = files.absolute(&folder)?.join(name);
            files.ensure_private_folder(&folder)?;
            files.write_atomically(&path, &bytes, MODE, &unique)?;
            Ok(path)
        };
        self.world.with_files(write).await
    }
}

/// Location of one spooled answer.
#[derive(Clone, Debug)]
pub(crate) enum SpoolLocation {
    Store(Key),
    File(PathBuf),
}

impl Spool {
    /// Stores an answer in the first location that takes it. A fenced run must not write to the store, so its
    /// answer is stored nowhere.
    pub(crate) async fn store_answer(&self, answer: Spooled, cause: &JournalError) -> UnrecordedAnswer {
        let bytes = answer.encode();
        if matches!(cause, JournalError::Fenced) {
            return UnrecordedAnswer { location: None, answer };
        }
        let key = self.keys.spool(answer.epoch, answer.op);
        match self.store.put(&key, Bytes::from(bytes.clone()), Expect::Absent).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => {
                let location = format!("{} in {}", key, self.store.describe());
                return UnrecordedAnswer { location: Some(location), answer };
            }
            Err(_) => {}
        }
        let name = format!("{}-{:010}-{:010}", answer.stack, answer.epoch.0, answer.op.0);
        if let Some(local) = &self.local {
            for folder in &local.folders {
                if let Ok(path) = local.write(folder.clone(), name.clone(), bytes.clone()).await {
                    return UnrecordedAnswer { location: Some(path.display().to_string()), answer };
                }
            }
        }
        UnrecordedAnswer { location: None, answer }
    }

    /// Replays the answers that belong to the state. Returns the locations to clear once the state is
    /// durable.
    ///
    /// An answer stays where it is if it cannot be read, belongs to another stack, or would violate a rule. `head` is that of the
    /// state before it was opened.
    pub(crate) async fn replay(
        &self,
        sound: &mut VerifiedState,
        head: &Head,
    ) -> Result<Vec<SpoolLocation>, JournalError> {
        let mut replayed = Vec::new();
        for (location, answer) in self.find(sound.state().stack()).await? {
            match answer.status(sound.state(), head) {
                SpoolStatus::Foreign => {}
                SpoolStatus::Superseded => replayed.push(location),
                SpoolStatus::Applicable => {
                    let mut with_answer = sound.clone();
                    let records = answer.records(sound.state());
                    if records.iter().all(|record| with_answer.apply(record).is_ok()) {
                        *sound = with_answer;
                        replayed.push(location);
                    }
                }
            }
        }
        Ok(replayed)
    }

    async fn find(&self, stack: &StackId) -> Result<Vec<(SpoolLocation, Spooled)>, JournalError> {
        let mut found = Vec::new();
        for key in self.store.list(&self.keys.spools()).await? {
            let body = self.store.get(&key).await?.map(|blob| blob.body);
            if let Some(answer) = body.and_then(|body| Spooled::decode(&body).ok()) {
                found.push((SpoolLocation::Store(key), answer));
            }
        }
        if let Some(LocalSpool { world, folders }) = &self.local {
            for folder in folders.clone() {
                let prefix = format!("{stack}-");
                let read = move |files: &dyn stead_world::Files| Ok(read_all(files, &folder, &prefix));
                let files = world.with_files(read).await.unwrap_or_default();
                found.extend(files.into_iter().map(|(path, answer)| (SpoolLocation::File(path), answer)));
            }
        }
        Ok(found)
    }

    /// Removes spooled answers that are durable in the state. The next run recognises one that stays as
    /// replayed.
    pub(crate) async fn clear(&self, locations: Vec<SpoolLocation>) {
        for location in locations {
            match location {
                SpoolLocation::Store(key) => drop(self.store.delete(&key).await),
                SpoolLocation::File(path) => {
                    if let Some(LocalSpool { world, .. }) = &self.local {
                        drop(world.with_files(move |files| files.remove_file(&path)).await);
                    }
                }
            }
        }
    }
}

/// Reads all answers in a folder. A folder that is missing or unreadable has none.
fn read_all(files: &dyn stead_world::Files, folder: &Path, prefix: &str) -> Vec<(PathBuf, Spooled)> {
    let names = files.list(folder).unwrap_or_default();
    let read = |name: &String| {
        let path = folder.join(name);
        let answer = Spooled::decode(&files.read(&path).ok()?).ok()?;
        Some((path, answer))
    };
    names.iter().filter(|name| name.starts_with(prefix)).filter_map(read).collect()
}
