//! Every write is delivered twice and only the second answer comes back: no run takes its own write for
//! another's.

use std::sync::Arc;

use bytes::Bytes;
use stead_journal::{Takeover, create as create_stack, load, open};
use stead_model::RunResult;
use stead_state::Absent;
use stead_store::{Blob, Expect, Key, MemoryStore, Store, StoreError, Version};
use stead_world::World;

use crate::bench::{create, keys, request};

#[derive(Default)]
struct DuplicatingStore(MemoryStore);

#[async_trait::async_trait]
impl Store for DuplicatingStore {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        self.0.get(key).await
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        let _ = self.0.put(key, body.clone(), expect.clone()).await;
        self.0.put(key, body, expect).await
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.0.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        let _ = self.0.delete(key).await;
        self.0.delete(key).await
    }

    fn describe(&self) -> String {
        "a store that gets every write twice".to_owned()
    }
}

#[tokio::test]
async fn run_succeeds_when_every_write_is_delivered_twice() {
    let (store, claims): (Arc<dyn Store>, _) =
        (Arc::new(DuplicatingStore::default()), tempfile::tempdir().unwrap());
    create_stack(&store, &keys(), &World::real()).await.unwrap();
    for name in ["a", "b"] {
        let run = open(request(&store, claims.path(), Takeover::IfDead)).await.unwrap();
        create(&run, name).await.unwrap();
        run.close(RunResult::Succeeded).await.unwrap();
    }
    let loaded = load(&store, &keys()).await.unwrap();
    assert_eq!(loaded.state.resources().len(), 2);
    assert!(loaded.head.unwrap().owner.is_none());
    let run = open(request(&store, claims.path(), Takeover::IfDead)).await.unwrap();
    run.retire_stack(Absent::Removed).await.unwrap();
    assert!(load(&store, &keys()).await.unwrap().head.is_none());
}
