//! Opening, appending, fencing, takeover and recovery.

use std::sync::Arc;

use stead_journal::{JournalError, LEASE_TIMEOUT, OpenRequest, Takeover, load, open, wait_for_lock};
use stead_model::{Map, OperationToken, PhysicalId, RunResult};
use stead_state::{Intent, Outcome, Record};
use stead_store::{Blob, Expect, FileStore, Key, Store, StoreError, Version};
use stead_world::{SlowWork, World};

use crate::bench::{PausedClock, begin, create, keys, request, resource, setup};

#[tokio::test]
async fn next_reader_sees_the_state_of_a_closed_run() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
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
async fn concurrent_records_share_one_append() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
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
async fn living_holder_is_reported_and_a_dead_one_is_taken_over() {
    let (dir, store) = setup();
    let first = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&first, "a").await.unwrap();
    let receipt = begin(&first, "b").await.unwrap();
    match open(request(&store, dir.path(), Takeover::IfDead)).await {
        Err(JournalError::Held(owner)) => assert_eq!(owner.pid, std::process::id()),
        other => panic!("{:?}", other.err()),
    }
    drop(first); // the run dies: its claim is released, and nothing is written

    let second = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
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
async fn fenced_run_can_never_append_again() {
    let (dir, store) = setup();
    let old = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&old, "a").await.unwrap();
    let new = open(request(&store, dir.path(), Takeover::Always)).await.unwrap();
    assert!(matches!(begin(&old, "late").await, Err(JournalError::Fenced)));
    assert!(matches!(old.close(RunResult::Succeeded).await, Err(JournalError::Fenced)));
    create(&new, "b").await.unwrap();
    let closed = new.close(RunResult::Succeeded).await.unwrap();
    let names: Vec<_> = closed.state.resources().iter().map(|r| r.name.short().to_owned()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test]
async fn run_planned_on_an_older_state_does_not_open() {
    let (dir, store) = setup();
    let planned_on = load(&store, &keys()).await.unwrap().version;
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
    let late = OpenRequest { planned_on: Some(planned_on), ..request(&store, dir.path(), Takeover::IfDead) };
    assert!(matches!(open(late).await, Err(JournalError::StateChanged)));
}

#[tokio::test]
async fn run_planned_before_the_last_records_of_a_dead_run_does_not_open() {
    let (dir, store) = setup();
    let first = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&first, "a").await.unwrap();
    let planned_on = load(&store, &keys()).await.unwrap().version;
    create(&first, "b").await.unwrap();
    drop(first); // the run dies; the head is still the one that the plan was made on
    let late = |planned_on| OpenRequest {
        planned_on: Some(planned_on),
        ..request(&store, dir.path(), Takeover::IfDead)
    };
    assert!(matches!(open(late(planned_on)).await, Err(JournalError::StateChanged)));
    let planned_on = load(&store, &keys()).await.unwrap().version;
    let run = open(late(planned_on)).await.unwrap();
    assert!(run.base().by_name(&resource("b").name).is_some());
}

#[tokio::test]
async fn run_reuses_the_state_that_was_read_for_its_plan() {
    let (dir, store) = setup();
    let first = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&first, "a").await.unwrap();
    let closed = first.close(RunResult::Succeeded).await.unwrap();
    let planned_on = Some(load(&store, &keys()).await.unwrap().version);
    store.delete(&keys().snapshot(&closed.snapshot)).await.unwrap();
    let second =
        open(OpenRequest { planned_on, ..request(&store, dir.path(), Takeover::IfDead) }).await.unwrap();
    create(&second, "b").await.unwrap();
    let closed = second.close(RunResult::Succeeded).await.unwrap();
    let names: Vec<_> = closed.state.resources().iter().map(|r| r.name.short().to_owned()).collect();
    assert_eq!(names, ["a", "b"]);
}

/// A store that delays its answers to some writes.
struct SlowStore {
    store: Arc<dyn Store>,
    key_part: &'static str,
    delay: std::sync::Mutex<Option<std::time::Duration>>,
}

