//! The only door to time, randomness, files, processes and crash points.
//!
//! Everything that is not a pure function reaches the outside through a [`World`], so that the code that
//! ships is the code that a simulator runs. **Invariant:** no other library crate touches `std::fs`,
//! `std::env`, `std::process`, a clock or a random source; `cargo xtask tidy` checks it.

mod clock;
mod crash;
mod entropy;
mod files;
mod host;
#[cfg(stead_planted)]
pub mod planted;
mod process;
mod real_files;

use std::sync::Arc;

pub use clock::{Clock, RealClock, Timestamp};
pub use crash::{AbortAt, CrashPoints, NoCrash};
pub use entropy::{Entropy, RealEntropy};
pub use files::{Claim, FileKind, Files, Metadata};
pub use host::Host;
pub use process::{Finished, Processes, RealProcesses, ShellCommand};
pub use real_files::RealFiles;

/// A handle on everything outside. Cheap to clone.
#[derive(Clone)]
pub struct World {
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub files: Arc<dyn Files>,
    pub processes: Arc<dyn Processes>,
    pub crash: Arc<dyn CrashPoints>,
    pub host: Arc<Host>,
    pub slow_work: SlowWork,
}

/// Where blocking work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowWork {
    /// On a thread of its own, so that nothing else waits.
    OffThread,
    /// At once, so that a simulation is the same every time.
    Inline,
}

impl World {
    /// This machine.
    pub fn real() -> World {
        World {
            clock: Arc::new(RealClock::start()),
            entropy: Arc::new(RealEntropy),
            files: Arc::new(RealFiles::default()),
            processes: Arc::new(RealProcesses),
            crash: Arc::new(NoCrash),
            host: Arc::new(Host::this()),
            slow_work: SlowWork::OffThread,
        }
    }

    /// Does slow work with files without holding up whatever else is under way.
    pub async fn with_files<T, F>(&self, work: F) -> std::io::Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Files) -> std::io::Result<T> + Send + 'static,
    {
        let files = self.files.clone();
        if self.slow_work == SlowWork::Inline {
            return work(files.as_ref());
        }
        match tokio::task::spawn_blocking(move || work(files.as_ref())).await {
            Ok(result) => result,
            Err(failed) => Err(std::io::Error::other(failed)),
        }
    }

    /// Marks a place where the process may die, for the tests that make it die there.
    pub fn crash_point(&self, name: &'static str) {
        self.crash.reach(name);
    }
}
