//! The simulated files, as one process accesses them.

use std::borrow::Cow;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use stead_world::{Claim, FileKind, Files, Metadata};

use crate::Disk;
use crate::faults::process_faults::{Access, PowerCut, SyncBoundary, TornWrite};
use crate::world::disk::{Content, Entry};
use crate::world::process::Process;

/// Files of the simulated disk, with the faults of one process.
pub(crate) struct SimulatedFiles {
    pub disk: Disk,
    pub process: Process,
}

struct HeldClaim {
    disk: Disk,
    path: String,
    id: u64,
}

impl Claim for HeldClaim {}

impl Drop for HeldClaim {
    fn drop(&mut self) {
        let mut content = self.disk.content();
        if content.claims.get(&self.path) == Some(&self.id) {
            content.claims.remove(&self.path);
        }
    }
}

impl SimulatedFiles {
    /// Checks every operation: all operations of a dead process fail, and injected faults fail.
    fn allowed(&self, access: Access, path: &Path) -> io::Result<()> {
        if !self.process.is_alive() {
            return Err(dead());
        }
        let number = self.process.next_operation();
        match self.process.faults.disk_fault {
            Some(fault) if fault.applies_to(number, access, path) => {
                self.process.note_fault();
                Err(fault.kind.into())
            }
            _ => Ok(()),
        }
    }

    /// Returns the power cut that is due at this sync.
    fn power_goes(&self) -> Option<PowerCut> {
        let number = self.process.next_sync();
        self.process.faults.power_cut.filter(|cut| cut.sync == number)
    }

    fn die(&self, content: &Content, writing: Writing) -> io::Error {
        let boundary = SyncBoundary { unsynced: content.unsynced(), writing: writing == Writing::Bytes };
        self.process.die_in_sync(boundary);
        dead()
    }
}

/// Data that is about to be synced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Bytes,
    Names,
}

/// Returns the path without `.` and `..`. The simulated disk has no links.
fn plain(path: &Path) -> Cow<'_, Path> {
    if !path.to_str().is_some_and(|path| path.contains("/.")) {
        return Cow::Borrowed(path);
    }
    let mut place = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(place.pop()),
            part => place.push(part),
        }
    }
    Cow::Owned(place)
}

fn dead() -> io::Error {
    io::Error::other("the process is dead")
}

impl Files for SimulatedFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = &*plain(path);
        self.allowed(Access::Read, path)?;
        match self.disk.content().get(path) {
            Some(Entry::File { bytes, .. }) => Ok(bytes.as_ref().clone()),
            Some(Entry::Folder { .. }) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn metadata(&self, path: &Path) -> io::Result<Option<Metadata>> {
        let path = &*plain(path);
        self.allowed(Access::Read, path)?;
        Ok(self.disk.content().get(path).map(|entry| match entry {
            Entry::File { bytes, mode } => {
                Metadata { kind: FileKind::File, len: bytes.len() as u64, mode: *mode }
            }
            Entry::Folder { mode } => Metadata { kind: FileKind::Directory, len: 0, mode: *mode },
        }))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let folder = &*plain(folder);
        self.allowed(Access::Read, folder)?;
        Ok(self.disk.content().children(folder).ok_or(io::ErrorKind::NotFound)?)
    }

    fn create_synced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        let path = &*plain(path);
        let file = |bytes: Vec<u8>| Entry::File { bytes: Arc::new(bytes), mode };
        if let Err(error) = self.allowed(Access::Write, path) {
            if self.process.is_alive() {
                // A failed write leaves half of the bytes.
                let _ = self.disk.content().put(path, file(TornWrite::Half.tear(bytes)));
            }
            return Err(error);
        }
        let mut content = self.disk.content();
        if let Some(cut) = self.power_goes() {
            content.put(path, file(cut.torn.tear(bytes)))?;
            return Err(self.die(&content, Writing::Bytes));
        }
        content.syncs += 1;
        content.put(path, file(bytes.to_vec()))
    }

    fn create_unsynced(&self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        let path = &*plain(path);
        self.allowed(Access::Write, path)?;
        self.disk.content().put(path, Entry::File { bytes: Arc::new(bytes.to_vec()), mode })
    }

    fn set_mode(&self, path: &Path, _: u32) -> io::Result<()> {
        self.allowed(Access::Write, path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (&*plain(from), &*plain(to));
        self.allowed(Access::Write, to)?;
        self.disk.content().rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (&*plain(from), &*plain(to));
        self.allowed(Access::Write, to)?;
        let mut content = self.disk.content();
        let entry = content.get(from).cloned().ok_or(io::ErrorKind::NotFound)?;
        content.put(to, entry)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let path = &*plain(path);
        self.allowed(Access::Write, path)?;
        self.disk.content().remove(path)
    }

    fn create_folder(&self, path: &Path, mode: u32) -> io::Result<()> {
        let path = &*plain(path);
        self.allowed(Access::Write, path)?;
        self.disk.content().put(path, Entry::Folder { mode })
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let path = &*plain(path);
        self.allowed(Access::Write, path)?;
        let mut content = self.disk.content();
        if content.children(path).is_some_and(|children| !children.is_empty()) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        content.remove(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let path = &*plain(path);
        self.allowed(Access::Write, path)?;
        let mut content = self.disk.content();
        if self.power_goes().is_some() {
            return Err(self.die(&content, Writing::Names));
        }
        content.sync(path);
        Ok(())
    }

    fn claim(&self, path: &Path) -> io::Result<Box<dyn Claim>> {
        self.allowed(Access::Write, path)?;
        let mut content = self.disk.content();
        // No code waits while it holds a claim, so that this claim is always free.
        let claimed = path.display().to_string();
        content.claims.insert(claimed.clone(), self.process.id);
        if content.get(path).is_none() {
            content.put(path, Entry::File { bytes: Arc::default(), mode: 0o600 })?;
        }
        Ok(Box::new(HeldClaim { disk: self.disk.clone(), path: claimed, id: self.process.id }))
    }

    fn try_claim(&self, path: &Path) -> io::Result<Option<Box<dyn Claim>>> {
        self.allowed(Access::Read, path)?;
        let mut content = self.disk.content();
        if content.get(path).is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let path = path.display().to_string();
        if content.claims.contains_key(&path) {
            return Ok(None);
        }
        content.claims.insert(path.clone(), self.process.id);
        drop(content);
        Ok(Some(Box::new(HeldClaim { disk: self.disk.clone(), path, id: self.process.id })))
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(plain(path).into_owned())
    }

    fn syncs(&self) -> u64 {
        self.disk.content().syncs
    }
}
