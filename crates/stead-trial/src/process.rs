//! A process on a simulated machine: its view of the outside, which ends when it dies.
//!
//! A dead process goes on computing, as a simulation must, but nothing that it does has an effect any more. A
//! stopped one stays where it next waits for something, until it is woken.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the simulator kills real processes")]

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use stead_world::{
    Clock, CrashPoints, Entropy, FinishedProcess, Host, Processes, ShellCommand, SlowWork, Timestamp, World,
};
use tokio::sync::Notify;

use crate::fate::{Boundary, Fate};
use crate::files::SimulatedFiles;
use crate::{Chance, Disk};

/// How a machine's clocks go wrong: wall time is off and may jump, the other one goes a little fast or slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skew {
    /// Seconds by which wall time is off.
    pub off: i64,
    /// How much the monotonic clock is fast, in thousandths.
    pub fast: i64,
    /// Seconds by which wall time jumps in the middle of it.
    pub jump: i64,
}

/// A process that can die, and be stopped.
#[derive(Clone)]
pub(crate) struct Process {
    pub id: u64,
    pub host: &'static str,
    pub fate: Fate,
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    dead: AtomicBool,
    stopped: AtomicBool,
    woken: AtomicBool,
    over: AtomicBool,
    points: AtomicU64,
    /// How many points of the kind at which it is to die.
    rare: AtomicU64,
    operations: AtomicU64,
    syncs: AtomicU64,
    struck: AtomicBool,
    /// Told whenever any of the above changes.
    moved: Notify,
    boundary: Mutex<Option<Boundary>>,
    died_at: Mutex<Option<&'static str>>,
    /// Every point that it passed, if somebody wants to know.
    passed: Mutex<Vec<&'static str>>,
}

