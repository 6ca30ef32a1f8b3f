//! Real files, except for one operation that fails on one path.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stead_world::{Claim, Files, Metadata, RealFiles, World};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fails {
    SyncFolder,
    RenameTo,
    SetMode,
    /// A file can be neither removed nor renamed.
    RemoveFile,
    /// Another process writes to the file in the moment before it is renamed.
    WrittenBeforeRename,
}

pub(crate) struct FailingFiles {
    real: RealFiles,
    fails: Fails,
    name: &'static str,
}

/// Returns a world in which an operation fails on paths with this file name.
pub(crate) fn world(fails: Fails, name: &'static str) -> World {
    World { files: Arc::new(FailingFiles { real: RealFiles::default(), fails, name }), ..World::real() }
}

impl FailingFiles {
    fn fail_if_hit(&self, fails: Fails, path: &Path) -> io::Result<()> {
        let hit = self.fails == fails && path.file_name().is_some_and(|name| name == self.name);
        if hit { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    }
}

impl Files for FailingFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.real.read(path)
    }
    fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        self.real.metadata(path)
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.real.list(folder)
    }
    fn create_synced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.real.create_synced(path, bytes, mode)
    }
    fn create_unsynced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.real.create_unsynced(path, bytes, mode)
    }
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.fail_if_hit(Fails::SetMode, path)?;
        self.real.set_mode(path, mode)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.fail_if_hit(Fails::RemoveFile, from)?;
        if self.fail_if_hit(Fails::WrittenBeforeRename, from).is_err() {
            std::fs::write(from, "written meanwhile")?;
        }
        self.fail_if_hit(Fails::RenameTo, to)?;
        self.real.rename(from, to)
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.fail_if_hit(Fails::RenameTo, to)?;
        self.real.link(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.fail_if_hit(Fails::RemoveFile, path)?;
        self.real.remove_file(path)
    }
    fn create_folder(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.real.create_folder(path, mode)
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.real.remove_folder(path)
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.fail_if_hit(Fails::SyncFolder, path)?;
        self.real.sync_folder(path)
    }
    fn claim(&self, path: &Path) -> io::Result<Box<dyn Claim>> {
        self.real.claim(path)
    }
    fn try_claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        self.real.try_claim(path)
    }
    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.real.absolute(path)
    }
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.real.canonical(path)
    }
    fn syncs(&self) -> u64 {
        self.real.syncs()
    }
}
