//! Marks that name the owners of files and folders: one small file each, in a folder of the user.
//!
//! **Invariants:** the identity of a file is its place, not the spelling of its path; a mark is never in the file that
//! it is about, nor beside it. Marks are not synced: a mark that a crash loses is missing, and a missing mark never
//! refuses anything.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use stead_model::{Digest, PhysicalIdentity};
use stead_provider::{Claim, Description, MarksUnavailable, Occasion, OwnerMark, Ownership};
use stead_world::Files;

use crate::LocalProvider;
use crate::failure::reason;
use crate::files::disk::is_absent;

/// Version of the format of a mark. A mark of another version counts as missing.
const VERSION: u32 = 1;

/// Only the user reads the marks, which name projects and paths.
const MODE: u32 = 0o600;

/// The content of a mark.
#[derive(Serialize, Deserialize)]
struct StoredMark {
    version: u32,
    identity: PhysicalIdentity,
    owner: OwnerMark,
}

#[async_trait]
impl Ownership for LocalProvider {
    async fn identities(&self, described: Vec<Description>) -> Vec<Vec<PhysicalIdentity>> {
        let places = |one: &Description| match self.served(&one.ty) {
            Ok(served) => served.operations.places(&self.machine, &one.properties),
            Err(_) => Vec::new(),
        };
        let paths: Vec<Vec<PathBuf>> = described.iter().map(places).collect();
        let count = paths.len();
        if paths.iter().all(Vec::is_empty) {
            return vec![Vec::new(); count];
        }
        let found = self.machine.world.with_files(move |files| Ok(canonical(files, paths))).await;
        found.unwrap_or_else(|_| vec![Vec::new(); count])
    }

    fn has_spellings(&self) -> bool {
        true
    }

    async fn owners(&self, of: Vec<PhysicalIdentity>) -> Vec<Result<Option<OwnerMark>, MarksUnavailable>> {
        let count = of.len();
        let read_all = move |files: &dyn Files, folder: &Path| {
            let one = |identity| read(files, folder, identity).map_err(|error| unavailable(folder, &error));
            Ok(of.iter().map(one).collect())
        };
        self.on_marks(read_all).await.unwrap_or_else(|error| vec![Err(error); count])
    }

    async fn claim(
        &self,
        identity: PhysicalIdentity,
        owner: OwnerMark,
        expected: Option<OwnerMark>,
        _occasion: Occasion,
    ) -> Result<Claim, MarksUnavailable> {
        let unique = self.machine.world.entropy.uuid().map_err(|error| MarksUnavailable(reason(&error)))?;
        self.on_marks(move |files, folder| claim(files, folder, identity, owner, expected.as_ref(), &unique))
            .await
    }

    async fn release(&self, identity: PhysicalIdentity, owner: OwnerMark) -> Result<(), MarksUnavailable> {
        let work = move |files: &dyn Files, folder: &Path| {
            if read(files, folder, &identity)?.is_none_or(|found| found != owner) {
                return Ok(());
            }
            match files.remove_file(&mark_path(folder, &identity)) {
                Err(error) if !is_absent(&error) => Err(error),
                _ => Ok(()),
            }
        };
        self.on_marks(work).await
    }

    async fn marks(&self) -> Result<Vec<(PhysicalIdentity, OwnerMark)>, MarksUnavailable> {
        self.on_marks(|files, folder| {
            let names = match files.list(folder) {
                Ok(names) => names,
                Err(error) if is_absent(&error) => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
            let names = names.iter().filter(|name| name.ends_with(".json"));
            let stored = names.filter_map(|name| parse(&files.read(&folder.join(name)).ok()?));
            let mut marks: Vec<_> = stored.map(|mark| (mark.identity, mark.owner)).collect();
            marks.sort_by(|(a, _), (b, _)| a.cmp(b));
            Ok(marks)
        })
        .await
    }
}

impl LocalProvider {
    /// Works on the folder of the marks.
    async fn on_marks<T, F>(&self, work: F) -> Result<T, MarksUnavailable>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Files, &Path) -> io::Result<T> + Send + 'static,
    {
        let world = &self.machine.world;
        let Some(folder) = world.host.owners.clone() else {
            return Err(MarksUnavailable("there is no home folder".to_owned()));
        };
        let shown = folder.clone();
        let done = world.with_files(move |files| work(files, &folder)).await;
        done.map_err(|error| unavailable(&shown, &error))
    }
}

fn unavailable(folder: &Path, error: &io::Error) -> MarksUnavailable {
    MarksUnavailable(format!("{}: {}", folder.display(), reason(error)))
}

/// Returns the places that paths lead to. Paths in one folder resolve that folder once.
fn canonical(files: &dyn Files, paths: Vec<Vec<PathBuf>>) -> Vec<Vec<PhysicalIdentity>> {
    let mut folders: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut place = |path: PathBuf| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => {
            if let Some(folder) = folders.get(parent) {
                return folder.join(name);
            }
            let place = files.place_of(&path);
            if let Some(folder) = place.parent() {
                folders.insert(parent.to_owned(), folder.to_owned());
            }
            place
        }
        _ => files.place_of(&path),
    };
    let identity = |path: PathBuf| PhysicalIdentity::new(path.display().to_string());
    let of_one = |paths: Vec<PathBuf>| {
        let places: BTreeSet<PathBuf> = paths.into_iter().map(&mut place).collect();
        places.into_iter().map(identity).collect()
    };
    paths.into_iter().map(of_one).collect()
}

fn mark_path(folder: &Path, identity: &PhysicalIdentity) -> PathBuf {
    folder.join(format!("{}.json", Digest::of(identity.as_str().as_bytes()).as_str()))
}

fn parse(bytes: &[u8]) -> Option<StoredMark> {
    serde_json::from_slice(bytes).ok().filter(|mark: &StoredMark| mark.version == VERSION)
}

fn read(files: &dyn Files, folder: &Path, identity: &PhysicalIdentity) -> io::Result<Option<OwnerMark>> {
    match files.read(&mark_path(folder, identity)) {
        Ok(bytes) => Ok(parse(&bytes).filter(|mark| mark.identity == *identity).map(|mark| mark.owner)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn claim(
    files: &dyn Files,
    folder: &Path,
    identity: PhysicalIdentity,
    owner: OwnerMark,
    expected: Option<&OwnerMark>,
    unique: &str,
) -> io::Result<Claim> {
    let path = mark_path(folder, &identity);
    let found = read(files, folder, &identity)?;
    if found.as_ref() == Some(&owner) {
        return Ok(Claim::Made);
    }
    if found.as_ref() != expected {
        return Ok(Claim::Lost);
    }
    files.ensure_private_folder(folder)?;
    let temporary = <dyn Files>::temporary(&path, unique);
    let mark = StoredMark { version: VERSION, identity, owner };
    let bytes = serde_json::to_vec_pretty(&mark)?;
    files.create_unsynced(&temporary, &bytes, MODE)?;
    // A file that holds no mark is replaced; a first mark must not replace one that appeared meanwhile.
    let exists = files.metadata(&path)?.is_some();
    let written = if exists { files.rename(&temporary, &path) } else { files.link(&temporary, &path) };
    if !exists || written.is_err() {
        // Best effort: a file that stays starts with `.tmp-` and is never read.
        let _ = files.remove_file(&temporary);
    }
    match written {
        Ok(()) => Ok(Claim::Made),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Claim::Lost),
        Err(error) => Err(error),
    }
}
