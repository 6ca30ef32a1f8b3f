//! Files: the few operations that durable code is built from.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    pub kind: FileKind,
    pub len: u64,
    /// Permission bits; 0 where the system has none.
    pub mode: u32,
}

/// A lock on a file that the operating system lets go when the process ends, however it ends.
pub trait Claim: Send + Sync {}

/// What can be done with files. Blocking; see `World::with_files`.
pub trait Files: Send + Sync {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// What is there, or `None`. Does not follow a symbolic link.
    fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>>;
    /// The names in a folder, sorted.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Creates a file that must not exist, with these bytes, which are on the disk when it returns.
    /// Its name is not; see `sync_folder`.
    fn create_synced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()>;
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Replaces what is at `to`, at once.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// A second name for a file; fails if the name is taken.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Creates one folder, which must not exist.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Removes one folder, which must be empty.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Names that were made or removed in the folder are on the disk when it returns.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    /// Waits until nobody else claims the file, then claims it. Creates it if need be.
    fn claim(&self, path: &Path) -> io::Result<Box<dyn Claim>>;
    /// As `claim`, but `None` at once if somebody else has it. Does not create it.
    fn try_claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>>;
    /// The path made absolute.
    fn absolute(&self, path: &Path) -> io::Result<PathBuf>;
    /// How often something was synced so far.
    fn syncs(&self) -> u64;
}

impl dyn Files + '_ {
    /// A path beside `path` for a file under construction. Names that start so are never anything else.
    pub fn temporary(path: &Path, unique: &str) -> PathBuf {
        path.with_file_name(format!(".tmp-{unique}"))
    }

    /// Creates the folder and those above it; the names of new ones are on the disk when it returns.
    pub fn ensure_folder(&self, path: &Path) -> io::Result<()> {
        match self.metadata(path)? {
            Some(Metadata { kind: FileKind::Directory, .. }) => return Ok(()),
            // A link to a folder serves as one; anything else fails in the attempt to use it.
            Some(Metadata { kind: FileKind::Other, .. }) => return Ok(()),
            Some(Metadata { kind: FileKind::File, .. }) => {
                return Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!("{} is a file, and a folder is needed", path.display()),
                ));
            }
            None => {}
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            self.ensure_folder(parent)?;
        }
        match self.create_folder(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.sync_folder(parent.unwrap_or(Path::new(".")))
    }

    /// Replaces or creates a file in one step: readers and crashes see the old bytes or the new ones.
    pub fn write_atomically(&self, path: &Path, bytes: &[u8], mode: u32, unique: &str) -> io::Result<()> {
        let temporary = Self::temporary(path, unique);
        #[cfg(stead_planted)]
        if crate::planted::is("head-not-synced") {
            return self.create_synced(&temporary, bytes, mode).and_then(|()| self.rename(&temporary, path));
        }
        let written = self
            .create_synced(&temporary, bytes, mode)
            .and_then(|()| self.rename(&temporary, path))
            .and_then(|()| self.sync_folder(parent_of(path)));
        if written.is_err() {
            // Best effort: what is left starts with `.tmp-` and is never read.
            let _ = self.remove_file(&temporary);
        }
        written
    }
}

/// The folder that a path is in.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
