//! A stack with damaged or inconsistent objects cannot be read.

use std::sync::Arc;

use stead_journal::{JournalError, Takeover, load, open, read_head};
use stead_model::{Digest, Seq};
use stead_state::{Batch, Record};
use stead_store::Store;

use crate::bench::{append, batch, break_a_rule, keys, overwrite, ran, request, resource, setup};

/// Returns a stack whose first run died before it wrote anything.
async fn stack_of_a_dead_run() -> (tempfile::TempDir, Arc<dyn Store>) {
    let (dir, store) = setup();
    drop(open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap());
    (dir, store)
}

#[tokio::test]
async fn batch_that_does_not_follow_its_predecessor_is_refused() {
    let reserve = |uids| vec![Record::Reserve { uids }];
    let (_dir, store) = stack_of_a_dead_run().await;
    let first = append(&store, &batch(1, 0, None, reserve(1))).await;
    append(&store, &batch(1, 1, Some(first.clone()), reserve(2))).await;
    assert_eq!(load(&store, &keys()).await.unwrap().state.uids(), 2);
    let good = batch(1, 1, Some(first), reserve(3));
    let foreign = [
        Batch { epoch: good.epoch.next(), ..good.clone() },
        Batch { seq: Seq(2), ..good.clone() },
        Batch { previous: Some(Digest::of(b"another")), ..good.clone() },
        Batch { previous: None, ..good.clone() },
    ];
    let place = keys().batch(good.epoch, good.seq);
    for batch in foreign {
        overwrite(&store, &place, batch.encode()).await;
        match load(&store, &keys()).await {
            Err(JournalError::BrokenChain { key }) => assert_eq!(key, place.to_string()),
            other => panic!("{batch:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn journal_that_violates_a_rule_can_be_neither_read_nor_taken_over() {
    let (dir, store) = stack_of_a_dead_run().await;
    let without_id = Record::Adopt { resource: Box::new(resource("a")) };
    append(&store, &batch(1, 0, None, vec![Record::Reserve { uids: 1 }, without_id])).await;
    assert!(matches!(load(&store, &keys()).await, Err(JournalError::Integrity(broken)) if broken.len() == 1));
    let taken = open(request(&store, dir.path(), Takeover::IfDead)).await;
    assert!(matches!(taken.err(), Some(JournalError::Integrity(_))));
}

#[tokio::test]
async fn snapshot_that_violates_a_rule_or_is_missing_is_refused() {
    let (dir, store) = setup();
    let closed = ran(&store, dir.path(), &["a"]).await;
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    break_a_rule(&store, &head).await;
    assert!(matches!(load(&store, &keys()).await, Err(JournalError::Integrity(_))));
    overwrite(&store, &keys().head(), head.encode()).await;
    assert!(load(&store, &keys()).await.is_ok());
    let key = keys().snapshot(&closed.snapshot);
    store.delete(&key).await.unwrap();
    assert!(
        matches!(load(&store, &keys()).await, Err(JournalError::Missing { key: at }) if at == key.to_string())
    );
}
