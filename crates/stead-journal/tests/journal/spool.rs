//! A provider's answer survives a journal that does not take it.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use stead_journal::{JournalError, Kept, Machine, Opening, Run, Spool, Takeover, load, load_with, open};
use stead_model::{Map, PhysicalId, RunResult};
use stead_state::{Outcome, Record, Spooled};
use stead_store::{Expect, Found, Key, MemoryStore, Store, StoreError, Version};
use stead_world::World;

use crate::bench::{PausedClock, begin, create, keys, opening, resource};

/// A store that does not take what has one of these words in its key.
#[derive(Default)]
struct Choosy {
    store: MemoryStore,
    refused: Mutex<Vec<&'static str>>,
    kind: Mutex<Option<ErrorKind>>,
}

impl Choosy {
    fn refuse(&self, words: &[&'static str], kind: ErrorKind) {
        *self.refused.lock().unwrap() = words.to_vec();
        *self.kind.lock().unwrap() = Some(kind);
    }
}

#[async_trait::async_trait]
impl Store for Choosy {
    async fn get(&self, key: &Key) -> Result<Option<Found>, StoreError> {
        self.store.get(key).await
    }

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError> {
        let refused = self.refused.lock().unwrap().iter().any(|word| key.as_str().contains(word));
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
        "a choosy store".to_owned()
    }
}

struct Scene {
    dir: tempfile::TempDir,
    choosy: Arc<Choosy>,
    store: Arc<dyn Store>,
}

impl Scene {
    fn new() -> Scene {
        let choosy = Arc::new(Choosy::default());
        Scene { dir: tempfile::tempdir().unwrap(), store: choosy.clone(), choosy }
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
        let opening = opening(&self.store, &self.claims(), Takeover::IfDead);
        open(Opening { world: self.world(), ..opening }).await.unwrap()
    }

