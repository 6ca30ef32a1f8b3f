//! A store in memory, for tests and for runs that leave nothing behind.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Expect, Found, Key, Store, StoreError, Version};

#[derive(Default)]
pub struct MemoryStore {
    blobs: Mutex<Blobs>,
}

#[derive(Default)]
struct Blobs {
    by_key: BTreeMap<Key, Found>,
    writes: u64,
}

impl MemoryStore {
    fn blobs(&self) -> MutexGuard<'_, Blobs> {
        // Nothing panics while the lock is held, so what a poisoned one holds is whole.
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, key: &Key) -> Result<Option<Found>, StoreError> {
        Ok(self.blobs().by_key.get(key).cloned())
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        let mut blobs = self.blobs();
        let holds = match (&expect, blobs.by_key.get(key)) {
            (Expect::Absent, None) => true,
            (Expect::Version(version), Some(found)) => found.version == *version,
            _ => false,
        };
        if !holds {
            return Err(StoreError::Conflict { key: key.clone() });
        }
        blobs.writes += 1;
        let version = Version(Bytes::from(blobs.writes.to_string()));
        blobs.by_key.insert(key.clone(), Found { body, version: version.clone() });
        Ok(version)
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        Ok(self.blobs().by_key.keys().filter(|key| key.is_below(prefix)).cloned().collect())
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.blobs().by_key.remove(key);
        Ok(())
    }

    fn describe(&self) -> String {
        "memory".to_owned()
    }
}
