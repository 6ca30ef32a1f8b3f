//! Appends: batching, refused records, and lost answers of the store.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use stead_journal::{JournalError, OpenRequest, Run, Takeover, load, open};
use stead_model::{Epoch, OpId, RunResult};
use stead_state::{Outcome, Record};
use stead_store::{Blob, Expect, Key, MemoryStore, Store, StoreError, Version};
use stead_world::World;

use crate::bench::{PausedClock, begin, create, keys, recorded, request, setup};

/// A store that takes the next appends but reports that they failed.
#[derive(Default)]
struct LostAnswers {
    store: MemoryStore,
    answers_to_lose: AtomicU32,
}

#[async_trait::async_trait]
impl Store for LostAnswers {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        self.store.get(key).await
    }

    async fn put(&self, key: &Key, body: bytes::Bytes, expect: Expect) -> Result<Version, StoreError> {
        let done = self.store.put(key, body, expect).await?;
        let left = self.answers_to_lose.load(Ordering::SeqCst);
        if left > 0 && key.as_str().contains("/journal/") {
            self.answers_to_lose.store(left - 1, Ordering::SeqCst);
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
        "a store that loses answers".to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn append_with_a_lost_answer_succeeds_if_its_bytes_are_stored() {
    let dir = tempfile::tempdir().unwrap();
    let lossy = Arc::new(LostAnswers::default());
    let store: Arc<dyn Store> = lossy.clone();
    let world = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    let run = open(OpenRequest { world, ..request(&store, dir.path(), Takeover::IfDead) }).await.unwrap();
    lossy.answers_to_lose.store(1, Ordering::SeqCst);
    create(&run, "a").await.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
    assert_eq!(recorded(&store).await, ["a"]);
}

async fn appends(store: &Arc<dyn Store>) -> usize {
    store.list(&keys().journal(Epoch(1))).await.unwrap().len()
}

async fn opened(store: &Arc<dyn Store>, dir: &tempfile::TempDir) -> Run {
    open(request(store, dir.path(), Takeover::IfDead)).await.unwrap()
}

#[tokio::test]
async fn thousand_records_share_an_append_and_the_next_one_starts_another() {
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
async fn refused_record_is_not_appended() {
    let (dir, store) = setup();
    let run = opened(&store, &dir).await;
    let without_begin = Record::End { op: OpId(7), outcome: Outcome::Deleted };
    let refused = run.submit(without_begin).durable().await;
    assert!(matches!(refused, Err(JournalError::Replay { .. })), "{refused:?}");
    assert_eq!(appends(&store).await, 0);
}

#[tokio::test]
async fn in_doubt_outcome_that_cannot_be_appended_is_not_spooled() {
    let (dir, store) = setup();
    let run = opened(&store, &dir).await;
    let receipt = begin(&run, "a").await.unwrap();
    let without_begin = run.submit(Record::Resume { op: OpId(9) });
    let outcome = Outcome::InDoubt { message: "the connection was lost".into() };
    let doubt = run.submit(Record::End { op: receipt.op(), outcome });
    assert!(matches!(without_begin.durable().await, Err(JournalError::Replay { .. })));
    let refused = doubt.durable().await;
    assert!(matches!(refused, Err(JournalError::Replay { .. })), "{refused:?}");
    drop(run);
    assert!(store.list(&keys().spools()).await.unwrap().is_empty());
    assert_eq!(load(&store, &keys()).await.unwrap().state.pending().count(), 1);
}
