//! The only access to time, randomness, files, processes, HTTP and crash points.
//!
//! All code with effects uses a [`World`], so that a simulator runs the shipped code. **Invariant:** no other
//! library crate touches `std::fs`, `std::env`, `std::process`, a clock or a random source; `cargo xtask
//! tidy` checks it.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this crate is the door to the machine"
)]

mod clock;
mod crash;
mod date;
mod entropy;
mod files;
mod host;
mod http;
mod memory;
mod process;
mod real_files;
mod real_http;
mod simulated_clock;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

use std::sync::Arc;

pub use clock::{Clock, RealClock, Timestamp, processor_time};
pub use crash::{AbortAt, CrashPoints, NoCrash};
pub use entropy::{Entropy, RealEntropy};
pub use files::{Claim, FileKind, Files, Metadata, PRIVATE_FOLDER, SHARED_FOLDER};
pub use host::{Host, Variables, forbid_core_dumps};
pub use http::{Effect, Headers, Http, HttpError, HttpRequest, HttpResponse, Method, NoHttp};
pub use process::{
    Captured, FinishedProcess, GatedProcess, GroupStatus, ProcessEnd, ProcessGroup, Processes, RealProcesses,
    ShellCommand,
};
pub use real_files::RealFiles;
pub use real_http::RealHttp;
pub use simulated_clock::SimulatedClock;

/// Access to everything outside the process. Cheap to clone.
#[derive(Clone)]
pub struct World {
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub files: Arc<dyn Files>,
    pub processes: Arc<dyn Processes>,
    pub http: Arc<dyn Http>,
    pub crash: Arc<dyn CrashPoints>,
    pub host: Arc<Host>,
    pub slow_work: SlowWork,
}

/// Where blocking file operations run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowWork {
    /// On another thread, so that other tasks can continue.
    OffThread,
    /// In the calling task, so that a simulation is deterministic.
    Inline,
}

impl World {
    /// Returns the world of this machine.
    pub fn real() -> World {
        let host = Host::this();
        World {
            clock: Arc::new(RealClock::start()),
            entropy: Arc::new(RealEntropy),
            files: Arc::new(RealFiles::default()),
            processes: Arc::new(RealProcesses),
            http: Arc::new(RealHttp::new(&host.variables)),
            crash: Arc::new(NoCrash),
            host: Arc::new(host),
            slow_work: SlowWork::OffThread,
        }
    }

    /// Runs blocking file operations without blocking other tasks.
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

    /// Marks a point at which tests can let the process die.
    pub fn crash_point(&self, name: &'static str) {
        self.crash.reach(name);
    }
}
