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
