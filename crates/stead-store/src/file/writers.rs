//! Who writes temporary files, so that those of the dead can be swept.
//!
//! A process that writes keeps a file of its own locked below `.writers/`, and puts its number into the names
//! of its temporary files. When that lock can be had, the process is dead. What it left is listed first and
//! the lock tried again after that: whoever holds no lock yet has written nothing yet either.

use std::io;
use std::path::{Path, PathBuf};

use stead_world::{Claim, FileKind, Files, World};

/// Holds the locked files. It starts with a dot, so it is never a key.
const WRITERS: &str = ".writers";

/// This process's place among the writers. Given up when it is dropped, or when the process dies.
pub(super) struct Writer {
    number: String,
    path: PathBuf,
    world: World,
    _claim: Box<dyn Claim>,
}

impl Writer {
    /// Takes a place, and sweeps what dead writers left.
    pub(super) fn register(world: &World, root: &Path, number: String) -> io::Result<Writer> {
        let files = world.files.as_ref();
        let folder = root.join(WRITERS);
        files.ensure_folder(&folder)?;
        // What cannot be swept now does no harm, and somebody else will.
        let _ = sweep(files, root, &folder);
        let path = folder.join(&number);
        let claim = files.claim(&path)?;
        Ok(Writer { number, path, world: world.clone(), _claim: claim })
    }

    /// A part of a temporary file's name that tells whose it is.
    pub(super) fn unique(&self, drawn: &str) -> String {
        format!("{}.{drawn}", self.number)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.world.files.remove_file(&self.path);
    }
}

fn sweep(files: &dyn Files, root: &Path, folder: &Path) -> io::Result<()> {
    let is_dead = |number: &String| matches!(files.try_claim(&folder.join(number)), Ok(Some(_)));
    let dead: Vec<String> = files.list(folder)?.into_iter().filter(is_dead).collect();
    if dead.is_empty() {
        return Ok(());
    }
    let mut left = Vec::new();
    find(files, root, &mut left)?;
    for number in dead.iter().filter(|number| is_dead(number)) {
        let whose = format!(".tmp-{number}.");
        for path in left.iter().filter(|path| name(path).starts_with(&whose)) {
            files.remove_file(path)?;
        }
        files.remove_file(&folder.join(number))?;
    }
    Ok(())
}

/// All temporary files, at any depth.
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
