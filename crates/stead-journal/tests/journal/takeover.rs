//! After a takeover the old run can start no operation.

use std::sync::Arc;
use std::time::Duration;

use stead_journal::{JournalError, OpenRequest, RECEIPT_VALIDITY, Takeover, load, open};
use stead_model::RunResult;
use stead_state::Record;
use stead_world::World;

use crate::bench::{PausedClock, begin, create, keys, request, resource, setup};

#[tokio::test(start_paused = true)]
async fn old_run_gets_no_receipt_while_the_takeover_waits() {
    let (dir, store) = setup();
    let old = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let taking = tokio::spawn(open(request(&store, dir.path(), Takeover::Always)));
    tokio::time::sleep(RECEIPT_VALIDITY - Duration::from_secs(1)).await;
    assert!(!taking.is_finished());
    assert!(matches!(begin(&old, "late").await, Err(JournalError::Fenced)));
    taking.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn takeover_after_an_interrupted_takeover_waits_again() {
    let (dir, store) = setup();
    let old = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    begin(&old, "a").await.unwrap();
    let taking = tokio::spawn(open(request(&store, dir.path(), Takeover::Always)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    taking.abort();
    assert!(taking.await.is_err(), "the first takeover was aborted while it waited");
    let start = tokio::time::Instant::now();
    let next = open(request(&store, dir.path(), Takeover::Always)).await.unwrap();
    assert!(start.elapsed() >= RECEIPT_VALIDITY, "{:?}", start.elapsed());
    assert_eq!(next.in_doubt().len(), 1);
}

#[tokio::test]
async fn records_submitted_together_are_durable_together_or_not_at_all() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&run, "a").await.unwrap();
    let before = run.submit(Record::Reserve { uids: 20 });
    let refused = Record::Amend { resource: Box::new(resource("a")) }; // the resource exists, but has no id
    let together = run.submit_together(vec![Record::Reserve { uids: 30 }, refused]);
    let (before, together) = tokio::join!(before.durable(), together.durable());
    before.unwrap();
    assert!(matches!(together, Err(JournalError::RecordRefused(_))), "{together:?}");
    drop(run);
    assert_eq!(load(&store, &keys()).await.unwrap().state.uids(), 20);
}

#[tokio::test(start_paused = true)]
async fn relieved_run_writes_no_heartbeat() {
    let (dir, store) = setup();
    let clock = || World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    let on_clock = |takeover| OpenRequest { world: clock(), ..request(&store, dir.path(), takeover) };
    let beat = || async { store.get(&keys().lease()).await.unwrap().map(|blob| blob.body) };
    let old = open(on_clock(Takeover::IfDead)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(beat().await.is_some_and(|beat| beat.starts_with(b"{\"format\":6,\"epoch\":1,")));
    let new = open(on_clock(Takeover::Always)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(6)).await;
    let taken = beat().await;
    assert!(taken.as_ref().is_some_and(|beat| beat.starts_with(b"{\"format\":6,\"epoch\":2,")));
    new.close(RunResult::Succeeded).await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(beat().await, taken, "neither run holds the stack");
    drop(old);
}
