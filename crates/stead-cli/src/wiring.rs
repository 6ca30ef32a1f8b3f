//! Environment variables, terminal, signals and runtime of the process.
//!
//! Besides `stead-world`, this is the only file that may read them.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the wiring reads the environment")]

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use stead::Stop;
use stead_world::World;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};
use tracing::level_filters::LevelFilter;

use crate::redact::{self, LogWriter};
use crate::terminal::Surroundings;

pub(crate) fn surroundings() -> Surroundings {
    let set = |key: &str| std::env::var_os(key).is_some_and(|value| !value.is_empty());
    let size = terminal_size::terminal_size();
    Surroundings {
        stdin_is_terminal: std::io::stdin().is_terminal(),
        stdout_is_terminal: std::io::stdout().is_terminal(),
        stderr_is_terminal: std::io::stderr().is_terminal(),
        no_color: set("NO_COLOR"),
        colour_forced: set("CLICOLOR_FORCE")
            && std::env::var_os("CLICOLOR_FORCE").is_some_and(|on| on != "0"),
        dumb: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
        columns: std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()),
        size: size.map(|(columns, rows)| (usize::from(columns.0), usize::from(rows.0))),
    }
}

/// Returns the arguments of the process, with the name of the binary.
pub(crate) fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// Returns the environment variables whose name starts with a prefix, in order. A text that is not Unicode is left out.
pub(crate) fn variables(prefix: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, text)| Some((name.into_string().ok()?, text.into_string().ok()?)))
        .filter(|(name, _)| name.len() > prefix.len() && name.starts_with(prefix))
        .collect();
    all.sort();
    all
}

pub(crate) fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Sends log lines to stderr if `-v` or `STEAD_LOG` asks for them. `STEAD_LOG` names a level: `error` to `trace`, or `off`.
pub(crate) fn start_log(verbose: u8, colour: Colour) -> Result<(), String> {
    let from_flag = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let level = match std::env::var("STEAD_LOG") {
        Ok(text) if !text.is_empty() => text
            .parse()
            .map_err(|_| format!("STEAD_LOG is {text:?}; it takes off, error, warn, info, debug or trace"))?,
        _ => from_flag,
    };
    if level == LevelFilter::OFF {
        return Ok(());
    }
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(LogWriter)
        .with_ansi(colour == Colour::On)
        .without_time()
        .init();
    Ok(())
}

/// Whether stderr shows colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Off,
    On,
}

/// Returns true in a continuous integration, which sets `CI`.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}

/// Returns the number of processors.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub(crate) fn current_folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// Panics at a crash point, with a text that a test chose.
#[cfg(debug_assertions)]
struct PanicAt {
    point: String,
    text: String,
}

#[cfg(debug_assertions)]
impl stead_world::CrashPoints for PanicAt {
    #[allow(clippy::panic, reason = "it stands for a bug")]
    fn reach(&self, point: &'static str) {
        if point == self.point {
            panic!("{}", self.text);
        }
    }
}

/// Returns this machine; in debug builds, `STEAD_CRASH_AT` sets a crash point, and `STEAD_PANIC_AT` one that panics.
pub(crate) fn world() -> World {
    for name in ["STEAD_PASSPHRASE", "STEAD_NEW_PASSPHRASE", "STEAD_AGE_KEY"] {
        std::env::var(name).iter().for_each(|secret| redact::add(secret));
    }
    let world = World::real();
    #[cfg(debug_assertions)]
    if let Ok(point) = std::env::var("STEAD_CRASH_AT") {
        return World { crash: std::sync::Arc::new(stead_world::AbortAt::parse(&point)), ..world };
    }
    #[cfg(debug_assertions)]
    if let (Ok(point), Ok(text)) = (std::env::var("STEAD_PANIC_AT"), std::env::var("STEAD_PANIC_TEXT")) {
        return World { crash: std::sync::Arc::new(PanicAt { point, text }), ..world };
    }
    world
}

/// Returns a stop request that is never sent.
pub(crate) fn never_stopped() -> watch::Receiver<Stop> {
    watch::channel(Stop::No).1
}

/// Returns stop requests: the first interrupt lets operations finish, the second stops at once.
pub(crate) fn interrupts() -> watch::Receiver<Stop> {
    let (sender, receiver) = watch::channel(Stop::No);
    tokio::spawn(async move {
        for stop in [Stop::Finish, Stop::Now] {
            interrupted().await;
            if sender.send(stop).is_err() {
                return;
            }
        }
        // The receiver would see a dropped sender as a change.
        std::future::pending::<()>().await;
    });
    receiver
}

/// Turns an exceeded limit of file size into an error of the write. By default the system ends the process without a message.
#[cfg(unix)]
pub(crate) fn report_file_size_limit() {
    /// SIGXFSZ on Linux and macOS.
    const FILE_SIZE_EXCEEDED: i32 = 25;
    // The handler stays for the life of the process; child processes get the default again.
    let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(FILE_SIZE_EXCEEDED));
}

#[cfg(not(unix))]
pub(crate) fn report_file_size_limit() {}

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

/// Access to a Kubernetes cluster, from environment variables.
pub(crate) struct ClusterEnvironment {
    /// Files of `KUBECONFIG`.
    pub kubeconfig: Vec<PathBuf>,
    /// Host and port of the API server, in a pod.
    pub service: Option<(String, String)>,
}

pub(crate) fn cluster_environment() -> ClusterEnvironment {
    let kubeconfig = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let non_empty = |key: &str| std::env::var(key).ok().filter(|value| !value.is_empty());
    ClusterEnvironment {
        kubeconfig: std::env::split_paths(&kubeconfig).filter(|path| !path.as_os_str().is_empty()).collect(),
        service: non_empty("KUBERNETES_SERVICE_HOST").zip(non_empty("KUBERNETES_SERVICE_PORT")),
    }
}

/// Signal that stops a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShutdownSignal {
    /// Termination by the service manager, a normal end.
    Terminated,
    /// Interrupt from the keyboard.
    Interrupted,
}

/// Returns the shutdown signals received from now on.
#[cfg(unix)]
pub(crate) fn shutdown_signals() -> std::io::Result<mpsc::UnboundedReceiver<ShutdownSignal>> {
    use tokio::signal::unix::{SignalKind, signal};
    // Registered before the server announces its address.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let received = tokio::select! {
                _ = terminate.recv() => ShutdownSignal::Terminated,
                _ = interrupt.recv() => ShutdownSignal::Interrupted,
            };
            if sender.send(received).is_err() {
                return;
            }
        }
    });
    Ok(receiver)
}

#[cfg(not(unix))]
pub(crate) fn shutdown_signals() -> std::io::Result<mpsc::UnboundedReceiver<ShutdownSignal>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() && sender.send(ShutdownSignal::Interrupted).is_ok() {}
    });
    Ok(receiver)
}
