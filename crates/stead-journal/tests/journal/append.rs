//! What shares an append, what never gets into one, and what counts when the store's answer is lost.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use stead_journal::{JournalError, Opening, Run, Takeover, load, open};
use stead_model::{Epoch, OpId, RunResult};
use stead_state::{Outcome, Record};
use stead_store::{Expect, Found, Key, MemoryStore, Store, StoreError, Version};
use stead_world::World;

use crate::bench::{PausedClock, begin, create, keys, opening, recorded, setup};

/// Takes the next appends and says that they failed.
#[derive(Default)]
struct Forgetful {
    store: MemoryStore,
    forgets: AtomicU32,
}

#[async_trait::async_trait]
impl Store for Forgetful {
    async fn get(&self, key: &Key) -> Result<Option<Found>, StoreError> {
        self.store.get(key).await
    }

    async fn put(&self, key: &Key, body: bytes::Bytes, expect: Expect) -> Result<Version, StoreError> {
        let done = self.store.put(key, body, expect).await?;
        let left = self.forgets.load(Ordering::SeqCst);
        if left > 0 && key.as_str().contains("/journal/") {
            self.forgets.store(left - 1, Ordering::SeqCst);
            let source = ErrorKind::TimedOut.into();
            return Err(StoreError::Io { action: "write", place: key.to_string(), source });
        }
        Ok(done)
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.store.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    fn describe(&self) -> String {
        "a forgetful store".to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn an_append_whose_answer_got_lost_counts_when_its_bytes_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let forgetful = Arc::new(Forgetful::default());
    let store: Arc<dyn Store> = forgetful.clone();
    let world = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    let run = open(Opening { world, ..opening(&store, dir.path(), Takeover::IfDead) }).await.unwrap();
    forgetful.forgets.store(1, Ordering::SeqCst);
    create(&run, "a").await.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
    assert_eq!(recorded(&store).await, ["a"]);
}

async fn appends(store: &Arc<dyn Store>) -> usize {
    store.list(&keys().journal(Epoch(1))).await.unwrap().len()
}

async fn opened(store: &Arc<dyn Store>, dir: &tempfile::TempDir) -> Run {
    open(opening(store, dir.path(), Takeover::IfDead)).await.unwrap()
}

#[tokio::test]
async fn a_thousand_records_share_an_append_and_one_more_goes_into_the_next() {
    for (records, expected) in [(1000, 1), (1001, 2)] {
        let (dir, store) = setup();
        let run = opened(&store, &dir).await;
        let acks: Vec<_> = (0..records).map(|uids| run.submit(Record::Reserve { uids })).collect();
        for ack in acks {
            ack.durable().await.unwrap();
        }
        assert_eq!(appends(&store).await, expected, "{records}");
    }
}

#[tokio::test]
async fn a_refused_record_leaves_nothing_in_the_journal() {
    let (dir, store) = setup();
    let run = opened(&store, &dir).await;
    let nobody = Record::End { op: OpId(7), outcome: Outcome::Deleted };
    let refused = run.submit(nobody).durable().await;
    assert!(matches!(refused, Err(JournalError::Replay { .. })), "{refused:?}");
    assert_eq!(appends(&store).await, 0);
}

#[tokio::test]
async fn a_doubt_that_the_journal_does_not_take_is_no_answer_to_keep() {
    let (dir, store) = setup();
    let run = opened(&store, &dir).await;
    let receipt = begin(&run, "a").await.unwrap();
    let nobody = run.submit(Record::Resume { op: OpId(9) });
    let outcome = Outcome::InDoubt { message: "the line went dead".into() };
    let doubt = run.submit(Record::End { op: receipt.op(), outcome });
    assert!(matches!(nobody.durable().await, Err(JournalError::Replay { .. })));
    let refused = doubt.durable().await;
    assert!(matches!(refused, Err(JournalError::Replay { .. })), "{refused:?}");
    drop(run);
    assert!(store.list(&keys().spools()).await.unwrap().is_empty());
    assert_eq!(load(&store, &keys()).await.unwrap().state.pending().count(), 1);
}
