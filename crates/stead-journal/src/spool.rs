//! Answers that the journal did not take: where they go, and how they come back.
//!
//! An answer is tried in the store first, as an object of its own, then in folders of this machine. The next
//! run takes it in as the `End` that it should have been, and removes it once that is durable.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use stead_model::StackId;
use stead_state::{Belongs, Sound, Spooled};
use stead_store::{Expect, Key, Store, StoreError};
use stead_world::World;

use crate::{JournalError, Kept, StackKeys};

/// Readable by the owner only, as state is.
const MODE: u32 = 0o600;

/// Where a stack's answers may be.
#[derive(Clone)]
pub struct Spool {
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
    /// What else may hold answers; `None`: only the store is looked at.
    pub machine: Option<Machine>,
}

/// Folders of this machine, tried in order when the store does not take an answer.
#[derive(Clone)]
pub struct Machine {
    world: World,
    folders: Vec<PathBuf>,
}

impl Machine {
    /// Beside the claims of the project, and with the user's own files.
    pub fn new(world: &World, claims: &Path) -> Machine {
        let home = world.host.home.as_ref().map(|home| home.join(".local/state/stead/spool"));
        let folders = std::iter::once(claims.join("spool")).chain(home).collect();
        Machine { world: world.clone(), folders }
    }

    async fn write(&self, folder: PathBuf, name: String, bytes: Vec<u8>) -> std::io::Result<PathBuf> {
        let unique = self.world.entropy.uuid()?;
        let write = move |files: &dyn stead_world::Files| {
            let path = files.absolute(&folder)?.join(name);
            files.ensure_folder(&folder)?;
            files.write_atomically(&path, &bytes, MODE, &unique)?;
            Ok(path)
        };
        self.world.with_files(write).await
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Place {
    Store(Key),
    File(PathBuf),
}

impl Spool {
    /// Puts an answer where there is room for it. Whoever was fenced leaves the store alone.
    pub(crate) async fn keep(&self, answer: Spooled, cause: &JournalError) -> Kept {
        let bytes = answer.encode();
        if matches!(cause, JournalError::Fenced) {
            return Kept { place: None, answer };
        }
        let key = self.keys.spool(answer.epoch, answer.op);
        match self.store.put(&key, Bytes::from(bytes.clone()), Expect::Absent).await {
            Ok(_) | Err(StoreError::Conflict { .. }) => {
                let place = format!("{} in {}", key, self.store.describe());
                return Kept { place: Some(place), answer };
            }
            Err(_) => {}
        }
        let name = format!("{}-{:010}-{:010}", answer.stack, answer.epoch.0, answer.op.0);
        if let Some(machine) = &self.machine {
            for folder in &machine.folders {
                if let Ok(path) = machine.write(folder.clone(), name.clone(), bytes.clone()).await {
                    return Kept { place: Some(path.display().to_string()), answer };
                }
            }
        }
        Kept { place: None, answer }
    }

    /// Takes in what belongs to the state, and tells which places may be cleared once that is durable.
    /// An answer that cannot be read, is another's, or would break a rule stays where it is.
    pub(crate) async fn take(
        &self,
        sound: &mut Sound,
        epoch: stead_model::Epoch,
    ) -> Result<Vec<Place>, JournalError> {
        #[cfg(stead_planted)]
        if stead_world::planted::is("spool-forgotten") {
            return Ok(Vec::new());
        }
        let mut over = Vec::new();
        for (place, answer) in self.find(sound.state().stack()).await? {
            match answer.belongs(sound.state(), epoch) {
                Belongs::Never => {}
                Belongs::NoLonger => over.push(place),
                Belongs::Yes => {
                    let mut with_it = sound.clone();
                    let records = answer.records(sound.state());
                    if records.iter().all(|record| with_it.apply(record).is_ok()) {
                        *sound = with_it;
                        over.push(place);
                    }
                }
            }
        }
        Ok(over)
    }

    async fn find(&self, stack: &StackId) -> Result<Vec<(Place, Spooled)>, JournalError> {
        let mut found = Vec::new();
        for key in self.store.list(&self.keys.spools()).await? {
            let body = self.store.get(&key).await?.map(|found| found.body);
            if let Some(answer) = body.and_then(|body| Spooled::decode(&body).ok()) {
                found.push((Place::Store(key), answer));
            }
        }
        if let Some(Machine { world, folders }) = &self.machine {
            for folder in folders.clone() {
                let prefix = format!("{stack}-");
                let read = move |files: &dyn stead_world::Files| Ok(read_all(files, &folder, &prefix));
                let files = world.with_files(read).await.unwrap_or_default();
                found.extend(files.into_iter().map(|(path, answer)| (Place::File(path), answer)));
            }
        }
        Ok(found)
    }

    /// Clears places whose answers are durable elsewhere. One that stays is seen to be over next time.
    pub(crate) async fn clear(&self, places: Vec<Place>) {
        for place in places {
            match place {
                Place::Store(key) => drop(self.store.delete(&key).await),
                Place::File(path) => {
                    if let Some(Machine { world, .. }) = &self.machine {
                        drop(world.with_files(move |files| files.remove_file(&path)).await);
                    }
                }
            }
        }
    }
}

/// A folder that is not there, or cannot be read, holds no answers.
fn read_all(files: &dyn stead_world::Files, folder: &Path, prefix: &str) -> Vec<(PathBuf, Spooled)> {
    let names = files.list(folder).unwrap_or_default();
    let read = |name: &String| {
        let path = folder.join(name);
        let answer = Spooled::decode(&files.read(&path).ok()?).ok()?;
        Some((path, answer))
    };
    names.iter().filter(|name| name.starts_with(prefix)).filter_map(read).collect()
}
