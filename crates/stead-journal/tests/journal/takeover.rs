//! Who is taken over starts nothing any more, from the moment in which the taker goes on.

use std::time::Duration;

use stead_journal::{JournalError, RECEIPT_VALIDITY, Takeover, load, open};
use stead_state::Record;

use crate::bench::{begin, create, keys, opening, resource, setup};

#[tokio::test(start_paused = true)]
async fn a_writer_gets_no_receipt_while_its_taker_waits_for_the_older_ones() {
    let (dir, store) = setup();
    let old = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let taking = tokio::spawn(open(opening(&store, dir.path(), Takeover::Always)));
    tokio::time::sleep(RECEIPT_VALIDITY - Duration::from_secs(1)).await;
    assert!(!taking.is_finished());
    assert!(matches!(begin(&old, "late").await, Err(JournalError::Fenced)));
    taking.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_follows_a_taker_that_died_waiting_waits_too() {
    let (dir, store) = setup();
    let old = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    begin(&old, "a").await.unwrap();
    let taking = tokio::spawn(open(opening(&store, dir.path(), Takeover::Always)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    taking.abort();
    assert!(taking.await.is_err(), "it died while it waited");
    let start = tokio::time::Instant::now();
    let next = open(opening(&store, dir.path(), Takeover::Always)).await.unwrap();
    assert!(start.elapsed() >= RECEIPT_VALIDITY, "{:?}", start.elapsed());
    assert_eq!(next.in_doubt().len(), 1);
}

#[tokio::test]
async fn records_that_belong_together_are_durable_together_or_not_at_all() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&run, "a").await.unwrap();
    let before = run.submit(Record::Reserve { uids: 20 });
    let broken = Record::Note { resource: Box::new(resource("a")) }; // it exists, and would have no id
    let together = run.submit_together(vec![Record::Reserve { uids: 30 }, broken]);
    let (before, together) = tokio::join!(before.durable(), together.durable());
    before.unwrap();
    assert!(matches!(together, Err(JournalError::WouldBreak(_))), "{together:?}");
    drop(run);
    assert_eq!(load(&store, &keys()).await.unwrap().state.uids(), 20);
}
