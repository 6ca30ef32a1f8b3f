//! The file system of this machine.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::files::{Claim, FileKind, Files, Metadata};

#[derive(Default)]
pub struct RealFiles {
    syncs: AtomicU64,
}

impl RealFiles {
    fn sync(&self, file: &File) -> io::Result<()> {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        file.sync_all()
    }
}

/// A locked file; closing it releases the lock.
struct Locked {
    _file: File,
}

impl Claim for Locked {}

impl Files for RealFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        match fs::symlink_metadata(path) {
            Ok(found) => Ok(Some(Metadata { kind: kind(&found), len: found.len(), mode: mode(&found) })),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = fs::read_dir(folder)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn create_synced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        let mut file = with_mode(OpenOptions::new().write(true).create_new(true), mode).open(path)?;
        file.write_all(bytes)?;
        // The process's umask may have cleared some of the bits.
        set_mode(path, mode)?;
        self.sync(&file)
    }

    fn create_unsynced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        with_mode(OpenOptions::new().write(true).create_new(true), mode).open(path)?.write_all(bytes)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        set_mode(path, mode)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn create_folder(&self, path: &Path, mode: u32) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt as _;
        fs::DirBuilder::new().mode(mode).create(path)
    }

    #[cfg(not(unix))]
    fn create_folder(&self, path: &Path, _mode: u32) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.sync(&File::open(path)?)
    }

    #[cfg(not(unix))]
    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(()) // Folders cannot be opened on this system; its file system journals names itself.
    }

    fn claim(&self, path: &Path) -> io::Result<Box<dyn Claim>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        file.lock()?;
        Ok(Box::new(Locked { _file: file }))
    }

    fn try_claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        let file = OpenOptions::new().write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(Locked { _file: file }))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        std::path::absolute(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }
}

fn kind(found: &fs::Metadata) -> FileKind {
    if found.is_file() {
        FileKind::File
    } else if found.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    }
}

#[cfg(unix)]
fn mode(found: &fs::Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    found.mode() & 0o7777
}

#[cfg(not(unix))]
fn mode(_found: &fs::Metadata) -> u32 {
    0
}

#[cfg(unix)]
fn with_mode(options: &mut OpenOptions, mode: u32) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(mode)
}

#[cfg(not(unix))]
fn with_mode(options: &mut OpenOptions, _mode: u32) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> (tempfile::TempDir, Box<dyn Files>) {
        (tempfile::tempdir().unwrap(), Box::new(RealFiles::default()))
    }

    #[test]
    fn atomic_write_replaces_the_file_and_leaves_no_temporary_file() {
        let (dir, files) = files();
        let path = dir.path().join("a");
        files.write_atomically(&path, b"one", 0o600, "1").unwrap();
        files.write_atomically(&path, b"two", 0o640, "2").unwrap();
        assert_eq!(files.read(&path).unwrap(), b"two");
        assert_eq!(files.metadata(&path).unwrap().unwrap().mode, 0o640);
        assert_eq!(files.list(dir.path()).unwrap(), ["a"]);
        assert_eq!(files.syncs(), 4);
    }

    #[test]
    fn error_names_the_file_that_is_in_the_place_of_a_folder() {
        let (dir, files) = files();
        let path = dir.path().join("a");
        files.create_synced(&path, b"", 0o600).unwrap();
        let error = files.ensure_folder(&path.join("b")).unwrap_err();
        assert!(error.to_string().contains("is a file, but a folder is needed"), "{error}");
        files.ensure_folder(&dir.path().join("x/y z/ü")).unwrap();
        assert_eq!(files.list(&dir.path().join("x/y z")).unwrap(), ["ü"]);
    }

    #[test]
    fn exclusive_write_never_replaces_a_file() {
        let (dir, files) = files();
        let path = dir.path().join("a");
        files.write_exclusively(&path, b"one", 0o640, "1").unwrap();
        let error = files.write_exclusively(&path, b"two", 0o600, "2").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(files.read(&path).unwrap(), b"one");
        assert_eq!(files.list(dir.path()).unwrap(), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn every_spelling_of_a_path_has_one_place() {
        let (dir, files) = files();
        let root = files.canonical(dir.path()).unwrap();
        files.ensure_folder(&root.join("d/e")).unwrap();
        std::os::unix::fs::symlink(root.join("d"), root.join("link")).unwrap();
        files.create_synced(&root.join("d/f"), b"", 0o600).unwrap();
        std::os::unix::fs::symlink(root.join("d/f"), root.join("d/g")).unwrap();
        for spelling in ["d/f", "./d/f", "link/f", "d/e/../f", "link/e/../../d/./f", "no/../d/f", "d//f"] {
            assert_eq!(files.place_of(&root.join(spelling)), root.join("d/f"), "{spelling}");
        }
        for spelling in ["d/new/x", "link/new/x", "d/new/../new/x"] {
            assert_eq!(files.place_of(&root.join(spelling)), root.join("d/new/x"), "{spelling}");
        }
        assert_eq!(files.place_of(&root.join("d/e/..")), root.join("d"));
        assert_eq!(files.place_of(&root.join("link/g")), root.join("d/g"), "the last link is not followed");
    }

    #[test]
    fn claim_is_exclusive_until_it_is_dropped() {
        let (dir, files) = files();
        let path = dir.path().join("lock");
        assert!(files.try_claim(&path).is_err(), "the file of the claim does not exist");
        let held = files.claim(&path).unwrap();
        assert!(files.try_claim(&path).unwrap().is_none());
        drop(held);
        assert!(files.try_claim(&path).unwrap().is_some());
    }
}
