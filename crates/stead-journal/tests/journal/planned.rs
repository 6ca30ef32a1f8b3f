//! A run that opens on the version its plan was made on: it reuses the state that was read only if no journal
//! is open.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{JournalError, OpenRequest, Run, Takeover, load, open};
use stead_model::RunResult;
use stead_state::{Absent, Record};
use stead_store::Store;

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
