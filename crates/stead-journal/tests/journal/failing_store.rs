//! Any operation of the store may fail, with any error, with or without effect: acknowledged records are
//! never lost.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use stead_journal::{JournalError, OpenRequest, Takeover, load, open};
use stead_model::RunResult;
use stead_store::{Blob, Expect, Key, MemoryStore, Store, StoreError, Version};
use stead_world::World;

use crate::bench::{PausedClock, create, keys, request, resource};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    /// The operation took effect, but its answer was lost.
    Done,
}

/// A store whose operations from number `at` to number `last` fail.
struct FailingStore {
    store: Arc<MemoryStore>,
    at: u64,
    last: u64,
    kind: ErrorKind,
    effect: Effect,
    count: AtomicU64,
}

impl FailingStore {
    fn next_fails(&self) -> bool {
        let number = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        (self.at..=self.last).contains(&number)
    }

    fn error(&self, key: &Key) -> StoreError {
        StoreError::Io { action: "reach", place: key.to_string(), source: self.kind.into() }
    }
}

#[async_trait::async_trait]
impl Store for FailingStore {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        if self.next_fails() { Err(self.error(key)) } else { self.store.get(key).await }
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        if !self.next_fails() {
            return self.store.put(key, body, expect).await;
        }
        if self.effect == Effect::Done {
            self.store.put(key, body, expect).await?;
        }
        Err(self.error(key))
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        if self.next_fails() { Err(self.error(prefix)) } else { self.store.list(prefix).await }
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        if !self.next_fails() {
            return self.store.delete(key).await;
        }
        if self.effect == Effect::Done {
            self.store.delete(key).await?;
        }
        Err(self.error(key))
    }

    fn describe(&self) -> String {
        "a failing store".to_owned()
    }
}

/// Performs a run that creates two resources. Returns the names of those whose outcome was acknowledged.
async fn run(store: &Arc<dyn Store>, world: World, claims: &std::path::Path) -> Vec<&'static str> {
    let mut acknowledged = Vec::new();
    let request = OpenRequest { world, ..request(store, claims, Takeover::IfDead) };
    let Ok(run) = open(request).await else { return acknowledged };
    for name in ["a", "b"] {
        if create(&run, name).await.is_ok() {
            acknowledged.push(name);
        }
    }
    let _ = run.close(RunResult::Succeeded).await;
    acknowledged
}

#[tokio::test(start_paused = true)]
async fn any_store_operation_may_fail_with_any_error_and_nothing_is_lost() {
    let kinds = [
        ErrorKind::Other,
        ErrorKind::StorageFull,
        ErrorKind::QuotaExceeded,
        ErrorKind::ReadOnlyFilesystem,
        ErrorKind::PermissionDenied,
        ErrorKind::Interrupted,
        ErrorKind::TimedOut,
    ];
    let mut operations = 0;
    for kind in kinds {
        for effect in [Effect::None, Effect::Done] {
            for at_least in [u64::MAX, 0] {
                for at in 1.. {
                    let count = run_with_failures(kind, effect, at, at.max(at_least)).await;
                    if count < at {
                        operations = count;
                        break;
                    }
                }
            }
        }
    }
    assert!(operations >= 8, "{operations}");
}

/// Performs a run with a failing store, then checks its result with a healthy one and opens another run.
/// Returns the number of operations.
async fn run_with_failures(kind: ErrorKind, effect: Effect, at: u64, last: u64) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let memory = Arc::new(MemoryStore::default());
    let mut world = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    Arc::make_mut(&mut world.host).home = None;
    let count = AtomicU64::new(0);
    let failing = Arc::new(FailingStore { store: memory.clone(), at, last, kind, effect, count });
    let store: Arc<dyn Store> = failing.clone();
    let acknowledged = run(&store, world.clone(), dir.path()).await;
    let failure = format!("{kind:?}, {effect:?}, operations {at} to {last}");
    let healthy: Arc<dyn Store> = memory;
    let loaded = match load(&healthy, &keys()).await {
        Ok(loaded) => loaded,
        Err(error) => panic!("{failure}: {error}"),
    };
    for name in acknowledged {
        assert!(loaded.state.by_name(&resource(name).name).is_some(), "{failure}: {name} is lost");
    }
    let request = OpenRequest { world, ..request(&healthy, dir.path(), Takeover::IfDead) };
    match open(request).await {
        Ok(run) => drop(run.close(RunResult::Succeeded).await.unwrap()),
        Err(JournalError::Held(owner)) => panic!("{failure}: held by {owner:?}"),
        Err(other) => panic!("{failure}: {other}"),
    }
    failing.count.load(Ordering::SeqCst)
}
