//! A store with injected faults, as one process sees it: operations fail, are delayed, or arrive twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use stead_store::{Blob, Expect, Key, Store, StoreError, Version};

use crate::Disk;
use crate::faults::behaviour::{StoreBehaviour, StoreFault};
use crate::world::process::{Process, time_passes};

/// A store whose n-th operation may be faulty.
pub(crate) struct FaultyStore {
    pub store: Arc<dyn Store>,
    pub process: Process,
    pub faults: Vec<StoreFault>,
    pub asked: AtomicU32,
    pub down: AtomicBool,
    /// Notes each object that is sent, if the store is no folder of this disk.
    pub sent: Option<Disk>,
}

impl FaultyStore {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        process: Process,
        faults: Vec<StoreFault>,
        sent: Option<Disk>,
    ) -> FaultyStore {
        FaultyStore { store, process, faults, asked: AtomicU32::new(0), down: AtomicBool::new(false), sent }
    }

    /// Returns the behaviour of the next operation.
    ///
    /// An operation of a stopped process waits; an operation of a dead process fails without an effect.
    async fn behaviour(&self) -> Result<Option<StoreBehaviour>, StoreError> {
        self.process.until_awake().await;
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let behaviour = self.faults.iter().find(|fault| fault.at == number).map(|fault| fault.behaviour);
        if behaviour == Some(StoreBehaviour::Down) {
            self.down.store(true, Ordering::Relaxed);
        }
        if behaviour.is_some() {
            self.process.note_fault();
        }
        if !self.process.is_alive()
            || self.down.load(Ordering::Relaxed)
            || behaviour == Some(StoreBehaviour::Fails)
        {
            return Err(failed());
        }
        if behaviour == Some(StoreBehaviour::Late) {
            time_passes(Duration::from_secs(7)).await;
        }
        Ok(behaviour)
    }
}

fn failed() -> StoreError {
    let source = std::io::Error::from(std::io::ErrorKind::TimedOut);
    StoreError::Io { action: "reach", place: "the store".to_owned(), source }
}

#[async_trait]
impl Store for FaultyStore {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        match self.behaviour().await? {
            Some(StoreBehaviour::AnswerLost | StoreBehaviour::EffectLate) => Err(failed()),
            _ => self.store.get(key).await,
        }
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        if let Some(disk) = &self.sent {
            disk.content().note_object(key.as_str(), &body);
        }
        match self.behaviour().await? {
            Some(StoreBehaviour::AnswerLost) => {
                let _ = self.store.put(key, body, expect).await;
                Err(failed())
            }
            Some(StoreBehaviour::Doubled) => {
                let first = self.store.put(key, body.clone(), expect.clone()).await;
                let second = self.store.put(key, body, expect).await;
                if first.is_err() { first } else { second }
            }
            Some(StoreBehaviour::EffectLate) => {
                let (store, key) = (self.store.clone(), key.clone());
                tokio::spawn(async move {
                    time_passes(Duration::from_secs(3)).await;
                    let _ = store.put(&key, body, expect).await;
                });
                Err(failed())
            }
            _ => {
                let answer = self.store.put(key, body, expect).await;
                self.process.until_awake().await;
                // The process died while it waited: it receives no answer.
                if self.process.is_alive() { answer } else { Err(failed()) }
            }
        }
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.behaviour().await?;
        self.store.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.behaviour().await?;
        self.store.delete(key).await
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}
