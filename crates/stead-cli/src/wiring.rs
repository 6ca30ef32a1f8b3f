//! Where the process meets its surroundings: environment, terminal, signals, runtime.
//!
//! Besides `stead-world`, this is the only file that may look outside.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the wiring reads the environment")]

use std::io::IsTerminal as _;
use std::path::PathBuf;

use stead::Stop;
use stead_world::World;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

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

/// A run that no signal stops.
pub(crate) fn never_stopped() -> watch::Receiver<Stop> {
    watch::channel(Stop::No).1
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

/// What the environment says about a Kubernetes cluster.
pub(crate) struct ClusterEnvironment {
    /// The files of `KUBECONFIG`.
    pub kubeconfig: Vec<PathBuf>,
    /// Host and port of the API server, in a pod.
    pub service: Option<(String, String)>,
}

pub(crate) fn cluster_environment() -> ClusterEnvironment {
    let kubeconfig = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let given = |key: &str| std::env::var(key).ok().filter(|value| !value.is_empty());
    ClusterEnvironment {
        kubeconfig: std::env::split_paths(&kubeconfig).filter(|path| !path.as_os_str().is_empty()).collect(),
        service: given("KUBERNETES_SERVICE_HOST").zip(given("KUBERNETES_SERVICE_PORT")),
    }
}

/// How a server is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By whoever runs it, as a matter of course.
    Terminated,
    /// By a person at a keyboard.
    Interrupted,
}

/// Signals that ask a server to end, from now on.
#[cfg(unix)]
pub(crate) fn endings() -> std::io::Result<mpsc::UnboundedReceiver<Ending>> {
    use tokio::signal::unix::{SignalKind, signal};
    // Registered before anybody is told that we are there.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let ending = tokio::select! {
                _ = terminate.recv() => Ending::Terminated,
                _ = interrupt.recv() => Ending::Interrupted,
            };
            if sender.send(ending).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

#[cfg(not(unix))]
pub(crate) fn endings() -> std::io::Result<mpsc::UnboundedReceiver<Ending>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() && sender.send(Ending::Interrupted).is_ok() {}
    });
    Ok(receiver)
}
