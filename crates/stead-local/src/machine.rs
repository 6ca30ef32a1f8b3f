//! The machine: the world, and the project's folder in it.

use std::path::{Path, PathBuf};

use stead_world::{Files, World};

use crate::failure::{Attempt, Failure};

pub(crate) struct Machine {
    pub(crate) world: World,
    pub(crate) project: PathBuf,
}

impl Machine {
    /// Returns the location of a path as the user wrote it.
    pub(crate) fn locate(&self, path: &str) -> PathBuf {
        self.project.join(path)
    }

    /// Returns true if two paths lead to one place, however they are spelled.
    pub(crate) async fn is_same_place(&self, old: &str, new: &str) -> bool {
        let (old, new) = (self.locate(old), self.locate(new));
        if old == new {
            return true;
        }
        let compared = self.on_disk(move |files| Ok(files.place_of(&old) == files.place_of(&new)));
        compared.await.unwrap_or(false)
    }

    /// Runs blocking file operations without blocking other tasks.
    pub(crate) async fn on_disk<T, F>(&self, work: F) -> Attempt<T>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Files) -> Attempt<T> + Send + 'static,
    {
        match self.world.with_files(move |files| Ok(work(files))).await {
            Ok(attempt) => attempt,
            // The task was aborted, so it is unknown how much of its work was done.
            Err(error) => Err(Failure::in_doubt(format!("the file operation was aborted: {error}"))),
        }
    }
}

/// Returns the folder that a path is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
