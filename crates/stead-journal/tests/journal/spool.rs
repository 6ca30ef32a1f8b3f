//! A provider's answer is not lost if it cannot be appended to the journal.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use stead_journal::{
    JournalError, LocalSpool, OpenRequest, Run, Spool, Takeover, UnrecordedAnswer, load, load_with_spool,
    open,
};
use stead_model::{Map, PhysicalId, RunResult};
use stead_state::{Outcome, Record, Spooled};
use stead_store::{Blob, Expect, Key, MemoryStore, Store, StoreError, Version};
use stead_world::World;

use crate::bench::{PausedClock, begin, create, keys, request, resource};

/// A store that refuses to write keys with certain parts.
#[derive(Default)]
struct RefusingStore {
    store: MemoryStore,
    refused: Mutex<Vec<&'static str>>,
    kind: Mutex<Option<ErrorKind>>,
}

impl RefusingStore {
    fn refuse(&self, key_parts: &[&'static str], kind: ErrorKind) {
        *self.refused.lock().unwrap() = key_parts.to_vec();
        *self.kind.lock().unwrap() = Some(kind);
    }
}

#[async_trait::async_trait]
impl Store for RefusingStore {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError> {
        self.store.get(key).await
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        let refused = self.refused.lock().unwrap().iter().any(|part| key.as_str().contains(part));
        if let Some(kind) = self.kind.lock().unwrap().filter(|_| refused) {
            return Err(StoreError::Io { action: "write", place: key.to_string(), source: kind.into() });
        }
        self.store.put(key, body, expect).await
    }

    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError> {
        self.store.list(prefix).await
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    fn describe(&self) -> String {
        "a store that refuses writes".to_owned()
    }
}

struct Scene {
    dir: tempfile::TempDir,
    refusing: Arc<RefusingStore>,
    store: Arc<dyn Store>,
}

impl Scene {
    fn new() -> Scene {
        let refusing = Arc::new(RefusingStore::default());
        Scene { dir: tempfile::tempdir().unwrap(), store: refusing.clone(), refusing }
    }

    fn world(&self) -> World {
        let mut world = World { clock: Arc::new(PausedClock(tokio::time::Instant::now())), ..World::real() };
        Arc::make_mut(&mut world.host).home = Some(self.dir.path().join("home"));
        world
    }

    fn claims(&self) -> std::path::PathBuf {
        self.dir.path().join("claims")
    }

    async fn open(&self) -> Run {
        let request = request(&self.store, &self.claims(), Takeover::IfDead);
        open(OpenRequest { world: self.world(), ..request }).await.unwrap()
    }

