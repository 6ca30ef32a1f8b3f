//! A store that is slow, answers late or not at all, and does nothing for the dead.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use stead_store::{Blob, Expect, Key, Store, StoreError, Version};
use stead_world::World;

use crate::Chance;
use crate::process::Process;

/// How it behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Good,
    /// Some writes take seconds, before or after their effect.
    Slow,
    /// Some writes fail, before or after their effect.
    Bad,
    /// After so many writes the journal takes no more; everything else is as ever.
    Shut(u32),
}

/// A store as one process reaches it.
pub(super) struct Moody {
    pub inner: Arc<dyn Store>,
    pub process: Process,
    pub world: World,
    pub chance: Mutex<Chance>,
    pub mood: Mood,
    /// How many writes the journal took.
    pub taken: AtomicU32,
}

/// What happens on the way there, and on the way back.
#[derive(Clone, Copy, Default)]
struct Way {
    there: Duration,
    back: Duration,
    lost_there: bool,
    lost_back: bool,
}

impl Moody {
    fn way(&self) -> Way {
        let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
        let mut way = Way::default();
        match self.mood {
            Mood::Good | Mood::Shut(_) => {}
            Mood::Slow if chance.one_in(3) => {
                let wait = Duration::from_millis(chance.below(14_000));
                if chance.one_in(2) { way.there = wait } else { way.back = wait }
            }
            Mood::Bad if chance.one_in(8) => {
                let there = chance.one_in(2);
                (way.lost_there, way.lost_back) = (there, !there);
            }
            Mood::Slow | Mood::Bad => {}
        }
        way
    }

    fn alive(&self, key: &Key) -> Result<(), StoreError> {
        if self.process.is_alive() { Ok(()) } else { Err(lost(key, "the process is dead")) }
    }
}

fn lost(key: &Key, why: &str) -> StoreError {
    StoreError::Io { action: "reach", place: key.to_string(), source: std::io::Error::other(why.to_owned()) }
}

#[async_trait]
impl Store for Moody {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        self.alive(key)?;
        self.inner.get(key).await
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        if let Mood::Shut(after) = self.mood
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
        let way = self.way();
        self.world.clock.sleep(way.there).await;
        self.alive(key)?;
        if way.lost_there {
            return Err(lost(key, "it did not arrive"));
        }
        let done = self.inner.put(key, body, expect).await;
        self.world.clock.sleep(way.back).await;
        self.alive(key)?;
        if way.lost_back { Err(lost(key, "no answer")) } else { done }
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
        "a moody store".to_owned()
    }
}
