//! Files that are written, looked at and removed whole.

use std::io;
use std::path::Path;

use stead_provider::Refusal;
use stead_world::{Files, Metadata};
use zeroize::Zeroizing;

use crate::failure::{Attempt, Failure, reason, unable};
use crate::machine::folder_of;

/// A file as it shall be.
pub(crate) struct Draft<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: &'a [u8],
    pub(crate) mode: u32,
    /// Names the file under construction: the operation's key, so that a repeat finds what a crash left.
    pub(crate) unique: &'a str,
}

impl Draft<'_> {
    /// Writes the file in one step, with the folders above it.
    pub(crate) fn put(&self, files: &dyn Files) -> Attempt<()> {
        files.ensure_folder(folder_of(self.path)).map_err(|error| unable("write", self.path, &error))?;
        // Best effort: usually nothing is there. What could not be removed shows in the write.
        let _ = files.remove_file(&<dyn Files>::temporary(self.path, self.unique));
        files
            .write_atomically(self.path, self.bytes, self.mode, self.unique)
            .map_err(|error| self.failed(files, &error))
    }

    pub(crate) fn is_there(&self, files: &dyn Files) -> bool {
        files.read(self.path).is_ok_and(|bytes| *Zeroizing::new(bytes) == self.bytes)
    }

    /// A write that fails in its last step has still happened.
    fn failed(&self, files: &dyn Files, error: &io::Error) -> Failure {
        if self.is_there(files) {
            let path = self.path.display();
            return Failure::in_doubt(format!("{path} may not be on the disk for good: {}", reason(error)));
        }
        unable("write", self.path, error).into()
    }
}

pub(crate) fn look(files: &dyn Files, path: &Path) -> Result<Option<Metadata>, Refusal> {
    files.metadata(path).map_err(|error| unable("look at", path, &error))
}

/// Removes a file for good. Gone already is fine.
pub(crate) fn remove(files: &dyn Files, path: &Path) -> Attempt<()> {
    match files.remove_file(path) {
        Ok(()) => removed(files, path),
        Err(error) if is_gone(&error) => Ok(()),
        Err(error) => Err(unable("delete", path, &error).into()),
    }
}

/// Makes sure that a name that was removed stays so.
pub(crate) fn removed(files: &dyn Files, path: &Path) -> Attempt<()> {
    files.sync_folder(folder_of(path)).map_err(|error| {
        Failure::in_doubt(format!("{} may not be gone for good: {}", path.display(), reason(&error)))
    })
}

pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