#[async_trait::async_trait]
impl Store for SlowStore {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        self.store.get(key).await
    }

    async fn put(&self, key: &Key, body: bytes::Bytes, expect: Expect) -> Result<Version, StoreError> {
        let done = self.store.put(key, body, expect).await;
        let delay = self.delay.lock().unwrap().filter(|_| key.as_str().contains(self.key_part));
        tokio::time::sleep(delay.unwrap_or_default()).await;
        done
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.store.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    fn describe(&self) -> String {
        "a slow store".to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn takeover_waits_until_every_receipt_of_the_old_run_has_expired() {
    let seconds = std::time::Duration::from_secs;
    for (begins, late) in [(0, 4), (5, 9), (9, 9), (11, 9)] {
        let (dir, store) = setup();
        let clock = Arc::new(PausedClock(tokio::time::Instant::now()));
        let world = World { clock: clock.clone(), ..World::real() };
        let delay = std::sync::Mutex::new(None);
        let slow = Arc::new(SlowStore { store: store.clone(), key_part: "/journal/", delay });
        let behind: Arc<dyn Store> = slow.clone();
        let open_as = |store, takeover| {
            open(OpenRequest { world: world.clone(), ..request(store, dir.path(), takeover) })
        };
        let old = open_as(&behind, Takeover::IfDead).await.unwrap();
        *slow.delay.lock().unwrap() = Some(seconds(late));
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
async fn state_that_violates_a_rule_is_never_published() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    create(&run, "a").await.unwrap();
    let mut broken = resource("a");
    broken.id = None;
    match run.submit(Record::Amend { resource: Box::new(broken) }).durable().await {
        Err(JournalError::RecordRefused(violations)) => assert_eq!(violations[0].rule, "S04"),
        other => panic!("{other:?}"),
    }
    assert!(
        matches!(begin(&run, "b").await, Err(JournalError::RecordRefused(_))),
        "no operation starts after the refused record"
    );
    assert!(matches!(run.close(RunResult::Succeeded).await, Err(JournalError::RecordRefused(_))));
    let head = store.get(&keys().head()).await.unwrap().unwrap();
    assert_eq!(stead_state::Head::decode(&head.body).unwrap().snapshot, None);
    let state = load(&store, &keys()).await.unwrap().state;
    assert!(state.by_name(&resource("a").name).unwrap().id.is_some(), "the refused record is not durable");
}

#[tokio::test]
async fn records_submitted_before_a_refused_one_are_durable() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let receipt = begin(&run, "a").await.unwrap();
    let outcome = Outcome::created(PhysicalId("a".into()), Map::new());
    let end = run.submit(Record::End { op: receipt.op(), outcome });
    let broken = run.submit(Record::Amend { resource: Box::new(resource("a")) });
    let (end, broken) = tokio::join!(end.durable(), broken.durable());
    end.unwrap();
    assert!(matches!(broken, Err(JournalError::RecordRefused(_))), "{broken:?}");
    drop(run);
    assert!(load(&store, &keys()).await.unwrap().state.by_name(&resource("a").name).is_some());
}

#[tokio::test(start_paused = true)]
async fn waiting_run_acquires_the_lock_when_the_holder_finishes() {
    let (dir, store) = setup();
    wait_while_the_holder_is_alive(dir, store).await;
    // In a file store the version is the content, so every heartbeat must differ from the last.
    let dir = tempfile::tempdir().unwrap();
    let world = World { slow_work: SlowWork::Inline, ..World::real() };
    let files = Arc::new(FileStore::new(world, dir.path().join("state")));
    wait_while_the_holder_is_alive(dir, files).await;
}

async fn wait_while_the_holder_is_alive(dir: tempfile::TempDir, store: Arc<dyn Store>) {
    let paused = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    let request = OpenRequest { world: paused, ..request(&store, dir.path(), Takeover::IfDead) };
    let run = open(request).await.unwrap();
    let world = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    let mut calls = 0;
    let mut note = |_: &stead_state::Owner| calls += 1;
    let close = async {
        world.clock.sleep(std::time::Duration::from_secs(100)).await;
        run.close(RunResult::Succeeded).await.unwrap();
    };
    let keys = keys();
    let (takeover, ()) = tokio::join!(wait_for_lock(&store, &keys, &world, &mut note), close);
    assert_eq!(takeover.unwrap(), Takeover::IfDead, "the holder sent heartbeats for 100 seconds");
    assert_eq!(calls, 1);
}

#[tokio::test(start_paused = true)]
async fn remote_holder_without_heartbeats_is_taken_over_after_the_lease_timeout() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    drop(run); // its heartbeats end
    // Another machine cannot test the claim.
    let mut elsewhere = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
    Arc::make_mut(&mut elsewhere.host).name = "another-machine".into();
    let takeover = wait_for_lock(&store, &keys(), &elsewhere, &mut |_| {}).await.unwrap();
    assert_eq!(takeover, Takeover::Always);
    assert!(elsewhere.clock.monotonic() >= LEASE_TIMEOUT);
}

fn token(text: &str) -> OperationToken {
    text.to_owned().try_into().unwrap()
}

#[tokio::test]
async fn recorded_token_is_given_to_the_run_that_continues_the_operation() {
    let (dir, store) = setup();
    let first = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let (with, without) = (begin(&first, "a").await.unwrap(), begin(&first, "b").await.unwrap());
    assert!(with.begun().is_some() && with.token().is_none());
    with.record_token(token("t1")).durable().await.unwrap();
    with.record_token(token("t2")).durable().await.unwrap();
    drop(first);
    let second = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    for (before, token) in [(with, Some(token("t2"))), (without, None)] {
        let pending = second.in_doubt().into_iter().find(|one| one.op == before.op()).unwrap();
        let again = second.resume(&pending).await.unwrap();
        assert_eq!((again.token(), again.begun()), (token.as_ref(), before.begun()));
    }
}

#[tokio::test]
async fn token_is_refused_after_the_end_of_its_operation_and_of_its_run() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let receipt = begin(&run, "a").await.unwrap();
    let outcome = Outcome::created(PhysicalId("a".into()), Map::new());
    run.submit(Record::End { op: receipt.op(), outcome }).durable().await.unwrap();
    let late = receipt.record_token(token("t")).durable().await;
    assert!(matches!(late, Err(JournalError::Replay { .. })), "{late:?}");
    // The receipt does not keep the run open.
    drop(run);
    assert!(matches!(receipt.record_token(token("t")).durable().await, Err(JournalError::Fenced)));
}

#[tokio::test(start_paused = true)]
async fn fenced_run_records_no_token() {
    let (dir, store) = setup();
    let old = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let receipt = begin(&old, "a").await.unwrap();
    let new = open(request(&store, dir.path(), Takeover::Always)).await.unwrap();
    assert!(matches!(receipt.record_token(token("t")).durable().await, Err(JournalError::Fenced)));
    assert_eq!(new.in_doubt()[0].token, None);
}

#[tokio::test]
async fn tokens_of_concurrent_operations_share_one_append() {
    let (dir, store) = setup();
    let run = open(request(&store, dir.path(), Takeover::IfDead)).await.unwrap();
    let mut receipts = Vec::new();
    for n in 0..9 {
        receipts.push(begin(&run, &format!("r{n}")).await.unwrap());
    }
    let appends = || async { store.list(&keys().journal(stead_model::Epoch(1))).await.unwrap().len() };
    let before = appends().await;
    let recorded: Vec<_> =
        receipts.iter().map(|one| one.record_token(token(&format!("t{}", one.op())))).collect();
    for one in recorded {
        one.durable().await.unwrap();
    }
    assert_eq!(appends().await, before + 1);
}
