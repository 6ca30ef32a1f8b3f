//! A simulated process and its access to files, clock and randomness, which ends when the process dies.
//!
//! The code of a dead process continues to run, but has no effect. A suspended process blocks at its next wait until
//! it is woken.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the simulator kills real processes")]

pub(crate) mod life_clock;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use stead_world::{
    Clock, CrashPoints, Entropy, GatedProcess, GroupStatus, Host, NoHttp, ProcessGroup, Processes,
    ShellCommand, SlowWork, Timestamp, Variables, World,
};
use tokio::sync::Notify;

use crate::faults::process_faults::{ProcessFaults, SyncBoundary};
use crate::world::files::SimulatedFiles;
use crate::{Disk, Rng};

/// Clock errors of a machine: wall time is off and may jump, the monotonic clock is fast or slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockSkew {
    /// Offset of wall time in seconds.
    pub off: i64,
    /// Speed-up of the monotonic clock, in thousandths.
    pub fast: i64,
    /// Jump of wall time during the run, in seconds.
    pub jump: i64,
}

/// A process that can die and be suspended.
#[derive(Clone)]
pub(crate) struct Process {
    pub id: u64,
    pub host: &'static str,
    pub faults: ProcessFaults,
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    dead: AtomicBool,
    stopped: AtomicBool,
    woken: AtomicBool,
    over: AtomicBool,
    points: AtomicU64,
    /// Number of passed crash points of the rare kind at which the process is to die.
    rare: AtomicU64,
    operations: AtomicU64,
    syncs: AtomicU64,
    fault_seen: AtomicBool,
    /// Notified whenever one of the fields above changes.
    moved: Notify,
    boundary: Mutex<Option<SyncBoundary>>,
    died_at: Mutex<Option<&'static str>>,
    /// All crash points that the process passed.
    passed: Mutex<Vec<&'static str>>,
}

