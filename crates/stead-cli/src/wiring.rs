//! Where the process meets its surroundings: environment, terminal, signals, runtime.
//!
//! Besides `stead-world`, this is the only file that may look outside.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use stead_engine::Stop;
use stead_world::World;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// What the terminal can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    pub stdout_colour: bool,
    pub stderr_colour: bool,
    /// Lines that were printed can be changed.
    pub live_progress: bool,
    /// Somebody can be asked.
    pub interactive: bool,
    pub width: usize,
}

pub(crate) fn terminal() -> Terminal {
    let (stdout, stderr) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
    let set = |key: &str| std::env::var_os(key).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let colour = !set("NO_COLOR") && !dumb;
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    Terminal {
        stdout_colour: stdout && colour,
        stderr_colour: stderr && colour,
        live_progress: stderr && !dumb,
        interactive: std::io::stdin().is_terminal() && stderr,
        width: columns.unwrap_or(100),
    }
}

pub(crate) fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

pub(crate) fn current_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// This machine; in builds for testing, with a crash point armed by `STEAD_CRASH_AT`.
pub(crate) fn world() -> World {
    let world = World::real();
    #[cfg(debug_assertions)]
    if let Ok(point) = std::env::var("STEAD_CRASH_AT") {
        return World { crash: std::sync::Arc::new(stead_world::AbortAt::parse(&point)), ..world };
    }
    world
}

/// The first interrupt asks to finish, the second to leave.
pub(crate) fn interrupts() -> watch::Receiver<Stop> {
    let (sender, receiver) = watch::channel(Stop::No);
    tokio::spawn(async move {
        for stop in [Stop::Finish, Stop::Now] {
            interrupted().await;
            if sender.send(stop).is_err() {
                return;
            }
        }
        // Dropping the sender would read as a change.
        std::future::pending::<()>().await;
    });
    receiver
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                biased;
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        }
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

#[cfg(not(unix))]
async fn interrupted() {
    let _ = tokio::signal::ctrl_c().await;
}
