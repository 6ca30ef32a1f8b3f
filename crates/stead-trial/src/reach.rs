//! A store as one process reaches it: over files, or over a network that loses, delays and doubles.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use stead_store::{Blob, Expect, Key, Store, StoreError, Version};

use crate::luck::{StoreFault, StoreLuck};
use crate::process::{Process, time_passes};

pub(crate) struct Reach {
    pub store: Arc<dyn Store>,
    pub process: Process,
    pub faults: Vec<StoreFault>,
    pub asked: AtomicU32,
    pub down: AtomicBool,
}

impl Reach {
    pub(crate) fn new(store: Arc<dyn Store>, process: Process, faults: Vec<StoreFault>) -> Reach {
        Reach { store, process, faults, asked: AtomicU32::new(0), down: AtomicBool::new(false) }
    }

    /// How this operation goes: a stopped process does nothing, and what a dead one does has no effect.
    async fn luck(&self) -> Result<Option<StoreLuck>, StoreError> {
        self.process.awake().await;
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let luck = self.faults.iter().find(|fault| fault.at == number).map(|fault| fault.luck);
        if luck == Some(StoreLuck::Down) {
            self.down.store(true, Ordering::Relaxed);
        }
        if luck.is_some() {
            self.process.is_struck();
        }
        if !self.process.is_alive() || self.down.load(Ordering::Relaxed) || luck == Some(StoreLuck::Fails) {
            return Err(failed());
        }
        if luck == Some(StoreLuck::Late) {
            time_passes(Duration::from_secs(7)).await;
        }
        Ok(luck)
    }
}

fn failed() -> StoreError {
    let source = std::io::Error::from(std::io::ErrorKind::TimedOut);
    StoreError::Io { action: "reach", place: "the store".to_owned(), source }
}

#[async_trait]
impl Store for Reach {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        match self.luck().await? {
            Some(StoreLuck::AnswerLost | StoreLuck::EffectLate) => Err(failed()),
            _ => self.store.get(key).await,
        }
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        match self.luck().await? {
            Some(StoreLuck::AnswerLost) => {
                let _ = self.store.put(key, body, expect).await;
                Err(failed())
            }
            Some(StoreLuck::Doubled) => {
                let first = self.store.put(key, body.clone(), expect.clone()).await;
                let second = self.store.put(key, body, expect).await;
                if first.is_err() { first } else { second }
            }
            Some(StoreLuck::EffectLate) => {
                let (store, key) = (self.store.clone(), key.clone());
                tokio::spawn(async move {
                    time_passes(Duration::from_secs(3)).await;
                    let _ = store.put(&key, body, expect).await;
                });
                Err(failed())
            }
            _ => {
                let answer = self.store.put(key, body, expect).await;
                self.process.awake().await;
                // It died while it waited: there is nobody to be told.
                if self.process.is_alive() { answer } else { Err(failed()) }
            }
        }
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.luck().await?;
        self.store.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.luck().await?;
        self.store.delete(key).await
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}