    /// A provider answers, and the journal does not take it.
    async fn fail(&self, words: &[&'static str], kind: ErrorKind) -> Vec<Kept> {
        let run = self.open().await;
        let receipt = begin(&run, "a").await.unwrap();
        self.choosy.refuse(words, kind);
        let outcome = Outcome::Created { id: PhysicalId("it".into()), outputs: Map::new() };
        let failed = run.submit(Record::End { op: receipt.op(), outcome }).durable().await.unwrap_err();
        assert!(begin(&run, "b").await.is_err(), "nothing starts after it");
        let JournalError::Unrecorded { answers, .. } = run.abandon(failed).await else { panic!() };
        self.choosy.refuse(&[], kind);
        answers
    }

    /// The next run has the answer, and nothing is in doubt.
    async fn taken_in(&self) {
        let machine = Some(Machine::new(&self.world(), &self.claims()));
        let spool = Spool { store: self.store.clone(), keys: keys(), machine };
        let seen = load_with(&spool).await.unwrap().state;
        assert!(seen.by_name(&resource("a").name).is_some(), "who only looks sees it already");
        let run = self.open().await;
        assert!(run.in_doubt().is_empty());
        let id = run.base().by_name(&resource("a").name).unwrap().id.clone();
        assert_eq!(id, Some(PhysicalId("it".into())));
        drop(run); // dies at once: the answer must be durable by now, and the spool empty
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
async fn an_answer_that_the_journal_does_not_take_is_kept_beside_it() {
    for kind in KINDS {
        let scene = Scene::new();
        let kept = scene.fail(&["/journal/"], kind).await;
        assert!(kept[0].place.as_ref().unwrap().contains("spool/0000000001-"), "{kept:?}");
        scene.taken_in().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_done_in_part_is_kept_as_it_is() {
    let scene = Scene::new();
    let run = scene.open().await;
    let receipt = begin(&run, "a").await.unwrap();
    scene.choosy.refuse(&["/journal/"], ErrorKind::StorageFull);
    let outcome = Outcome::Created { id: PhysicalId("it".into()), outputs: Map::new() };
    let inputs: Map = [("size".to_owned(), 3.into())].into();
    let end = run.submit(Record::End { op: receipt.op(), outcome });
    let copy = resource("a").copy();
    drop(run.submit(Record::Observed { copy, inputs: Some(inputs.clone()), outputs: None }));
    let failed = end.durable().await.unwrap_err();
    run.abandon(failed).await;
    scene.choosy.refuse(&[], ErrorKind::Other);
    scene.taken_in().await;
    let state = load(&scene.store, &keys()).await.unwrap().state;
    assert_eq!(state.by_name(&resource("a").name).unwrap().inputs, inputs);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_left_tells_every_answer_and_not_only_the_first() {
    let scene = Scene::new();
    let run = scene.open().await;
    let receipts = [begin(&run, "a").await.unwrap(), begin(&run, "b").await.unwrap()];
    scene.choosy.refuse(&["/journal/"], ErrorKind::StorageFull);
    let mut failures = Vec::new();
    for receipt in receipts {
        let outcome = Outcome::Created { id: PhysicalId("it".into()), outputs: Map::new() };
        failures.push(run.submit(Record::End { op: receipt.op(), outcome }).durable().await.unwrap_err());
    }
    let JournalError::Unrecorded { answers, .. } = run.abandon(failures.remove(0)).await else { panic!() };
    let answered: Vec<u64> = answers.iter().map(|kept| kept.answer.op.0).collect();
    assert_eq!(answered, [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn what_is_seen_of_another_is_no_part_of_an_answer() {
    let scene = Scene::new();
    let run = scene.open().await;
    create(&run, "b").await.unwrap();
    let receipt = begin(&run, "a").await.unwrap();
    scene.choosy.refuse(&["/journal/"], ErrorKind::StorageFull);
    let outcome = Outcome::Created { id: PhysicalId("it".into()), outputs: Map::new() };
    let end = run.submit(Record::End { op: receipt.op(), outcome });
    let inputs: Map = [("size".to_owned(), 3.into())].into();
    drop(run.submit(Record::Observed { copy: resource("b").copy(), inputs: Some(inputs), outputs: None }));
    let failed = end.durable().await.unwrap_err();
    let JournalError::Unrecorded { answers, .. } = run.abandon(failed).await else { panic!() };
    assert_eq!((answers.len(), &answers[0].answer.inputs), (1, &None));
}

#[tokio::test(start_paused = true)]
async fn what_a_look_has_settled_is_no_answer_and_stays_in_doubt() {
    let scene = Scene::new();
    let run = scene.open().await;
    let receipt = begin(&run, "a").await.unwrap();
    scene.choosy.refuse(&["/journal/"], ErrorKind::StorageFull);
    let outcome = Outcome::Created { id: PhysicalId("it".into()), outputs: Map::new() };
    let (copy, seen) = (resource("a").copy(), Some(Map::new()));
    let settled = run.submit_together(vec![
        Record::End { op: receipt.op(), outcome },
        Record::Observed { copy, inputs: seen.clone(), outputs: seen },
    ]);
    let failed = settled.durable().await.unwrap_err();
    let failed = run.abandon(failed).await;
    assert!(!matches!(failed, JournalError::Unrecorded { .. }), "anybody can look again: {failed:?}");
    scene.choosy.refuse(&[], ErrorKind::Other);
    assert!(scene.store.list(&keys().spools()).await.unwrap().is_empty());
    assert_eq!(scene.open().await.in_doubt().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_the_store_does_not_take_is_kept_on_this_machine() {
    for kind in KINDS {
        let scene = Scene::new();
        let kept = scene.fail(&["/journal/", "/spool/"], kind).await;
        assert!(kept[0].place.as_ref().unwrap().contains("claims/spool"), "{kept:?}");
        scene.taken_in().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_the_project_does_not_take_is_kept_with_the_users_files() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.claims()).unwrap();
    std::fs::write(scene.claims().join("spool"), "in the way").unwrap();
    let kept = scene.fail(&["/journal/", "/spool/"], ErrorKind::StorageFull).await;
    assert!(kept[0].place.as_ref().unwrap().contains("home/.local/state/stead/spool"), "{kept:?}");
    std::fs::remove_file(scene.claims().join("spool")).unwrap();
    scene.taken_in().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_is_told_whole() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.claims()).unwrap();
    std::fs::write(scene.claims().join("spool"), "in the way").unwrap();
    std::fs::write(scene.dir.path().join("home"), "in the way").unwrap();
    let kept = scene.fail(&["/journal/", "/spool/"], ErrorKind::StorageFull).await;
    assert_eq!(kept[0].place, None);
    let Outcome::Created { id, .. } = &kept[0].answer.outcome else { panic!() };
    assert_eq!(id.as_str(), "it");
    let run = scene.open().await;
    assert_eq!(run.in_doubt().len(), 1, "it stays a question");
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_of_the_journal_costs_nothing() {
    let scene = Scene::new();
    let run = scene.open().await;
    let receipt = begin(&run, "a").await.unwrap();
    scene.choosy.refuse(&["/journal/"], ErrorKind::StorageFull);
    let outcome = Outcome::Created { id: PhysicalId("it".into()), outputs: Map::new() };
    let end = run.submit(Record::End { op: receipt.op(), outcome });
    let mend = async {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        scene.choosy.refuse(&[], ErrorKind::Other);
    };
    let (end, ()) = tokio::join!(end.durable(), mend);
    end.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_belong_is_not_believed() {
    let scene = Scene::new();
    let kept = scene.fail(&["/journal/"], ErrorKind::Other).await;
    let key = scene.store.list(&keys().spools()).await.unwrap().remove(0);
    scene.store.delete(&key).await.unwrap();
    let mine = kept[0].answer.clone();
    let others = [
        Spooled { stack: stead_model::StackId("another".into()), ..mine.clone() },
        Spooled { key: "another".into(), ..mine.clone() },
        Spooled { epoch: stead_model::Epoch(9), ..mine.clone() },
        Spooled { op: stead_model::OpId(9), ..mine.clone() },
    ];
    for (at, other) in others.into_iter().enumerate() {
        let key = keys().spools().child(&format!("0000000001-{at:010}"));
        scene.store.put(&key, Bytes::from(other.encode()), Expect::Absent).await.unwrap();
    }
    let torn = Bytes::from(mine.encode()).slice(..20);
    scene.store.put(&keys().spools().child("torn"), torn, Expect::Absent).await.unwrap();
    let run = scene.open().await;
    assert_eq!(run.in_doubt().len(), 1);
    assert_eq!(scene.store.list(&keys().spools()).await.unwrap().len(), 5, "nothing foreign is removed");
}

#[tokio::test(start_paused = true)]
async fn who_was_fenced_leaves_the_store_alone_and_tells_the_answer() {
    let scene = Scene::new();
    let old = scene.open().await;
    let receipt = begin(&old, "a").await.unwrap();
    let opening = opening(&scene.store, &scene.claims(), Takeover::Always);
    let _new = open(Opening { world: scene.world(), ..opening }).await.unwrap();
    let before = scene.store.list(&Key::root()).await.unwrap();
    let outcome = Outcome::Created { id: PhysicalId("it".into()), outputs: Map::new() };
    match old.submit(Record::End { op: receipt.op(), outcome }).durable().await {
        Err(JournalError::Unrecorded { cause, answers }) => {
            assert!(matches!(*cause, JournalError::Fenced));
            assert_eq!(answers[0].place, None);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(scene.store.list(&Key::root()).await.unwrap(), before);
}
