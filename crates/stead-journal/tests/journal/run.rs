//! Opening, appending, fencing, taking over and recovering, on a store in memory.

use std::sync::Arc;

use stead_journal::{JournalError, LEASE, Opening, Takeover, load, open, wait_for};
use stead_model::{Map, PhysicalId, RunResult};
use stead_state::{Intent, Outcome, Record};
use stead_store::{Expect, FileStore, Found, Key, Store, StoreError, Version};
use stead_world::{SlowWork, World};

use crate::bench::{PausedClock, begin, create, keys, opening, resource, setup};

#[tokio::test]
async fn what_a_closed_run_did_is_what_the_next_reader_sees() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&run, "a").await.unwrap();
    let closed = run.close(RunResult::Succeeded).await.unwrap();
    let loaded = load(&store, &keys()).await.unwrap();
    assert_eq!(loaded.head.as_ref().unwrap().snapshot, Some(closed.snapshot));
    assert_eq!(loaded.head.unwrap().owner, None);
    assert!(loaded.state.by_name(&resource("a").name).is_some());
    let left: Vec<String> =
        store.list(&stead_store::Key::root()).await.unwrap().iter().map(|k| k.to_string()).collect();
    assert!(left.iter().all(|key| !key.contains("/journal/")), "{left:?}");
}

#[tokio::test]
async fn many_records_share_one_append() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    drop(run.submit(Record::Reserve { uids: 100 }));
    let begins: Vec<_> = (0..50)
        .map(|n| run.begin(move |key| Intent::Create { key, resource: Box::new(resource(&format!("r{n}"))) }))
        .collect();
    for begin in begins {
        begin.receipt().await.unwrap();
    }
    let appends = store.list(&keys().journal(stead_model::Epoch(1))).await.unwrap();
    assert_eq!(appends.len(), 1);
}

#[tokio::test]
async fn a_living_holder_is_named_and_a_dead_one_is_taken_over() {
    let (dir, store) = setup();
    let first = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&first, "a").await.unwrap();
    let receipt = begin(&first, "b").await.unwrap();
    match open(opening(&store, dir.path(), Takeover::IfDead)).await {
        Err(JournalError::Held(owner)) => assert_eq!(owner.pid, std::process::id()),
        other => panic!("{:?}", other.err()),
    }
    drop(first); // dies: the system lets go of its claim, nothing is written

    let second = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let doubt = second.in_doubt();
    assert_eq!(doubt.len(), 1);
    assert_eq!((doubt[0].op, doubt[0].intent.key()), (receipt.op(), receipt.idempotency_key()));
    assert!(doubt[0].doubt.is_some());
    assert!(second.base().by_name(&resource("a").name).is_some());
    let again = second.resume(&doubt[0]).await.unwrap();
    assert_eq!(again.idempotency_key(), receipt.idempotency_key());
    assert_eq!(again.attempt(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_lost_its_place_cannot_append_however_late_it_wakes() {
    let (dir, store) = setup();
    let old = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&old, "a").await.unwrap();
    let new = open(opening(&store, dir.path(), Takeover::Always)).await.unwrap();
    assert!(matches!(begin(&old, "late").await, Err(JournalError::Fenced)));
    assert!(matches!(old.close(RunResult::Succeeded).await, Err(JournalError::Fenced)));
    create(&new, "b").await.unwrap();
    let closed = new.close(RunResult::Succeeded).await.unwrap();
    let names: Vec<_> = closed.state.resources().iter().map(|r| r.name.short().to_owned()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test]
async fn a_run_planned_on_an_older_state_does_not_open() {
    let (dir, store) = setup();
    let planned_on = load(&store, &keys()).await.unwrap().version;
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
    let late = Opening { planned_on: Some(planned_on), ..opening(&store, dir.path(), Takeover::IfDead) };
    assert!(matches!(open(late).await, Err(JournalError::Moved)));
}

#[tokio::test]
async fn a_run_planned_beside_one_that_went_on_and_died_does_not_open() {
    let (dir, store) = setup();
    let first = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&first, "a").await.unwrap();
    let planned_on = load(&store, &keys()).await.unwrap().version;
    create(&first, "b").await.unwrap();
    drop(first); // dies; head is as it was when the plan was made
    let late = |planned_on| Opening {
        planned_on: Some(planned_on),
        ..opening(&store, dir.path(), Takeover::IfDead)
    };
    assert!(matches!(open(late(planned_on)).await, Err(JournalError::Moved)));
    let planned_on = load(&store, &keys()).await.unwrap().version;
    let run = open(late(planned_on)).await.unwrap();
    assert!(run.base().by_name(&resource("b").name).is_some());
}

#[tokio::test]
async fn a_run_opens_on_what_was_read_and_does_not_read_it_again() {
    let (dir, store) = setup();
    let first = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&first, "a").await.unwrap();
    let closed = first.close(RunResult::Succeeded).await.unwrap();
    let planned_on = Some(load(&store, &keys()).await.unwrap().version);
    store.delete(&keys().snapshot(&closed.snapshot)).await.unwrap();
    let second = open(Opening { planned_on, ..opening(&store, dir.path(), Takeover::IfDead) }).await.unwrap();
    create(&second, "b").await.unwrap();
    let closed = second.close(RunResult::Succeeded).await.unwrap();
    let names: Vec<_> = closed.state.resources().iter().map(|r| r.name.short().to_owned()).collect();
    assert_eq!(names, ["a", "b"]);
}

/// A store whose answer to a write comes late, on demand.
struct Late {
    store: Arc<dyn Store>,
    word: &'static str,
    by: std::sync::Mutex<Option<std::time::Duration>>,
}