/// How many crash points a process passes before its wall clock jumps.
const JUMPS_AT: u64 = 12;

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    pub(crate) fn new(id: u64, fate: Fate) -> Process {
        Process { id, host: "host", fate, inner: Arc::default() }
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.inner.dead.load(Ordering::Relaxed)
    }

    /// Whether a file operation failed.
    pub(crate) fn disk_failed(&self) -> bool {
        self.inner.struck.load(Ordering::Relaxed)
    }

    pub(crate) fn died_at(&self) -> Option<&'static str> {
        *held(&self.inner.died_at)
    }

    pub(crate) fn boundary(&self) -> Option<Boundary> {
        *held(&self.inner.boundary)
    }

    /// Whether its wall clock jumped.
    pub(crate) fn clock_jumped(&self) -> bool {
        self.fate.skew.jump != 0 && self.inner.points.load(Ordering::Relaxed) >= JUMPS_AT
    }

    /// The points that it passed, each as often as it did.
    pub(crate) fn passed(&self) -> Vec<&'static str> {
        held(&self.inner.passed).clone()
    }

    /// Ends it: its claims are let go, and it has no effect any more.
    pub(crate) fn end(&self, disk: &Disk) {
        self.inner.dead.store(true, Ordering::Relaxed);
        disk.content().claims.retain(|_, holder| *holder != self.id);
        self.is_over();
    }

    /// Its work is done, or given up.
    pub(crate) fn is_over(&self) {
        self.inner.over.store(true, Ordering::Relaxed);
        self.inner.moved.notify_waiters();
    }

    /// Wakes it, for good.
    pub(crate) fn wake(&self) {
        self.inner.woken.store(true, Ordering::Relaxed);
        self.inner.stopped.store(false, Ordering::Relaxed);
        self.inner.moved.notify_waiters();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.inner.stopped.load(Ordering::Relaxed)
    }

    /// Comes back when it is not stopped.
    pub(crate) async fn awake(&self) {
        while self.is_stopped() && self.is_alive() {
            self.inner.moved.notified().await;
        }
    }

    /// Comes back when it has passed so many points, is stopped, or is over.
    pub(crate) async fn reaches(&self, points: u64) {
        let inner = &self.inner;
        while inner.points.load(Ordering::Relaxed) < points
            && !inner.over.load(Ordering::Relaxed)
            && !self.is_stopped()
            && self.is_alive()
        {
            inner.moved.notified().await;
        }
    }

    /// The number of the file operation that comes now.
    pub(crate) fn next_operation(&self) -> u64 {
        self.inner.operations.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of the sync that comes now.
    pub(crate) fn next_sync(&self) -> u64 {
        self.inner.syncs.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn is_struck(&self) {
        self.inner.struck.store(true, Ordering::Relaxed);
    }

    /// The power went in the middle of a sync.
    pub(crate) fn dies_in_sync(&self, boundary: Boundary) {
        *held(&self.inner.boundary) = Some(boundary);
        self.dies("a sync");
    }

    fn dies(&self, point: &'static str) {
        if !self.inner.dead.swap(true, Ordering::Relaxed) {
            *held(&self.inner.died_at) = Some(point);
            self.inner.moved.notify_waiters();
        }
    }

    pub(crate) fn world(&self, disk: &Disk, chance: &mut Chance) -> World {
        World {
            clock: Arc::new(SimulatedClock { start: tokio::time::Instant::now(), process: self.clone() }),
            entropy: Arc::new(SimulatedEntropy(Mutex::new(chance.fork()))),
            files: Arc::new(SimulatedFiles { disk: disk.clone(), process: self.clone() }),
            processes: Arc::new(NoProcesses),
            crash: Arc::new(Dying(self.clone())),
            host: Arc::new(Host {
                name: self.host.into(),
                user: "user".into(),
                pid: self.id as u32,
                home: Some("/home".into()),
            }),
            slow_work: SlowWork::Inline,
        }
    }
}

struct Dying(Process);

impl CrashPoints for Dying {
    fn reach(&self, point: &'static str) {
        let Process { fate, inner, .. } = &self.0;
        if !self.0.is_alive() {
            return;
        }
        let passed = inner.points.fetch_add(1, Ordering::Relaxed) + 1;
        held(&inner.passed).push(point);
        let rare = fate.rare.filter(|rare| point.starts_with(rare.place.points()));
        let is_rare = rare.is_some_and(|rare| inner.rare.fetch_add(1, Ordering::Relaxed) + 1 == rare.nth);
        if fate.dies_at == Some(passed) || is_rare {
            self.0.dies(point);
        }
        if fate.stops_at == Some(passed) && !inner.woken.load(Ordering::Relaxed) {
            inner.stopped.store(true, Ordering::Relaxed);
        }
        inner.moved.notify_waiters();
    }
}

/// Time passes for everybody.
pub(crate) async fn time_passes(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// What comes of it, unless it takes longer than that.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

/// Tokio's paused clock: waiting costs nothing.
struct SimulatedClock {
    start: tokio::time::Instant,
    process: Process,
}

impl SimulatedClock {
    fn rate(&self) -> u32 {
        (1000 + self.process.fate.skew.fast).clamp(500, 2000) as u32
    }
}

#[async_trait]
impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        let Skew { off, jump, .. } = self.process.fate.skew;
        let jumped = self.process.inner.points.load(Ordering::Relaxed) >= JUMPS_AT;
        let seconds = 1_700_000_000 + off + if jumped { jump } else { 0 };
        Timestamp(seconds.max(0) as u64 * 1000 + self.start.elapsed().as_millis() as u64)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed() * self.rate() / 1000
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration * 1000 / self.rate()).await;
        self.process.awake().await;
    }
}

struct SimulatedEntropy(Mutex<Chance>);

impl Entropy for SimulatedEntropy {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        let mut chance = held(&self.0);
        for eight in bytes.chunks_mut(8) {
            eight.copy_from_slice(&chance.draw().to_le_bytes()[..eight.len()]);
        }
        Ok(())
    }
}

struct NoProcesses;

#[async_trait]
impl Processes for NoProcesses {
    async fn run(&self, _: ShellCommand) -> io::Result<FinishedProcess> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
