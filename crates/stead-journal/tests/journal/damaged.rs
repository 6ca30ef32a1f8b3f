//! A stack with damaged or inconsistent objects cannot be read.

use std::sync::Arc;

use stead_journal::create as create_stack;
use stead_journal::{JournalError, Takeover, check_history, exists, load, open, read_head, repair, survey};
use stead_model::{Digest, Epoch, RunId, Seq};
use stead_state::{Batch, Record};
use stead_store::Store;
use stead_world::World;

use crate::bench::{
    append, batch, break_a_rule, create, keys, overwrite, ran, recorded, request, resource, setup,
};

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

#[tokio::test]
async fn stack_without_its_head_is_damaged_and_not_empty() {
    let (dir, store) = setup();
    assert!(read_head(&store, &keys()).await.unwrap().is_none());
    ran(&store, dir.path(), &["a"]).await;
    let (_, version) = read_head(&store, &keys()).await.unwrap().unwrap();
    let head = store.get(&keys().head()).await.unwrap().unwrap();
    assert_eq!(head.version, version);
    store.delete(&keys().head()).await.unwrap();
    let missing = |error: Option<JournalError>| matches!(error, Some(JournalError::HeadMissing { .. }));
    assert!(missing(load(&store, &keys()).await.err()));
    assert!(missing(open(request(&store, dir.path(), Takeover::Always)).await.err()));
    assert!(missing(create_stack(&store, &keys(), &World::real()).await.err()));
    assert!(missing(exists(&store, &keys()).await.err()));
    let survey = survey(&store, &keys()).await.unwrap();
    repair(&store, &keys(), &World::real(), &survey, &survey.proposals[0]).await.unwrap();
    assert_eq!(recorded(&store).await, ["a"]);
}

#[tokio::test]
async fn missing_batch_before_another_one_is_damage() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    for name in ["b", "c", "d"] {
        create(&run, name).await.unwrap();
    }
    drop(run);
    let batches = store.list(&keys().journal(Epoch(2))).await.unwrap();
    assert!(batches.len() > 4, "{batches:?}");
    let (last, others) = batches.split_last().unwrap();
    for missing in others {
        let bytes = store.get(missing).await.unwrap().unwrap().body;
        store.delete(missing).await.unwrap();
        let gap = |error: Option<JournalError>| match error {
            Some(JournalError::JournalGap { key }) => assert_eq!(key, missing.to_string()),
            other => panic!("{missing}: {other:?}"),
        };
        gap(load(&store, &keys()).await.err());
        let found = survey(&store, &keys()).await.unwrap();
        assert_eq!(
            found.problems,
            [format!("{missing} is missing, but later records of the same run exist")]
        );
        overwrite(&store, missing, bytes).await;
    }
    assert!(survey(&store, &keys()).await.unwrap().is_sound());
    // No other object tells that the last batch existed.
    store.delete(last).await.unwrap();
    assert!(load(&store, &keys()).await.is_ok());
}

#[tokio::test]
async fn damaged_history_is_found_and_does_not_concern_the_state() {
    let (dir, store) = setup();
    let first = ran(&store, dir.path(), &["a"]).await.snapshot;
    ran(&store, dir.path(), &["b"]).await;
    let damaged = || async { check_history(&store, &keys()).await.unwrap().damaged };
    assert_eq!(damaged().await, Vec::<String>::new());
    let (record, snapshot) = (keys().history(&RunId("run-1".into())), keys().snapshot(&first));
    for key in [record, snapshot] {
        let bytes = store.get(&key).await.unwrap().unwrap().body;
        overwrite(&store, &key, bytes.slice(..bytes.len() / 2)).await;
        assert!(damaged().await[0].starts_with(&format!("{key}: ")), "{:?}", damaged().await);
        overwrite(&store, &key, bytes.clone()).await;
    }
    store.delete(&keys().snapshot(&first)).await.unwrap();
    assert_eq!(damaged().await.len(), 1);
    assert!(load(&store, &keys()).await.is_ok());
}
