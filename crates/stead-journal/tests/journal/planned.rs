//! A run that opens on the version its plan was made on: it reuses the state that was read only if no journal
//! is open.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use stead_journal::{JournalError, OpenRequest, Run, Takeover, load, open};
use stead_model::RunResult;
use stead_state::{Absent, Record};
use stead_store::{Blob, Expect, Key, Store, StoreError, Version};

use crate::bench::{begin, create, dying, keys, ran, request, setup};

/// Opens a run on the current version of the stack.
async fn open_planned(store: &Arc<dyn Store>, claims: &Path) -> Run {
    let planned_on = Some(load(store, &keys()).await.unwrap().version);
    open(OpenRequest { planned_on, ..request(store, claims, Takeover::IfDead) }).await.unwrap()
}

/// Unlocks all claims, so that their runs count as dead; the runs can continue later.
fn suspend(claims: &Path) {
    for claim in std::fs::read_dir(claims).unwrap() {
        let path = claim.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "").unwrap();
    }
}

async fn assert_fenced(suspended: &Run) {
    let late = suspended.submit(Record::Reserve { uids: 50 }).durable().await;
    assert!(matches!(late, Err(JournalError::Fenced)), "{late:?}");
}

#[tokio::test]
async fn run_whose_journal_a_plan_was_made_on_is_fenced() {
    let (dir, store) = setup();
    let suspended = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&suspended, "a").await.unwrap();
    suspend(dir.path());
    let next = open_planned(&store, dir.path()).await;
    assert_eq!(next.base().len(), 1);
    assert_fenced(&suspended).await;
}

#[tokio::test]
async fn run_before_one_that_died_while_opening_is_fenced() {
    let (dir, store) = setup();
    let suspended = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&suspended, "a").await.unwrap();
    suspend(dir.path());
    let second = tokio::spawn(open(dying(&store, dir.path(), "run.open.after_head")));
    assert!(second.await.is_err(), "the run must die at the crash point");
    let next = open_planned(&store, dir.path()).await;
    assert_eq!(next.base().len(), 1);
    assert_fenced(&suspended).await;
}

#[tokio::test]
async fn unfinished_operation_of_a_closed_run_is_in_doubt() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    begin(&run, "a").await.unwrap();
    run.close(RunResult::Failed).await.unwrap();
    let doubts = open_planned(&store, dir.path()).await.in_doubt();
    assert!(doubts.len() == 1 && doubts[0].doubt.is_some(), "{doubts:?}");
}

#[tokio::test]
async fn plan_can_be_made_where_a_stack_was_removed() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    run.retire_stack(Absent::Removed).await.unwrap();
    assert!(open_planned(&store, dir.path()).await.base().is_empty());
}

#[tokio::test]
async fn read_version_changes_with_every_write() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &[]).await;
    let read = async || load(&store, &keys()).await.unwrap().version;
    let closed = read().await;
    assert_eq!(closed, read().await);
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let opened = read().await;
    assert_ne!(opened, closed, "the head changed");
    create(&run, "a").await.unwrap();
    assert_ne!(opened, read().await, "the head is the same, but the journal grew");
}

/// A store in which the next batch of a journal is on its way until a claim on the head is written.
struct LateBatch {
    store: Arc<dyn Store>,
    next_is_late: AtomicBool,
    late: Mutex<Option<(Key, bytes::Bytes)>>,
}

#[async_trait::async_trait]
impl Store for LateBatch {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        self.store.get(key).await
    }

    async fn put(&self, key: &Key, body: bytes::Bytes, expect: Expect) -> Result<Version, StoreError> {
        if key.as_str().contains("/journal/") && self.next_is_late.swap(false, Ordering::Relaxed) {
            *self.late.lock().unwrap() = Some((key.clone(), body));
            return std::future::pending().await;
        }
        let late = if *key == keys().head() { self.late.lock().unwrap().take() } else { None };
        if let Some((key, body)) = late {
            // A slot that is taken refuses the batch, whose writer is dead and learns nothing.
            let _ = self.store.put(&key, body, Expect::Absent).await;
        }
        self.store.put(key, body, expect).await
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.store.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    fn describe(&self) -> String {
        "a store with a late batch".to_owned()
    }
}

#[tokio::test]
async fn run_opens_on_the_state_of_its_plan_although_a_batch_of_the_dead_run_arrives_late() {
    let (dir, store) = setup();
    let network = LateBatch { store, next_is_late: AtomicBool::new(false), late: Mutex::default() };
    let network = Arc::new(network);
    let store: Arc<dyn Store> = network.clone();
    let dead = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&dead, "a").await.unwrap();
    network.next_is_late.store(true, Ordering::Relaxed);
    drop(dead.submit(Record::Reserve { uids: 50 }));
    while network.late.lock().unwrap().is_none() {
        tokio::task::yield_now().await;
    }
    drop(dead);
    let loaded = load(&store, &keys()).await.unwrap();
    let run = open_planned(&store, dir.path()).await;
    assert!(network.late.lock().unwrap().is_none(), "the batch arrived while the run opened");
    assert_eq!(run.base().snapshot(None), loaded.state.snapshot(None));
}
