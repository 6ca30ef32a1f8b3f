//! A store that is slow or loses requests and answers, and that ignores dead processes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use stead_store::{Blob, Expect, Key, Store, StoreError, Version};
use stead_world::World;

use crate::world::process::{Process, time_passes};
use crate::{Disk, Rng};

/// Behaviour of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreBehaviour {
    Good,
    /// Some writes take seconds, before or after their effect.
    Slow,
    /// Some writes fail, before or after their effect.
    Bad,
    /// The journal accepts this number of writes and then no more; all other keys work.
    Shut(u32),
    /// The process dies when it has sent the journal write of this number, which takes effect after this time.
    Overtaken(u32, Duration),
}

/// The store as one process sees it.
pub(super) struct UnreliableStore {
    pub inner: Arc<dyn Store>,
    pub process: Process,
    pub world: World,
    pub rng: Mutex<Rng>,
    pub store_behaviour: StoreBehaviour,
    /// Number of writes to the journal.
    pub taken: AtomicU32,
    /// Notes each object that is sent, if the store is no folder of this disk.
    pub sent: Option<Disk>,
}

/// Delay and loss of a request and of its answer.
#[derive(Clone, Copy, Default)]
struct RoundTrip {
    there: Duration,
    back: Duration,
    lost_there: bool,
    lost_back: bool,
}

impl UnreliableStore {
    fn round_trip(&self) -> RoundTrip {
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        let mut round_trip = RoundTrip::default();
        match self.store_behaviour {
            StoreBehaviour::Good | StoreBehaviour::Shut(_) | StoreBehaviour::Overtaken(..) => {}
            StoreBehaviour::Slow if rng.one_in(3) => {
                let wait = Duration::from_millis(rng.below(14_000));
                if rng.one_in(2) { round_trip.there = wait } else { round_trip.back = wait }
            }
            StoreBehaviour::Bad if rng.one_in(8) => {
                let there = rng.one_in(2);
                (round_trip.lost_there, round_trip.lost_back) = (there, !there);
            }
            StoreBehaviour::Slow | StoreBehaviour::Bad => {}
        }
        round_trip
    }

    fn alive(&self, key: &Key) -> Result<(), StoreError> {
        if self.process.is_alive() { Ok(()) } else { Err(lost(key, "the process is dead")) }
    }
}

fn lost(key: &Key, why: &str) -> StoreError {
    StoreError::Io { action: "reach", place: key.to_string(), source: std::io::Error::other(why.to_owned()) }
}

#[async_trait]
impl Store for UnreliableStore {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        self.alive(key)?;
        self.inner.get(key).await
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        if let Some(disk) = &self.sent {
            disk.content().note_object(key.as_str(), &body);
        }
        if let StoreBehaviour::Shut(after) = self.store_behaviour
            && key.as_str().contains("/journal/")
            && self.taken.fetch_add(1, Ordering::SeqCst) >= after
        {
            self.alive(key)?;
            return Err(StoreError::Io {
                action: "write",
                place: key.to_string(),
                source: std::io::ErrorKind::StorageFull.into(),
            });
        }
        if let StoreBehaviour::Overtaken(number, late) = self.store_behaviour
            && key.as_str().contains("/journal/")
            && self.taken.fetch_add(1, Ordering::SeqCst) + 1 == number
        {
            let (inner, sent_to) = (self.inner.clone(), key.clone());
            tokio::spawn(async move {
                time_passes(late).await;
                let _ = inner.put(&sent_to, body, expect).await;
            });
            self.process.die("a request");
            return Err(lost(key, "the process is dead"));
        }
        let round_trip = self.round_trip();
        self.world.clock.sleep(round_trip.there).await;
        self.alive(key)?;
        if round_trip.lost_there {
            return Err(lost(key, "the request was lost"));
        }
        let done = self.inner.put(key, body, expect).await;
        self.world.clock.sleep(round_trip.back).await;
        self.alive(key)?;
        if round_trip.lost_back { Err(lost(key, "no answer")) } else { done }
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.alive(prefix)?;
        self.inner.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.alive(key)?;
        self.inner.delete(key).await
    }

    fn describe(&self) -> String {
        "an unreliable store".to_owned()
    }
}