    /// Creates a resource whose answer cannot be appended.
    async fn lose_answer(&self, key_parts: &[&'static str], kind: ErrorKind) -> Vec<UnrecordedAnswer> {
        let run = self.open().await;
        let receipt = begin(&run, "a").await.unwrap();
        self.refusing.refuse(key_parts, kind);
        let outcome = Outcome::created(PhysicalId("it".into()), Map::new());
        let failed = run.submit(Record::End { op: receipt.op(), outcome }).durable().await.unwrap_err();
        assert!(begin(&run, "b").await.is_err(), "no operation starts after the failure");
        let JournalError::Unrecorded { answers, .. } = run.abandon(failed).await else { panic!() };
        self.refusing.refuse(&[], kind);
        answers
    }

    /// Asserts that the next run has the answer, and that no operation is in doubt.
    async fn assert_replayed(&self) {
        let local = Some(LocalSpool::new(&self.world(), &self.claims()));
        let spool = Spool { store: self.store.clone(), keys: keys(), local };
        let read = load_with_spool(&spool).await.unwrap().state;
        assert!(read.by_name(&resource("a").name).is_some(), "a reader sees the spooled answer");
        let run = self.open().await;
        assert!(run.in_doubt().is_empty());
        let id = run.base().by_name(&resource("a").name).unwrap().id.clone();
        assert_eq!(id, Some(PhysicalId("it".into())));
        drop(run); // the run dies at once: the answer must be durable already, and the spool empty
        let left: Vec<_> = self.store.list(&keys().spools()).await.unwrap();
        assert!(left.is_empty() && files(&self.claims().join("spool")).is_empty(), "{left:?}");
        assert!(files(&self.dir.path().join("home/.local/state/stead/spool")).is_empty());
        let state = load(&self.store, &keys()).await.unwrap().state;
        assert!(state.by_name(&resource("a").name).is_some());
    }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder)
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default()
}

const KINDS: [ErrorKind; 5] = [
    ErrorKind::StorageFull,
    ErrorKind::QuotaExceeded,
    ErrorKind::ReadOnlyFilesystem,
    ErrorKind::PermissionDenied,
    ErrorKind::Other,
];

#[tokio::test(start_paused = true)]
async fn answer_that_cannot_be_appended_is_spooled_in_the_store() {
    for kind in KINDS {
        let scene = Scene::new();
        let unrecorded = scene.lose_answer(&["/journal/"], kind).await;
        assert!(unrecorded[0].location.as_ref().unwrap().contains("spool/0000000001-"), "{unrecorded:?}");
        scene.assert_replayed().await;
    }
}

#[tokio::test(start_paused = true)]
async fn partial_result_is_spooled_with_its_inputs() {
    let scene = Scene::new();
    let run = scene.open().await;
    let receipt = begin(&run, "a").await.unwrap();
    scene.refusing.refuse(&["/journal/"], ErrorKind::StorageFull);
    let outcome = Outcome::created(PhysicalId("it".into()), Map::new());
    let inputs: Map = [("size".to_owned(), 3.into())].into();
    let end = run.submit(Record::End { op: receipt.op(), outcome });
    let copy = resource("a").copy();
    drop(run.submit(Record::observed(copy, Some(inputs.clone()), None)));
    let failed = end.durable().await.unwrap_err();
    run.abandon(failed).await;
    scene.refusing.refuse(&[], ErrorKind::Other);
    scene.assert_replayed().await;
    let state = load(&scene.store, &keys()).await.unwrap().state;
    assert_eq!(state.by_name(&resource("a").name).unwrap().inputs, inputs);
}

#[tokio::test(start_paused = true)]
async fn abandoned_run_returns_every_unrecorded_answer() {
    let scene = Scene::new();
    let run = scene.open().await;
    let receipts = [begin(&run, "a").await.unwrap(), begin(&run, "b").await.unwrap()];
    scene.refusing.refuse(&["/journal/"], ErrorKind::StorageFull);
    let mut failures = Vec::new();
    for receipt in receipts {
        let outcome = Outcome::created(PhysicalId("it".into()), Map::new());
        failures.push(run.submit(Record::End { op: receipt.op(), outcome }).durable().await.unwrap_err());
    }
    let JournalError::Unrecorded { answers, .. } = run.abandon(failures.remove(0)).await else { panic!() };
    let answered: Vec<u64> = answers.iter().map(|unrecorded| unrecorded.answer.op.0).collect();
    assert_eq!(answered, [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn observation_of_another_resource_is_not_part_of_the_answer() {
    let scene = Scene::new();
    let run = scene.open().await;
    create(&run, "b").await.unwrap();
    let receipt = begin(&run, "a").await.unwrap();
    scene.refusing.refuse(&["/journal/"], ErrorKind::StorageFull);
    let outcome = Outcome::created(PhysicalId("it".into()), Map::new());
    let end = run.submit(Record::End { op: receipt.op(), outcome });
    let inputs: Map = [("size".to_owned(), 3.into())].into();
    drop(run.submit(Record::observed(resource("b").copy(), Some(inputs), None)));
    let failed = end.durable().await.unwrap_err();
    let JournalError::Unrecorded { answers, .. } = run.abandon(failed).await else { panic!() };
    assert_eq!((answers.len(), &answers[0].answer.inputs), (1, &None));
}

#[tokio::test(start_paused = true)]
async fn operation_settled_by_a_read_is_not_spooled_and_stays_in_doubt() {
    let scene = Scene::new();
    let run = scene.open().await;
    let receipt = begin(&run, "a").await.unwrap();
    scene.refusing.refuse(&["/journal/"], ErrorKind::StorageFull);
    let outcome = Outcome::created(PhysicalId("it".into()), Map::new());
    let (copy, read) = (resource("a").copy(), Some(Map::new()));
    let settled = run.submit_together(vec![
        Record::End { op: receipt.op(), outcome },
        Record::observed(copy, read.clone(), read),
    ]);
    let failed = settled.durable().await.unwrap_err();
    let failed = run.abandon(failed).await;
    assert!(!matches!(failed, JournalError::Unrecorded { .. }), "the read can be repeated: {failed:?}");
    scene.refusing.refuse(&[], ErrorKind::Other);
    assert!(scene.store.list(&keys().spools()).await.unwrap().is_empty());
    assert_eq!(scene.open().await.in_doubt().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn answer_that_the_store_refuses_is_spooled_on_this_machine() {
    for kind in KINDS {
        let scene = Scene::new();
        let unrecorded = scene.lose_answer(&["/journal/", "/spool/"], kind).await;
        assert!(unrecorded[0].location.as_ref().unwrap().contains("claims/spool"), "{unrecorded:?}");
        scene.assert_replayed().await;
    }
}

#[tokio::test(start_paused = true)]
async fn answer_that_the_project_folder_refuses_is_spooled_in_the_home_folder() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.claims()).unwrap();
    std::fs::write(scene.claims().join("spool"), "in the way").unwrap();
    let unrecorded = scene.lose_answer(&["/journal/", "/spool/"], ErrorKind::StorageFull).await;
    assert!(
        unrecorded[0].location.as_ref().unwrap().contains("home/.local/state/stead/spool"),
        "{unrecorded:?}"
    );
    std::fs::remove_file(scene.claims().join("spool")).unwrap();
    scene.assert_replayed().await;
}

#[tokio::test(start_paused = true)]
async fn answer_that_cannot_be_spooled_is_returned_in_the_error() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.claims()).unwrap();
    std::fs::write(scene.claims().join("spool"), "in the way").unwrap();
    std::fs::write(scene.dir.path().join("home"), "in the way").unwrap();
    let unrecorded = scene.lose_answer(&["/journal/", "/spool/"], ErrorKind::StorageFull).await;
    assert_eq!(unrecorded[0].location, None);
    let Outcome::Created { id, .. } = &unrecorded[0].answer.outcome else { panic!() };
    assert_eq!(id.as_str(), "it");
    let run = scene.open().await;
    assert_eq!(run.in_doubt().len(), 1, "the operation stays in doubt");
}

#[tokio::test(start_paused = true)]
async fn transient_failure_of_an_append_is_retried() {
    let scene = Scene::new();
    let run = scene.open().await;
    let receipt = begin(&run, "a").await.unwrap();
    scene.refusing.refuse(&["/journal/"], ErrorKind::StorageFull);
    let outcome = Outcome::created(PhysicalId("it".into()), Map::new());
    let end = run.submit(Record::End { op: receipt.op(), outcome });
    let recover = async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        scene.refusing.refuse(&[], ErrorKind::Other);
    };
    let (end, ()) = tokio::join!(end.durable(), recover);
    end.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn spooled_answer_of_another_operation_is_ignored() {
    let scene = Scene::new();
    let unrecorded = scene.lose_answer(&["/journal/"], ErrorKind::Other).await;
    let key = scene.store.list(&keys().spools()).await.unwrap().remove(0);
    scene.store.delete(&key).await.unwrap();
    let own = unrecorded[0].answer.clone();
    let others = [
        Spooled { stack: stead_model::StackId("another".into()), ..own.clone() },
        Spooled { key: "another".into(), ..own.clone() },
        Spooled { epoch: stead_model::Epoch(9), ..own.clone() },
        Spooled { op: stead_model::OpId(9), ..own.clone() },
    ];
    for (at, other) in others.into_iter().enumerate() {
        let key = keys().spools().child(&format!("0000000001-{at:010}"));
        scene.store.put(&key, Bytes::from(other.encode()), Expect::Absent).await.unwrap();
    }
    let torn = Bytes::from(own.encode()).slice(..20);
    scene.store.put(&keys().spools().child("torn"), torn, Expect::Absent).await.unwrap();
    let run = scene.open().await;
    assert_eq!(run.in_doubt().len(), 1);
    assert_eq!(scene.store.list(&keys().spools()).await.unwrap().len(), 5, "ignored answers are not removed");
}

#[tokio::test(start_paused = true)]
async fn fenced_run_writes_nothing_and_returns_its_answer() {
    let scene = Scene::new();
    let old = scene.open().await;
    let receipt = begin(&old, "a").await.unwrap();
    let request = request(&scene.store, &scene.claims(), Takeover::Always);
    let _new = open(OpenRequest { world: scene.world(), ..request }).await.unwrap();
    let before = scene.store.list(&Key::root()).await.unwrap();
    let outcome = Outcome::created(PhysicalId("it".into()), Map::new());
    match old.submit(Record::End { op: receipt.op(), outcome }).durable().await {
        Err(JournalError::Unrecorded { cause, answers }) => {
            assert!(matches!(*cause, JournalError::Fenced));
            assert_eq!(answers[0].location, None);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(scene.store.list(&Key::root()).await.unwrap(), before);
}
