//! File operations for durable writes.

use std::io;
use std::path::{Component, Path, PathBuf};

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

/// A lock on a file, which the operating system releases when the process ends in any way.
pub trait Claim: Send + Sync {}

/// Mode of folders that everybody may read, such as those that a program declares.
pub const SHARED_FOLDER: u32 = 0o755;

/// Mode of folders with state.
pub const PRIVATE_FOLDER: u32 = 0o700;

/// Operations on files. They block; see `World::with_files`.
pub trait Files: Send + Sync {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Returns the metadata, or `None` if the path does not exist. Does not follow a symbolic link.
    fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>>;
    /// Returns the names in a folder, sorted.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Creates a file that must not exist. Its bytes are durable when this returns; its name is durable only
    /// after `sync_folder`.
    fn create_synced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()>;
    /// Creates a file that must not exist. A crash may lose it, or leave it without its bytes.
    fn create_unsynced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()>;
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Renames a file, and atomically replaces an existing file at `to`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name; fails if that name exists.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Creates one folder, which must not exist, with the mode of [`SHARED_FOLDER`] or [`PRIVATE_FOLDER`]: only its owner may write
    /// in it, whatever the umask allows.
    fn create_folder(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Removes one folder, which must be empty.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Makes the names that were created or removed in a folder durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    /// Locks the file, and waits while another process has it locked. Creates the file if it does not exist.
    fn claim(&self, path: &Path) -> io::Result<Box<dyn Claim>>;
    /// Locks the file without waiting; `None` if another process has it locked. Does not create the file.
    fn try_claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>>;
    /// Returns the absolute form of a path.
    fn absolute(&self, path: &Path) -> io::Result<PathBuf>;
    /// Returns the absolute path without symbolic links and `..`. Fails if the path does not exist.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// Returns the number of syncs so far.
    fn syncs(&self) -> u64;
}

impl dyn Files + '_ {
    /// Returns the path of a temporary file beside `path`. No other file has a name with this prefix.
    pub fn temporary(path: &Path, unique: &str) -> PathBuf {
        path.with_file_name(format!(".tmp-{unique}"))
    }

    /// Creates the folder and those above it, for all to read; the names of new folders are durable when this returns.
    pub fn ensure_folder(&self, path: &Path) -> io::Result<()> {
        self.ensure(path, SHARED_FOLDER)
    }

    /// Creates the folder and those above it as [`ensure_folder`](Self::ensure_folder) does, for its owner alone.
    pub fn ensure_private_folder(&self, path: &Path) -> io::Result<()> {
        self.ensure(path, PRIVATE_FOLDER)
    }

    fn ensure(&self, path: &Path, mode: u32) -> io::Result<()> {
        match self.metadata(path)? {
            Some(Metadata { kind: FileKind::Directory, .. }) => return Ok(()),
            // A link to a folder can be used as a folder; any other kind fails when it is used.
            Some(Metadata { kind: FileKind::Other, .. }) => return Ok(()),
            Some(Metadata { kind: FileKind::File, .. }) => {
                return Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!("{} is a file, but a folder is needed", path.display()),
                ));
            }
            None => {}
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            self.ensure(parent, mode)?;
        }
        match self.create_folder(path, mode) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.sync_folder(parent.unwrap_or(Path::new(".")))
    }

    /// Returns the place that a path leads to, whether or not it exists: two spellings of one place are equal.
    ///
    /// Links and `..` are resolved as far as the path exists, and the rest is appended. A link in the last part
    /// is not followed, as the operations on files do not follow it either.
    pub fn place_of(&self, path: &Path) -> PathBuf {
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => self.folder_place(parent).join(name),
            _ => self.folder_place(path),
        }
    }

    /// Returns the place of a folder; links are followed in every part.
    fn folder_place(&self, path: &Path) -> PathBuf {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        if let Ok(place) = self.canonical(path) {
            return place;
        }
        match (path.parent(), path.components().next_back()) {
            (Some(parent), Some(Component::Normal(name))) => self.folder_place(parent).join(name),
            (Some(parent), Some(Component::ParentDir)) => {
                let place = self.folder_place(parent);
                place.parent().map_or(place.clone(), Path::to_owned)
            }
            (Some(parent), Some(Component::CurDir)) => self.folder_place(parent),
            _ => path.to_owned(),
        }
    }

    /// Creates a file atomically; fails if the path exists, even if it appeared a moment ago.
    pub fn write_exclusively(&self, path: &Path, bytes: &[u8], mode: u32, unique: &str) -> io::Result<()> {
        let temporary = Self::temporary(path, unique);
        let linked =
            self.create_synced(&temporary, bytes, mode).and_then(|()| match self.link(&temporary, path) {
                // A file system without hard links: the creation is still exclusive, but not atomic.
                Err(error) if has_no_links(&error) => self.create_synced(path, bytes, mode),
                linked => linked,
            });
        // Best effort: a file that stays starts with `.tmp-` and is never read.
        let _ = self.remove_file(&temporary);
        linked.and_then(|()| self.sync_folder(parent_of(path)))
    }

    /// Replaces or creates a file atomically: a reader sees the old bytes or the new ones, also after a
    /// crash.
    pub fn write_atomically(&self, path: &Path, bytes: &[u8], mode: u32, unique: &str) -> io::Result<()> {
        let temporary = Self::temporary(path, unique);
        let written = self
            .create_synced(&temporary, bytes, mode)
            .and_then(|()| self.rename(&temporary, path))
            .and_then(|()| self.sync_folder(parent_of(path)));
        if written.is_err() {
            // Best effort: a file that stays starts with `.tmp-` and is never read.
            let _ = self.remove_file(&temporary);
        }
        written
    }
}

/// Returns the folder that a path is in.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns true if the file system cannot give a file a second name.
fn has_no_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}
