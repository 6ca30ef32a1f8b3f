//! What every kind works on: the world and the project's folder in it.

use std::path::{Path, PathBuf};

use stead_world::{Files, World};

use crate::failure::{Attempt, Failure};

pub(crate) struct Machine {
    pub(crate) world: World,
    pub(crate) project: PathBuf,
}

impl Machine {
    /// Where a path as the user wrote it leads.
    pub(crate) fn locate(&self, path: &str) -> PathBuf {
        self.project.join(path)
    }

    /// Does blocking work with files beside whatever else is under way.
    pub(crate) async fn on_disk<T, F>(&self, work: F) -> Attempt<T>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Files) -> Attempt<T> + Send + 'static,
    {
        match self.world.with_files(move |files| Ok(work(files))).await {
            Ok(attempt) => attempt,
            // The work did not end by itself, so nobody knows how far it came.
            Err(error) => Err(Failure::in_doubt(format!("the work on the disk was cut short: {error}"))),
        }
    }
}

/// The folder that a path is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
