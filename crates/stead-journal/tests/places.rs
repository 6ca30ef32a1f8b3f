//! Stacks that begin, end and get another name: who held them before can never write again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use stead_journal::{
    JournalError, Opening, Run, StackKeys, Takeover, create, exists, load, open, purge, rename,
};
use stead_model::{Environment, Map, RunResult, Value};
use stead_state::{Absent, Record};
use stead_store::{MemoryStore, Store};
use stead_world::World;

fn keys(environment: &str) -> StackKeys {
    StackKeys::new("shop", environment, "local")
}

async fn opened(store: &Arc<dyn Store>, environment: &str, claims: &Path) -> Result<Run, JournalError> {
    open(Opening {
        store: store.clone(),
        keys: keys(environment),
        world: World::real(),
        command: "up".into(),
        claims: claims.to_owned(),
        planned_on: None,
        takeover: Takeover::IfDead,
    })
    .await
}

/// A write that only the holder of the stack can do.
async fn write(run: &Run) -> Result<(), JournalError> {
    let outputs: Map = [("n".to_owned(), Value::from(1))].into();
    run.submit(Record::Outputs { outputs }).durable().await
}

/// A run whose process is taken to be dead: its claim is gone, and it wakes up later all the same.
async fn asleep(store: &Arc<dyn Store>, claims: &Path) -> Run {
    let run = opened(store, "dev", claims).await.unwrap();
    write(&run).await.unwrap();
    for claim in std::fs::read_dir(claims).unwrap() {
        let path = claim.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "").unwrap();
    }
    run
}

fn setup() -> (tempfile::TempDir, Arc<dyn Store>) {
    (tempfile::tempdir().unwrap(), Arc::new(MemoryStore::default()))
}

#[tokio::test]
async fn a_writer_that_slept_through_a_removal_is_fenced_even_after_a_purge() {
    let (dir, store) = setup();
    let old = asleep(&store, dir.path()).await;
    let run = opened(&store, "dev", dir.path()).await.unwrap();
    run.leave(Absent::Removed).await.unwrap();
    assert!(!exists(&store, &keys("dev")).await.unwrap());
    assert!(purge(&store, &keys("dev")).await.unwrap() > 0);
    create(&store, &keys("dev"), &World::real()).await.unwrap();
    assert!(matches!(write(&old).await, Err(JournalError::Fenced)));
    let now = load(&store, &keys("dev")).await.unwrap();
    assert!(now.head.is_some() && now.state.outputs().is_empty());
}

#[tokio::test]
async fn a_writer_that_slept_through_a_rename_is_fenced() {
    let (dir, store) = setup();
    let old = asleep(&store, dir.path()).await;
    let stack = old.stack().clone();
    let run = opened(&store, "dev", dir.path()).await.unwrap();
    rename(run, &Environment::new("prod")).await.unwrap();
    assert!(matches!(write(&old).await, Err(JournalError::Fenced)));
    assert!(matches!(old.close(RunResult::Succeeded).await, Err(JournalError::Fenced)));
    let now = load(&store, &keys("prod")).await.unwrap();
    assert_eq!(now.head.unwrap().stack, stack);
    assert_eq!(now.state.outputs().len(), 1);
    assert!(matches!(load(&store, &keys("dev")).await, Err(JournalError::Renamed { to }) if to == "prod"));
    assert!(matches!(opened(&store, "dev", dir.path()).await, Err(JournalError::Renamed { .. })));
    // A new stack under the old name is another one, and the renamed one stays what it is.
    assert_ne!(create(&store, &keys("dev"), &World::real()).await.unwrap(), stack);
    assert!(exists(&store, &keys("prod")).await.unwrap() && exists(&store, &keys("dev")).await.unwrap());
}

#[tokio::test]
async fn a_renamer_that_was_overtaken_changes_nothing() {
    let (dir, store) = setup();
    let old = asleep(&store, dir.path()).await;
    let newer = opened(&store, "dev", dir.path()).await.unwrap();
    assert!(matches!(rename(old, &Environment::new("prod")).await, Err(JournalError::Fenced)));
    assert!(!exists(&store, &keys("prod")).await.unwrap() && exists(&store, &keys("dev")).await.unwrap());
    newer.close(RunResult::Succeeded).await.unwrap();
    // What the failed attempt left is in nobody's way.
    let run = opened(&store, "dev", dir.path()).await.unwrap();
    rename(run, &Environment::new("prod")).await.unwrap();
    assert!(exists(&store, &keys("prod")).await.unwrap());
}

#[tokio::test]
async fn a_stack_is_made_once_and_a_place_with_a_history_is_not_taken() {
    let (dir, store) = setup();
    create(&store, &keys("dev"), &World::real()).await.unwrap();
    let again = create(&store, &keys("dev"), &World::real()).await;
    assert!(matches!(again, Err(JournalError::Exists { .. })));
    let run = opened(&store, "qa", dir.path()).await.unwrap();
    run.leave(Absent::Removed).await.unwrap();
    for (place, refused) in [("dev", true), ("qa", true), ("new", false)] {
        let run = opened(&store, "old", dir.path()).await.unwrap();
        let renamed = rename(run, &Environment::new(place)).await;
        assert_eq!(renamed.is_err(), refused, "{place}");
    }
}
