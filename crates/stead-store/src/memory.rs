//! A store in memory, for tests.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Blob, Expect, Key, Store, StoreError, Version};

#[derive(Default)]
pub struct MemoryStore {
    blobs: Mutex<Blobs>,
}

#[derive(Default)]
struct Blobs {
    by_key: BTreeMap<Key, Blob>,
    writes: u64,
}

impl MemoryStore {
    fn blobs(&self) -> MutexGuard<'_, Blobs> {
        // No code panics while it holds the lock, so the data of a poisoned lock is intact.
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        Ok(self.blobs().by_key.get(key).cloned())
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        let mut blobs = self.blobs();
        let holds = match (&expect, blobs.by_key.get(key)) {
            (Expect::Absent, None) => true,
            (Expect::Version(version), Some(blob)) => blob.version == *version,
            _ => false,
        };
        if !holds {
            return Err(StoreError::Conflict { key: key.clone() });
        }
        blobs.writes += 1;
        let version = Version(Bytes::from(blobs.writes.to_string()));
        blobs.by_key.insert(key.clone(), Blob { body, version: version.clone() });
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
