//! Registered writers, so that the temporary files of dead processes can be deleted.
//!
//! A process that writes keeps a file of its own locked below `.writers/`, and puts its id into the names of
//! its temporary files. If that file can be locked, the process is dead. Its temporary files are listed first
//! and the lock is tried again afterwards: a process that has not locked its file yet has written no
//! temporary file yet.

use std::io;
use std::path::{Path, PathBuf};

use stead_world::{Claim, FileKind, Files, World};

/// Folder of the locked files. It starts with a dot, so it is never a key.
const WRITERS: &str = ".writers";

/// Registration of this process. It ends when the value is dropped or the process dies.
pub(super) struct Writer {
    id: String,
    path: PathBuf,
    world: World,
    _claim: Box<dyn Claim>,
}

impl Writer {
    /// Registers this process, and deletes the temporary files of dead ones.
    pub(super) fn register(world: &World, root: &Path, id: String) -> io::Result<Writer> {
        let files = world.files.as_ref();
        let folder = root.join(WRITERS);
        files.ensure_private_folder(&folder)?;
        // Best effort: the files do no harm, and the next writer tries again.
        let _ = sweep(files, root, &folder);
        let path = folder.join(&id);
        let claim = files.claim(&path)?;
        Ok(Writer { id, path, world: world.clone(), _claim: claim })
    }

    /// Returns the unique part of a temporary file's name, which starts with the writer's id.
    pub(super) fn unique(&self, drawn: &str) -> String {
        format!("{}.{drawn}", self.id)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.world.files.remove_file(&self.path);
    }
}

/// Deletes the temporary files of dead writers.
fn sweep(files: &dyn Files, root: &Path, folder: &Path) -> io::Result<()> {
    let is_dead = |id: &String| matches!(files.try_claim(&folder.join(id)), Ok(Some(_)));
    let dead: Vec<String> = files.list(folder)?.into_iter().filter(is_dead).collect();
    if dead.is_empty() {
        return Ok(());
    }
    let mut left = Vec::new();
    find(files, root, &mut left)?;
    for id in dead.iter().filter(|id| is_dead(id)) {
        let prefix = format!(".tmp-{id}.");
        for path in left.iter().filter(|path| name(path).starts_with(&prefix)) {
            files.remove_file(path)?;
        }
        files.remove_file(&folder.join(id))?;
    }
    Ok(())
}

/// Collects all temporary files, at any depth.
fn find(files: &dyn Files, folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in files.list(folder)? {
        let path = folder.join(&entry);
        if entry.starts_with(".tmp-") {
            found.push(path);
        } else if !entry.starts_with('.')
            && files.metadata(&path)?.is_some_and(|found| found.kind == FileKind::Directory)
        {
            find(files, &path, found)?;
        }
    }
    Ok(())
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
