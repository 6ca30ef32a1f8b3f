//! A network that delivers everything twice, and brings only the second answer back: nobody takes that for somebody else.

use std::sync::Arc;

use bytes::Bytes;
use stead_journal::{Takeover, create as create_stack, load, open};
use stead_model::RunResult;
use stead_state::Absent;
use stead_store::{Expect, Found, Key, MemoryStore, Store, StoreError, Version};
use stead_world::World;

use crate::bench::{create, keys, opening};

#[derive(Default)]
struct Doubled(MemoryStore);

#[async_trait::async_trait]
impl Store for Doubled {
    async fn get(&self, key: &Key) -> Result<Option<Found>, StoreError> {
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
        "a store behind a network that stutters".to_owned()
    }
}

#[tokio::test]
async fn a_run_whose_every_write_arrives_twice_opens_writes_and_ends_as_any_other() {
    let (store, claims): (Arc<dyn Store>, _) = (Arc::new(Doubled::default()), tempfile::tempdir().unwrap());
    create_stack(&store, &keys(), &World::real()).await.unwrap();
    for name in ["a", "b"] {
        let run = open(opening(&store, claims.path(), Takeover::IfDead)).await.unwrap();
        create(&run, name).await.unwrap();
        run.close(RunResult::Succeeded).await.unwrap();
    }
    let loaded = load(&store, &keys()).await.unwrap();
    assert_eq!(loaded.state.resources().len(), 2);
    assert!(loaded.head.unwrap().owner.is_none());
    let run = open(opening(&store, claims.path(), Takeover::IfDead)).await.unwrap();
    run.leave(Absent::Removed).await.unwrap();
    assert!(load(&store, &keys()).await.unwrap().head.is_none());
}
