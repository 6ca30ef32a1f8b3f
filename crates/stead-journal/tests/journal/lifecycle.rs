//! Removing, purging and renaming stacks, also when the process dies half-way.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{
    JournalError, OpenRequest, Run, StackKeys, Takeover, create, exists, load, load_run, open, purge,
    read_head, rename,
};
use stead_model::{Environment, Epoch, RunId, RunResult};
use stead_state::Absent;
use stead_store::{Key, Store};
use stead_world::World;

use crate::bench::{self, dying, keys, ran, request, resource, setup};

fn keys_of(environment: &str) -> StackKeys {
    StackKeys::new("shop", environment, "local")
}

async fn open_stack(store: &Arc<dyn Store>, claims: &Path, environment: &str) -> Run {
    let request = request(store, claims, Takeover::IfDead);
    open(OpenRequest { keys: keys_of(environment), ..request }).await.unwrap()
}

/// Renames `dev` in a process that dies at a crash point.
async fn die_renaming(store: &Arc<dyn Store>, claims: &Path, point: &'static str) {
    let run = open(dying(store, claims, point)).await.unwrap();
    let renaming = tokio::spawn(async move { rename(run, &Environment::new("prod")).await });
    assert!(renaming.await.is_err(), "the run must die at the crash point");
}

async fn below(store: &Arc<dyn Store>, key: &Key) -> Vec<String> {
    store.list(key).await.unwrap().iter().filter_map(|key| key.segments().last()).collect()
}

#[tokio::test]
async fn head_of_a_removed_stack_refers_to_no_snapshot() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let run = open_stack(&store, dir.path(), "dev").await;
    let stack = run.stack().clone();
    run.retire_stack(Absent::Removed).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!((head.owner, head.snapshot, head.absent), (None, None, Some(Absent::Removed)));
    assert_eq!((head.epoch, head.base), (Epoch(2), Epoch(3)));
    // A new stack under the same keys has another id and continues the epochs.
    let next = create(&store, &keys(), &World::real()).await.unwrap();
    assert_ne!(next, stack);
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!((head.stack, head.epoch, head.base), (next, Epoch(2), Epoch(3)));
}

#[tokio::test]
async fn purge_deletes_only_the_history_and_snapshots_of_a_removed_stack() {
    let (dir, store) = setup();
    assert_eq!(purge(&store, &keys()).await.unwrap(), 0, "there was no stack");
    ran(&store, dir.path(), &["a"]).await;
    let before = store.list(&Key::root()).await.unwrap();
    assert!(
        matches!(purge(&store, &keys()).await, Err(JournalError::Exists { environment }) if environment == "dev")
    );
    assert_eq!(store.list(&Key::root()).await.unwrap(), before);
    open_stack(&store, dir.path(), "dev").await.retire_stack(Absent::Removed).await.unwrap();
    assert_eq!(purge(&store, &keys()).await.unwrap(), 4, "two runs and their snapshots");
    assert_eq!(store.list(&Key::root()).await.unwrap(), [keys().head()]);
}

#[tokio::test]
async fn renamed_stack_exists_exactly_once_after_a_crash_at_any_point() {
    for (point, arrived) in
        [("rename.after_copy", false), ("rename.after_arriving", false), ("rename.after_leave", true)]
    {
        let (dir, store) = setup();
        ran(&store, dir.path(), &["a"]).await;
        die_renaming(&store, dir.path(), point).await;
        assert_eq!(exists(&store, &keys_of("prod")).await.unwrap(), arrived, "{point}");
        assert_eq!(exists(&store, &keys_of("dev")).await.unwrap(), !arrived, "{point}");
        if !arrived {
            assert_eq!(bench::recorded(&store).await, ["a"]);
            continue;
        }
        let renamed = load(&store, &keys_of("prod")).await.unwrap();
        assert_eq!(renamed.head.unwrap().absent, None, "a reader sees an ordinary stack");
        assert_eq!(renamed.state.len(), 1);
        open_stack(&store, dir.path(), "prod").await.close(RunResult::Succeeded).await.unwrap();
        let (head, _) = read_head(&store, &keys_of("prod")).await.unwrap().unwrap();
        assert_eq!(head.absent, None);
    }
}

#[tokio::test]
async fn renamed_stack_keeps_its_history() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    ran(&store, dir.path(), &["b"]).await;
    rename(open_stack(&store, dir.path(), "dev").await, &Environment::new("prod")).await.unwrap();
    let first = load_run(&store, &keys_of("prod"), &RunId("run-1".into())).await.unwrap().unwrap();
    assert_eq!(first.resources.len(), 1);
    assert_eq!(below(&store, &keys_of("prod").histories()).await, ["run-1", "run-2", "run-3"]);
    assert!(below(&store, &keys_of("dev").histories()).await.is_empty());
}

#[tokio::test]
async fn history_left_by_an_unfinished_rename_is_not_mixed_with_that_of_the_next_one() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    ran(&store, dir.path(), &["b"]).await;
    die_renaming(&store, dir.path(), "rename.after_arriving").await;
    let run = open_stack(&store, dir.path(), "qa").await;
    bench::create(&run, "c").await.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
    rename(open_stack(&store, dir.path(), "qa").await, &Environment::new("prod")).await.unwrap();
    assert_eq!(below(&store, &keys_of("prod").histories()).await, ["run-1", "run-2"]);
    let first = load_run(&store, &keys_of("prod"), &RunId("run-1".into())).await.unwrap().unwrap();
    assert_eq!(first.resources[0].name.short(), resource("c").name.short());
}

#[tokio::test]
async fn new_stack_under_an_old_name_does_not_revive_a_renamed_one() {
    let (dir, store) = setup();
    rename(open_stack(&store, dir.path(), "dev").await, &Environment::new("prod")).await.unwrap();
    rename(open_stack(&store, dir.path(), "prod").await, &Environment::new("live")).await.unwrap();
    create(&store, &keys(), &World::real()).await.unwrap();
    assert!(!exists(&store, &keys_of("prod")).await.unwrap());
    let prod = load(&store, &keys_of("prod")).await;
    assert!(matches!(prod, Err(JournalError::Renamed { to }) if to == "live"));
}
