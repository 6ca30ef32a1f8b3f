//! Durable writes and deletions of whole files.

use std::io;
use std::path::Path;

use stead_provider::Refusal;
use stead_world::{Files, Metadata};
use zeroize::Zeroizing;

use crate::failure::{Attempt, Failure, io_refusal, reason};
use crate::files::path::{already_exists, changed_outside};
use crate::machine::folder_of;

/// A file to write.
pub(crate) struct FileWrite<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: &'a [u8],
    pub(crate) mode: u32,
    /// Part of the temporary file's name: the operation's key, so that a retry finds the file that a crash
    /// left.
    pub(crate) unique: &'a str,
}

impl FileWrite<'_> {
    /// Writes the file atomically, in place of a file that is there, and creates the folders above it.
    pub(crate) fn replace(&self, files: &dyn Files) -> Attempt<()> {
        self.prepare(files)?;
        files
            .write_atomically(self.path, self.bytes, self.mode, self.unique)
            .map_err(|error| self.write_failure(files, &error))
    }

    /// Creates the file atomically, and the folders above it. Refuses if the path exists, even if it appeared
    /// after the last look; `exists_hint` completes that refusal.
    pub(crate) fn create(&self, files: &dyn Files, exists_hint: &str) -> Attempt<()> {
        self.prepare(files)?;
        files.write_exclusively(self.path, self.bytes, self.mode, self.unique).map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                return already_exists(self.path, exists_hint).into();
            }
            self.write_failure(files, &error)
        })
    }

    fn prepare(&self, files: &dyn Files) -> Attempt<()> {
        files.ensure_folder(folder_of(self.path)).map_err(|error| io_refusal("write", self.path, &error))?;
        // Usually there is no such file; if it cannot be removed, the write fails.
        let _ = files.remove_file(&<dyn Files>::temporary(self.path, self.unique));
        Ok(())
    }

    /// Returns true if the file exists with these bytes.
    pub(crate) fn is_written(&self, files: &dyn Files) -> bool {
        files.read(self.path).is_ok_and(|bytes| *Zeroizing::new(bytes) == self.bytes)
    }

    /// Returns the failure of a write. A write whose last step failed may still have taken effect.
    fn write_failure(&self, files: &dyn Files, error: &io::Error) -> Failure {
        if self.is_written(files) {
            let path = self.path.display();
            return Failure::in_doubt(format!(
                "{path} was written, but may not survive a crash: {}",
                reason(error)
            ));
        }
        io_refusal("write", self.path, error).into()
    }
}

/// Returns the metadata of a path; `None` if it does not exist.
pub(crate) fn metadata_of(files: &dyn Files, path: &Path) -> Result<Option<Metadata>, Refusal> {
    files.metadata(path).map_err(|error| io_refusal("examine", path, &error))
}

/// Deletes a file durably. Succeeds if the file is already absent.
pub(crate) fn remove(files: &dyn Files, path: &Path) -> Attempt<()> {
    match files.remove_file(path) {
        Ok(()) => sync_removal(files, path),
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(io_refusal("delete", path, &error).into()),
    }
}

/// A file to delete, unless it has other bytes than expected.
pub(crate) struct ExpectedFile<'a> {
    pub(crate) path: &'a Path,
    /// Part of the private name that the file gets first: the operation's key, so that a repeat finds it.
    pub(crate) unique: &'a str,
    pub(crate) is_expected: &'a dyn Fn(&[u8]) -> bool,
    /// How another file differs, for the refusal.
    pub(crate) change: &'a str,
}

impl ExpectedFile<'_> {
    /// Deletes the file durably. Succeeds if the file is already absent.
    ///
    /// The file gets a private name before it is compared for the last time. Bytes that arrive between the comparison and the
    /// deletion are therefore seen, and the file gets its own name back. A process that still has the file open can write to
    /// it unseen until it closes it: no system call prevents that.
    pub(crate) fn remove(&self, files: &dyn Files) -> Attempt<()> {
        let private = <dyn Files>::temporary(self.path, self.unique);
        // An earlier attempt at this operation may have ended after the rename.
        if metadata_of(files, &private)?.is_none() {
            match files.read(self.path).map(Zeroizing::new) {
                Ok(bytes) if (self.is_expected)(&bytes) => {}
                Ok(_) => return Err(changed_outside(self.path, self.change).into()),
                Err(error) if is_absent(&error) => return Ok(()),
                Err(error) => return Err(io_refusal("read", self.path, &error).into()),
            }
            match files.rename(self.path, &private) {
                Ok(()) => {}
                Err(error) if is_absent(&error) => return Ok(()),
                Err(error) => return Err(io_refusal("delete", self.path, &error).into()),
            }
        }
        let refusal = match files.read(&private).map(Zeroizing::new) {
            Ok(bytes) if (self.is_expected)(&bytes) => match files.remove_file(&private) {
                Ok(()) => return sync_removal(files, self.path),
                Err(error) => io_refusal("delete", self.path, &error),
            },
            Ok(_) => changed_outside(self.path, self.change),
            Err(error) => io_refusal("read", self.path, &error),
        };
        Err(self.put_back(files, &private, refusal))
    }

    /// Gives the file its name back, unless another file took the name meanwhile. Returns the failure of the deletion.
    fn put_back(&self, files: &dyn Files, private: &Path, refusal: Refusal) -> Failure {
        match move_back(files, private, self.path) {
            Ok(()) => refusal.into(),
            Err(error) => Failure::in_doubt(format!(
                "{}; it is now at {}: {}",
                refusal.message,
                private.display(),
                reason(&error)
            )),
        }
    }
}

/// Gives a file its name back that an interrupted deletion left under its private name. Refuses if another file has the name.
pub(crate) fn give_back(files: &dyn Files, path: &Path, unique: &str) -> Attempt<()> {
    let private = <dyn Files>::temporary(path, unique);
    if metadata_of(files, &private)?.is_none() {
        return Ok(());
    }
    move_back(files, &private, path).map_err(|error| {
        let (path, private) = (path.display(), private.display());
        Refusal::new(format!("{path} is now at {private}, and cannot be moved back: {}", reason(&error)))
            .into()
    })
}

fn move_back(files: &dyn Files, private: &Path, path: &Path) -> io::Result<()> {
    let back = match files.link(private, path) {
        // An earlier attempt may have ended after the link.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let is_same = *Zeroizing::new(files.read(private)?) == *Zeroizing::new(files.read(path)?);
            if is_same { Ok(()) } else { Err(error) }
        }
        other => other,
    };
    match back.and_then(|()| files.remove_file(private)) {
        // A file system without hard links.
        Err(_) if matches!(files.metadata(path), Ok(None)) => files.rename(private, path)?,
        other => other?,
    }
    files.sync_folder(folder_of(path))
}

/// Makes the deletion of a path durable.
pub(crate) fn sync_removal(files: &dyn Files, path: &Path) -> Attempt<()> {
    files.sync_folder(folder_of(path)).map_err(|error| {
        Failure::in_doubt(format!(
            "{} was deleted, but the deletion may not survive a crash: {}",
            path.display(),
            reason(&error)
        ))
    })
}

pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
