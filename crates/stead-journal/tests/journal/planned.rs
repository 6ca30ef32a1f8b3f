//! A run that opens on what was read for its plan: it takes what was read as it is only where nothing is open.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{JournalError, Opening, Run, Takeover, load, open};
use stead_model::RunResult;
use stead_state::{Absent, Record};
use stead_store::Store;

use crate::bench::{begin, create, dying, keys, opening, ran, setup};

/// Plans on what is there now, and opens on that.
async fn planned(store: &Arc<dyn Store>, claims: &Path) -> Run {
    let planned_on = Some(load(store, &keys()).await.unwrap().version);
    open(Opening { planned_on, ..opening(store, claims, Takeover::IfDead) }).await.unwrap()
}

/// Whoever holds claims there is taken to be dead from now on, and may wake up later all the same.
fn fall_asleep(claims: &Path) {
    for claim in std::fs::read_dir(claims).unwrap() {
        let path = claim.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "").unwrap();
    }
}

async fn wakes_up_fenced(sleeper: &Run) {
    let late = sleeper.submit(Record::Reserve { uids: 50 }).durable().await;
    assert!(matches!(late, Err(JournalError::Fenced)), "{late:?}");
}

#[tokio::test]
async fn a_writer_whose_journal_was_planned_on_is_fenced() {
    let (dir, store) = setup();
    let sleeper = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&sleeper, "a").await.unwrap();
    fall_asleep(dir.path());
    let next = planned(&store, dir.path()).await;
    assert_eq!(next.base().len(), 1);
    wakes_up_fenced(&sleeper).await;
}

#[tokio::test]
async fn a_writer_before_one_that_died_while_it_opened_is_fenced() {
    let (dir, store) = setup();
    let sleeper = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&sleeper, "a").await.unwrap();
    fall_asleep(dir.path());
    let second = tokio::spawn(open(dying(&store, dir.path(), "run.open.after_head")));
    assert!(second.await.is_err(), "it died");
    let next = planned(&store, dir.path()).await;
    assert_eq!(next.base().len(), 1);
    wakes_up_fenced(&sleeper).await;
}

#[tokio::test]
async fn an_operation_that_a_closed_run_left_is_in_doubt() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    begin(&run, "a").await.unwrap();
    run.close(RunResult::Failed).await.unwrap();
    let doubts = planned(&store, dir.path()).await.in_doubt();
    assert!(doubts.len() == 1 && doubts[0].doubt.is_some(), "{doubts:?}");
}

#[tokio::test]
async fn a_place_where_a_stack_was_removed_can_be_planned_on() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    run.leave(Absent::Removed).await.unwrap();
    assert!(planned(&store, dir.path()).await.base().is_empty());
}

#[tokio::test]
async fn what_was_read_is_the_same_until_something_is_written() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &[]).await;
    let read = async || load(&store, &keys()).await.unwrap().version;
    let closed = read().await;
    assert_eq!(closed, read().await);
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let opened = read().await;
    assert_ne!(opened, closed, "head is another");
    create(&run, "a").await.unwrap();
    assert_ne!(opened, read().await, "head is the same, and the journal went on");
}
