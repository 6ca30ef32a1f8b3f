//! Any one operation of the store may fail, in every way, with or without effect: what was acknowledged is
//! there, and what was begun is known.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use stead_journal::{JournalError, Opening, Takeover, load, open};
use stead_model::RunResult;
use stead_store::{Expect, Found, Key, MemoryStore, Store, StoreError, Version};
use stead_world::World;

use crate::bench::{PausedClock, create, keys, opening, resource};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    /// It took effect, and the answer got lost.
    Done,
}

/// A store whose n-th operation fails, or all from the n-th on.
struct Failing {
    store: Arc<MemoryStore>,
    at: u64,
    last: u64,
    kind: ErrorKind,
    effect: Effect,
    count: AtomicU64,
}

impl Failing {
    fn strikes(&self) -> bool {
        let number = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        (self.at..=self.last).contains(&number)
    }

    fn error(&self, key: &Key) -> StoreError {
        StoreError::Io { action: "reach", place: key.to_string(), source: self.kind.into() }
    }
}

#[async_trait::async_trait]
impl Store for Failing {
    async fn get(&self, key: &Key) -> Result<Option<Found>, StoreError> {
        if self.strikes() { Err(self.error(key)) } else { self.store.get(key).await }
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        if !self.strikes() {
            return self.store.put(key, body, expect).await;
        }
        if self.effect == Effect::Done {
            self.store.put(key, body, expect).await?;
        }
        Err(self.error(key))
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        if self.strikes() { Err(self.error(prefix)) } else { self.store.list(prefix).await }
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        if !self.strikes() {
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

/// A run that makes two things; gives the names of those whose end was acknowledged.
async fn run(store: &Arc<dyn Store>, world: World, claims: &std::path::Path) -> Vec<&'static str> {
    let mut acknowledged = Vec::new();
    let opening = Opening { world, ..opening(store, claims, Takeover::IfDead) };
    let Ok(run) = open(opening).await else { return acknowledged };
    for name in ["a", "b"] {
        if create(&run, name).await.is_ok() {
            acknowledged.push(name);
        }
    }
    let _ = run.close(RunResult::Succeeded).await;
    acknowledged
}

#[tokio::test(start_paused = true)]
async fn any_one_operation_of_the_store_may_fail_in_every_way() {
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
            for forever in [u64::MAX, 0] {
                for at in 1.. {
                    let count = strike(kind, effect, at, at.max(forever)).await;
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

/// Lets it fail, then looks with a healthy store, and goes on. Gives how many operations there were.
async fn strike(kind: ErrorKind, effect: Effect, at: u64, last: u64) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let memory = Arc::new(MemoryStore::default());
    let mut world = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    Arc::make_mut(&mut world.host).home = None;
    let count = AtomicU64::new(0);
    let failing = Arc::new(Failing { store: memory.clone(), at, last, kind, effect, count });
    let store: Arc<dyn Store> = failing.clone();
    let acknowledged = run(&store, world.clone(), dir.path()).await;
    let what = format!("{kind:?}, {effect:?}, operations {at} to {last}");
    let healthy: Arc<dyn Store> = memory;
    let loaded = match load(&healthy, &keys()).await {
        Ok(loaded) => loaded,
        Err(error) => panic!("{what}: {error}"),
    };
    for name in acknowledged {
        assert!(loaded.state.by_name(&resource(name).name).is_some(), "{what}: {name} is lost");
    }
    let opening = Opening { world, ..opening(&healthy, dir.path(), Takeover::IfDead) };
    match open(opening).await {
        Ok(run) => drop(run.close(RunResult::Succeeded).await.unwrap()),
        Err(JournalError::Held(owner)) => panic!("{what}: held by {owner:?}"),
        Err(other) => panic!("{what}: {other}"),
    }
    failing.count.load(Ordering::SeqCst)
}