/// Number of crash points before the wall clock jumps.
const JUMPS_AT: u64 = 12;

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    pub(crate) fn new(id: u64, faults: ProcessFaults) -> Process {
        Process { id, host: "host", faults, inner: Arc::default() }
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.inner.dead.load(Ordering::Relaxed)
    }

    /// Returns true if a fault was injected.
    pub(crate) fn saw_fault(&self) -> bool {
        self.inner.fault_seen.load(Ordering::Relaxed)
    }

    pub(crate) fn died_at(&self) -> Option<&'static str> {
        *held(&self.inner.died_at)
    }

    pub(crate) fn boundary(&self) -> Option<SyncBoundary> {
        *held(&self.inner.boundary)
    }

    /// Returns true if the wall clock jumped.
    pub(crate) fn clock_jumped(&self) -> bool {
        self.faults.skew.jump != 0 && self.inner.points.load(Ordering::Relaxed) >= JUMPS_AT
    }

    /// Returns the passed crash points, with repetitions.
    pub(crate) fn passed(&self) -> Vec<&'static str> {
        held(&self.inner.passed).clone()
    }

    /// Ends the process: its claims are released, and it has no effect any more.
    pub(crate) fn end(&self, disk: &Disk) {
        self.inner.dead.store(true, Ordering::Relaxed);
        disk.content().claims.retain(|_, holder| *holder != self.id);
        self.finish();
    }

    /// Marks the work of the process as finished or abandoned.
    pub(crate) fn finish(&self) {
        self.inner.over.store(true, Ordering::Relaxed);
        self.inner.moved.notify_waiters();
    }

    /// Wakes the process for good.
    pub(crate) fn wake(&self) {
        self.inner.woken.store(true, Ordering::Relaxed);
        self.inner.stopped.store(false, Ordering::Relaxed);
        self.inner.moved.notify_waiters();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.inner.stopped.load(Ordering::Relaxed)
    }

    /// Waits until the process is not suspended.
    pub(crate) async fn until_awake(&self) {
        while self.is_stopped() && self.is_alive() {
            self.inner.moved.notified().await;
        }
    }

    /// Waits until the process has passed the given number of crash points, is suspended, or has ended.
    pub(crate) async fn until_crash_points(&self, points: u64) {
        let inner = &self.inner;
        while inner.points.load(Ordering::Relaxed) < points
            && !inner.over.load(Ordering::Relaxed)
            && !self.is_stopped()
            && self.is_alive()
        {
            inner.moved.notified().await;
        }
    }

    /// Returns the number of the next file operation.
    pub(crate) fn next_operation(&self) -> u64 {
        self.inner.operations.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the number of the next sync.
    pub(crate) fn next_sync(&self) -> u64 {
        self.inner.syncs.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn note_fault(&self) {
        self.inner.fault_seen.store(true, Ordering::Relaxed);
    }

    /// Kills the process because of a power cut in the middle of a sync.
    pub(crate) fn die_in_sync(&self, boundary: SyncBoundary) {
        *held(&self.inner.boundary) = Some(boundary);
        self.die("a sync");
    }

    /// Kills the process.
    pub(crate) fn die(&self, point: &'static str) {
        if !self.inner.dead.swap(true, Ordering::Relaxed) {
            *held(&self.inner.died_at) = Some(point);
            self.inner.moved.notify_waiters();
        }
    }

    pub(crate) fn world(&self, disk: &Disk, rng: &mut Rng) -> World {
        World {
            clock: Arc::new(SimulatedClock { start: tokio::time::Instant::now(), process: self.clone() }),
            entropy: Arc::new(SimulatedEntropy(Mutex::new(rng.fork()))),
            files: Arc::new(SimulatedFiles { disk: disk.clone(), process: self.clone() }),
            processes: Arc::new(NoProcesses),
            http: Arc::new(NoHttp),
            crash: Arc::new(CrashTrigger(self.clone())),
            host: Arc::new(Host {
                name: self.host.into(),
                user: "user".into(),
                pid: self.id as u32,
                home: Some("/home".into()),
                owners: Some("/home/owners".into()),
                variables: Variables::default(),
            }),
            slow_work: SlowWork::Inline,
        }
    }
}

struct CrashTrigger(Process);

impl CrashPoints for CrashTrigger {
    fn reach(&self, point: &'static str) {
        let Process { faults, inner, .. } = &self.0;
        if !self.0.is_alive() {
            return;
        }
        let passed = inner.points.fetch_add(1, Ordering::Relaxed) + 1;
        held(&inner.passed).push(point);
        let rare = faults.rare.filter(|rare| point.starts_with(rare.place.points()));
        let is_rare = rare.is_some_and(|rare| inner.rare.fetch_add(1, Ordering::Relaxed) + 1 == rare.nth);
        if faults.dies_at == Some(passed) || is_rare {
            self.0.die(point);
        }
        if faults.stops_at == Some(passed) && !inner.woken.load(Ordering::Relaxed) {
            inner.stopped.store(true, Ordering::Relaxed);
        }
        inner.moved.notify_waiters();
    }
}

/// Lets virtual time pass for all processes.
pub(crate) async fn time_passes(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Returns the output of a future, or `None` if it takes longer than the limit.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

/// Virtual time of the paused Tokio clock: waiting costs nothing.
struct SimulatedClock {
    start: tokio::time::Instant,
    process: Process,
}

impl SimulatedClock {
    fn rate(&self) -> u32 {
        (1000 + self.process.faults.skew.fast).clamp(500, 2000) as u32
    }
}

#[async_trait]
impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        let ClockSkew { off, jump, .. } = self.process.faults.skew;
        let jumped = self.process.inner.points.load(Ordering::Relaxed) >= JUMPS_AT;
        let seconds = 1_700_000_000 + off + if jumped { jump } else { 0 };
        Timestamp(seconds.max(0) as u64 * 1000 + self.start.elapsed().as_millis() as u64)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed() * self.rate() / 1000
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration * 1000 / self.rate()).await;
        self.process.until_awake().await;
    }
}

struct SimulatedEntropy(Mutex<Rng>);

impl Entropy for SimulatedEntropy {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        let mut rng = held(&self.0);
        for eight in bytes.chunks_mut(8) {
            eight.copy_from_slice(&rng.draw().to_le_bytes()[..eight.len()]);
        }
        Ok(())
    }
}

struct NoProcesses;

#[async_trait]
impl Processes for NoProcesses {
    async fn start(&self, _: ShellCommand) -> io::Result<Box<dyn GatedProcess>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn status(&self, _: &ProcessGroup) -> GroupStatus {
        GroupStatus::Gone
    }

    async fn end(&self, _: &ProcessGroup) -> io::Result<GroupStatus> {
        Ok(GroupStatus::Gone)
    }
}
