//! After a stack was removed or renamed, its earlier runs can never write again.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{
    JournalError, OpenRequest, Run, StackKeys, Takeover, create, exists, load, open, purge, rename,
};
use stead_model::{Environment, Map, RunResult, Value};
use stead_state::{Absent, Record};
use stead_store::{MemoryStore, Store};
use stead_world::World;

fn keys(environment: &str) -> StackKeys {
    StackKeys::new("shop", environment, "local")
}

async fn opened(store: &Arc<dyn Store>, environment: &str, claims: &Path) -> Result<Run, JournalError> {
    open(OpenRequest {
        store: store.clone(),
        keys: keys(environment),
        world: World::real(),
        command: "up".into(),
        claims: claims.to_owned(),
        planned_on: None,
        takeover: Takeover::IfDead,
        crypter: Arc::new(stead_model::NoKey),
    })
    .await
}

/// Writes a record, which only the current holder of the stack can do.
async fn write(run: &Run) -> Result<(), JournalError> {
    let outputs: Map = [("n".to_owned(), Value::from(1))].into();
    run.submit(Record::Outputs { outputs }).durable().await
}

/// Returns a run that counts as dead because its claim is unlocked, but continues later.
async fn suspended_run(store: &Arc<dyn Store>, claims: &Path) -> Run {
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
async fn run_suspended_during_a_removal_is_fenced_even_after_a_purge() {
    let (dir, store) = setup();
    let old = suspended_run(&store, dir.path()).await;
    let run = opened(&store, "dev", dir.path()).await.unwrap();
    run.retire_stack(Absent::Removed).await.unwrap();
    assert!(!exists(&store, &keys("dev")).await.unwrap());
    assert!(purge(&store, &keys("dev")).await.unwrap() > 0);
    create(&store, &keys("dev"), &World::real()).await.unwrap();
    assert!(matches!(write(&old).await, Err(JournalError::Fenced)));
    let now = load(&store, &keys("dev")).await.unwrap();
    assert!(now.head.is_some() && now.state.outputs().is_empty());
}

#[tokio::test]
async fn run_suspended_during_a_rename_is_fenced() {
    let (dir, store) = setup();
    let old = suspended_run(&store, dir.path()).await;
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
    // A new stack under the old name has another id, and the renamed one is unchanged.
    assert_ne!(create(&store, &keys("dev"), &World::real()).await.unwrap(), stack);
    assert!(exists(&store, &keys("prod")).await.unwrap() && exists(&store, &keys("dev")).await.unwrap());
}

#[tokio::test]
async fn rename_by_a_fenced_run_changes_nothing() {
    let (dir, store) = setup();
    let old = suspended_run(&store, dir.path()).await;
    let newer = opened(&store, "dev", dir.path()).await.unwrap();
    assert!(matches!(rename(old, &Environment::new("prod")).await, Err(JournalError::Fenced)));
    assert!(!exists(&store, &keys("prod")).await.unwrap() && exists(&store, &keys("dev")).await.unwrap());
    newer.close(RunResult::Succeeded).await.unwrap();
    // The objects that the failed attempt left do not prevent another rename.
    let run = opened(&store, "dev", dir.path()).await.unwrap();
    rename(run, &Environment::new("prod")).await.unwrap();
    assert!(exists(&store, &keys("prod")).await.unwrap());
}

#[tokio::test]
async fn stack_is_created_once_and_never_renamed_over_a_history() {
    let (dir, store) = setup();
    create(&store, &keys("dev"), &World::real()).await.unwrap();
    let again = create(&store, &keys("dev"), &World::real()).await;
    assert!(matches!(again, Err(JournalError::Exists { .. })));
    let run = opened(&store, "qa", dir.path()).await.unwrap();
    run.retire_stack(Absent::Removed).await.unwrap();
    for (environment, refused) in [("dev", true), ("qa", true), ("new", false)] {
        let run = opened(&store, "old", dir.path()).await.unwrap();
        let renamed = rename(run, &Environment::new(environment)).await;
        assert_eq!(renamed.is_err(), refused, "{environment}");
    }
}
