//! Stacks that end or move, and what their places are like afterwards, also when the process dies on the way.

use std::path::Path;
use std::sync::Arc;

use stead_journal::{
    JournalError, Opening, Run, StackKeys, Takeover, create, exists, load, load_run, open, purge, read_head,
    rename,
};
use stead_model::{Environment, Epoch, RunId, RunResult};
use stead_state::Absent;
use stead_store::{Key, Store};
use stead_world::World;

use crate::bench::{self, dying, keys, opening, ran, resource, setup};

fn place(environment: &str) -> StackKeys {
    StackKeys::new("shop", environment, "local")
}

async fn held(store: &Arc<dyn Store>, claims: &Path, environment: &str) -> Run {
    let opening = opening(store, claims, Takeover::IfDead);
    open(Opening { keys: place(environment), ..opening }).await.unwrap()
}

/// A rename of `dev` whose process dies at a point.
async fn dies_renaming(store: &Arc<dyn Store>, claims: &Path, point: &'static str) {
    let run = open(dying(store, claims, point)).await.unwrap();
    let renaming = tokio::spawn(async move { rename(run, &Environment::new("prod")).await });
    assert!(renaming.await.is_err(), "it died");
}

async fn below(store: &Arc<dyn Store>, key: &Key) -> Vec<String> {
    store.list(key).await.unwrap().iter().filter_map(|key| key.segments().last()).collect()
}

#[tokio::test]
async fn a_removed_stack_leaves_a_head_that_refers_to_nothing() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    let run = held(&store, dir.path(), "dev").await;
    let stack = run.stack().clone();
    run.leave(Absent::Removed).await.unwrap();
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!((head.owner, head.snapshot, head.absent), (None, None, Some(Absent::Removed)));
    assert_eq!((head.epoch, head.base), (Epoch(2), Epoch(3)));
    // The next stack there is another one, and goes on counting.
    let next = create(&store, &keys(), &World::real()).await.unwrap();
    assert_ne!(next, stack);
    let (head, _) = read_head(&store, &keys()).await.unwrap().unwrap();
    assert_eq!((head.stack, head.epoch, head.base), (next, Epoch(2), Epoch(3)));
}

#[tokio::test]
async fn a_purge_takes_the_past_of_a_stack_that_is_gone_and_nothing_else() {
    let (dir, store) = setup();
    assert_eq!(purge(&store, &keys()).await.unwrap(), 0, "nothing was there");
    ran(&store, dir.path(), &["a"]).await;
    let before = store.list(&Key::root()).await.unwrap();
    assert!(
        matches!(purge(&store, &keys()).await, Err(JournalError::Exists { environment }) if environment == "dev")
    );
    assert_eq!(store.list(&Key::root()).await.unwrap(), before);
    held(&store, dir.path(), "dev").await.leave(Absent::Removed).await.unwrap();
    assert_eq!(purge(&store, &keys()).await.unwrap(), 4, "two runs and their snapshots");
    assert_eq!(store.list(&Key::root()).await.unwrap(), [keys().head()]);
}

#[tokio::test]
async fn a_stack_arrives_in_the_moment_in_which_the_old_one_leaves() {
    for (point, arrived) in
        [("rename.after_copy", false), ("rename.after_arriving", false), ("rename.after_leave", true)]
    {
        let (dir, store) = setup();
        ran(&store, dir.path(), &["a"]).await;
        dies_renaming(&store, dir.path(), point).await;
        assert_eq!(exists(&store, &place("prod")).await.unwrap(), arrived, "{point}");
        assert_eq!(exists(&store, &place("dev")).await.unwrap(), !arrived, "{point}");
        if !arrived {
            assert_eq!(bench::recorded(&store).await, ["a"]);
            continue;
        }
        let there = load(&store, &place("prod")).await.unwrap();
        assert_eq!(there.head.unwrap().absent, None, "whoever reads it sees a stack like any other");
        assert_eq!(there.state.len(), 1);
        held(&store, dir.path(), "prod").await.close(RunResult::Succeeded).await.unwrap();
        let (head, _) = read_head(&store, &place("prod")).await.unwrap().unwrap();
        assert_eq!(head.absent, None);
    }
}

#[tokio::test]
async fn a_renamed_stack_takes_its_past_along() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    ran(&store, dir.path(), &["b"]).await;
    rename(held(&store, dir.path(), "dev").await, &Environment::new("prod")).await.unwrap();
    let first = load_run(&store, &place("prod"), &RunId("run-1".into())).await.unwrap().unwrap();
    assert_eq!(first.resources.len(), 1);
    assert_eq!(below(&store, &place("prod").histories()).await, ["run-1", "run-2", "run-3"]);
    assert!(below(&store, &place("dev").histories()).await.is_empty());
}

#[tokio::test]
async fn what_an_attempt_left_is_not_the_past_of_the_next_to_arrive() {
    let (dir, store) = setup();
    ran(&store, dir.path(), &["a"]).await;
    ran(&store, dir.path(), &["b"]).await;
    dies_renaming(&store, dir.path(), "rename.after_arriving").await;
    let run = held(&store, dir.path(), "qa").await;
    bench::create(&run, "c").await.unwrap();
    run.close(RunResult::Succeeded).await.unwrap();
    rename(held(&store, dir.path(), "qa").await, &Environment::new("prod")).await.unwrap();
    assert_eq!(below(&store, &place("prod").histories()).await, ["run-1", "run-2"]);
    let first = load_run(&store, &place("prod"), &RunId("run-1".into())).await.unwrap().unwrap();
    assert_eq!(first.resources[0].name.short(), resource("c").name.short());
}

#[tokio::test]
async fn a_new_stack_in_an_old_place_does_not_bring_back_one_that_moved_on() {
    let (dir, store) = setup();
    rename(held(&store, dir.path(), "dev").await, &Environment::new("prod")).await.unwrap();
    rename(held(&store, dir.path(), "prod").await, &Environment::new("live")).await.unwrap();
    create(&store, &keys(), &World::real()).await.unwrap();
    assert!(!exists(&store, &place("prod")).await.unwrap());
    let prod = load(&store, &place("prod")).await;
    assert!(matches!(prod, Err(JournalError::Renamed { to }) if to == "live"));
}