#[async_trait::async_trait]
impl Store for Late {
    async fn get(&self, key: &Key) -> Result<Option<Found>, StoreError> {
        self.store.get(key).await
    }

    async fn put(&self, key: &Key, body: bytes::Bytes, expect: Expect) -> Result<Version, StoreError> {
        let done = self.store.put(key, body, expect).await;
        let late = self.by.lock().unwrap().filter(|_| key.as_str().contains(self.word));
        tokio::time::sleep(late.unwrap_or_default()).await;
        done
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.store.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    fn describe(&self) -> String {
        "a late store".to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_takes_over_goes_on_only_when_no_receipt_is_valid_any_more() {
    let seconds = std::time::Duration::from_secs;
    for (begins, late) in [(0, 4), (5, 9), (9, 9), (11, 9)] {
        let (dir, store) = setup();
        let clock = Arc::new(PausedClock(tokio::time::Instant::now()));
        let world = World { clock: clock.clone(), ..World::real() };
        let by = std::sync::Mutex::new(None);
        let slow = Arc::new(Late { store: store.clone(), word: "/journal/", by });
        let behind: Arc<dyn Store> = slow.clone();
        let open_as =
            |store, takeover| open(Opening { world: world.clone(), ..opening(store, dir.path(), takeover) });
        let old = open_as(&behind, Takeover::IfDead).await.unwrap();
        *slow.by.lock().unwrap() = Some(seconds(late));
        let begun = async {
            tokio::time::sleep(seconds(begins)).await;
            let receipt = begin(&old, "a").await;
            receipt
                .is_ok_and(|receipt| receipt.is_valid(world.clock.monotonic()))
                .then(tokio::time::Instant::now)
        };
        let taken = async {
            let new = open_as(&store, Takeover::Always).await.unwrap();
            (tokio::time::Instant::now(), new)
        };
        let (called, (taken, _new)) = tokio::join!(begun, taken);
        assert!(
            called.is_none_or(|called| called <= taken),
            "begun after {begins} s, answered after {late} s"
        );
    }
}

#[tokio::test]
async fn a_state_that_breaks_a_rule_is_never_published() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&run, "a").await.unwrap();
    let mut broken = resource("a");
    broken.id = None;
    match run.submit(Record::Note { resource: Box::new(broken) }).durable().await {
        Err(JournalError::WouldBreak(violations)) => assert_eq!(violations[0].rule, "S04"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(begin(&run, "b").await, Err(JournalError::WouldBreak(_))), "nothing starts after it");
    assert!(matches!(run.close(RunResult::Succeeded).await, Err(JournalError::WouldBreak(_))));
    let head = store.get(&keys().head()).await.unwrap().unwrap();
    assert_eq!(stead_state::Head::decode(&head.body).unwrap().snapshot, None);
    let state = load(&store, &keys()).await.unwrap().state;
    assert!(state.by_name(&resource("a").name).unwrap().id.is_some(), "the record never became durable");
}

#[tokio::test]
async fn what_was_submitted_before_a_record_that_breaks_a_rule_is_durable() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let receipt = begin(&run, "a").await.unwrap();
    let outcome = Outcome::Created { id: PhysicalId("a".into()), outputs: Map::new() };
    let end = run.submit(Record::End { op: receipt.op(), outcome });
    let broken = run.submit(Record::Note { resource: Box::new(resource("a")) });
    let (end, broken) = tokio::join!(end.durable(), broken.durable());
    end.unwrap();
    assert!(matches!(broken, Err(JournalError::WouldBreak(_))), "{broken:?}");
    drop(run);
    assert!(load(&store, &keys()).await.unwrap().state.by_name(&resource("a").name).is_some());
}

#[tokio::test(start_paused = true)]
async fn who_waits_gets_the_stack_when_it_is_closed() {
    let (dir, store) = setup();
    waits_for_a_living_holder(dir, store).await;
    // In files a version is the content, so that every beat must say something else.
    let dir = tempfile::tempdir().unwrap();
    let world = World { slow_work: SlowWork::Inline, ..World::real() };
    let files = Arc::new(FileStore::new(world, dir.path().join("state")));
    waits_for_a_living_holder(dir, files).await;
}

async fn waits_for_a_living_holder(dir: tempfile::TempDir, store: Arc<dyn Store>) {
    let paused = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    let opening = Opening { world: paused, ..opening(&store, dir.path(), Takeover::IfDead) };
    let run = open(opening).await.unwrap();
    let world = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    let mut waited_for = 0;
    let mut note = |_: &stead_state::Owner| waited_for += 1;
    let close = async {
        world.clock.sleep(std::time::Duration::from_secs(100)).await;
        run.close(RunResult::Succeeded).await.unwrap();
    };
    let keys = keys();
    let (takeover, ()) = tokio::join!(wait_for(&store, &keys, &world, &mut note), close);
    assert_eq!(takeover.unwrap(), Takeover::IfDead, "it beat for 100 seconds, so it was not taken over");
    assert_eq!(waited_for, 1);
}

#[tokio::test(start_paused = true)]
async fn a_holder_elsewhere_that_shows_no_life_is_given_up_after_its_lease() {
    let (dir, store) = setup();
    let run = open(opening(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    drop(run); // it is gone, and so are its beats
    // Seen from another machine, where nobody can try its claim.
    let mut elsewhere = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    Arc::make_mut(&mut elsewhere.host).name = "another-machine".into();
    let takeover = wait_for(&store, &keys(), &elsewhere, &mut |_| {}).await.unwrap();
    assert_eq!(takeover, Takeover::Always);
    assert!(elsewhere.clock.monotonic() >= LEASE);
}
