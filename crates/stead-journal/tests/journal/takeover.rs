//! After a takeover the old run can start no operation.

use std::time::Duration;

use stead_journal::{JournalError, RECEIPT_VALIDITY, Takeover, load, open};
use stead_state::Record;

use crate::bench::{begin, create, keys, request, resource, setup};

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
