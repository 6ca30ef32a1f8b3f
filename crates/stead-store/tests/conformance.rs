//! Every store passes the conformance suite.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use stead_store::{Expect, FileStore, Key, MemoryStore, Store as _, conformance};
use stead_world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_store_passes_the_conformance_suite() {
    conformance::all(Arc::new(MemoryStore::default())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_store_passes_the_conformance_suite_in_a_path_with_spaces_and_unicode() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a folder").join("ünïcode");
    conformance::all(Arc::new(FileStore::new(World::real(), root))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_workers_with_a_thousand_increments_each_lose_none() {
    let dir = tempfile::tempdir().unwrap();
    let files = FileStore::new(World::real(), dir.path().to_owned());
    conformance::racing_increments_lose_nothing(Arc::new(MemoryStore::default()), 8, 1_000).await;
    conformance::racing_increments_lose_nothing(Arc::new(files), 8, 1_000).await;
}

/// Variable that tells a child process of this test binary where the counter is.
const FOLDER: &str = "STEAD_TEST_COUNTER";

const EACH: u64 = 300;

/// Two real processes, each with a store of its own on the same folder.
#[tokio::test]
async fn two_processes_on_one_folder_lose_no_increment() {
    let key = Key::root().child("counter");
    if let Some(folder) = std::env::var_os(FOLDER) {
        let store = FileStore::new(World::real(), folder.into());
        for _ in 0..EACH {
            conformance::increment(&store, &key).await;
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("a folder").join("ünïcode 状態");
    let store = FileStore::new(World::real(), folder.clone());
    store.put(&key, "0".into(), Expect::Absent).await.unwrap();
    let this = std::env::current_exe().unwrap();
    let start = || {
        let mut command = std::process::Command::new(&this);
        command.args(["--exact", "two_processes_on_one_folder_lose_no_increment"]).env(FOLDER, &folder);
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let mut children = [start(), start()];
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let counted = store.get(&key).await.unwrap().unwrap().body;
    assert_eq!(counted, (2 * EACH).to_string());
    let left: Vec<String> = names(&folder);
    assert!(left.iter().all(|name| !name.starts_with(".tmp-")), "{left:?}");
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test]
async fn temporary_files_of_dead_writers_are_deleted_and_those_of_living_ones_stay() {
    let dir = tempfile::tempdir().unwrap();
    let key = |name: &str| Key::root().child("s").child(name);
    let living = FileStore::new(World::real(), dir.path().to_owned());
    living.put(&key("a"), "1".into(), Expect::Absent).await.unwrap();
    let writers = dir.path().join(".writers");
    let alive = names(&writers).remove(0);
    // A dead writer: its file exists and is not locked.
    std::fs::write(writers.join("dead"), "").unwrap();
    let folder = dir.path().join("s");
    for name in [".tmp-dead.1".to_owned(), format!(".tmp-{alive}.1"), ".tmp-unowned".to_owned()] {
        std::fs::write(folder.join(name), "torn").unwrap();
    }
    let next = FileStore::new(World::real(), dir.path().to_owned());
    next.put(&key("b"), "1".into(), Expect::Absent).await.unwrap();
    let mut left = names(&folder);
    left.sort();
    let mut expected = vec![".tmp-unowned".to_owned(), format!(".tmp-{alive}.1"), "a".into(), "b".into()];
    expected.sort();
    assert_eq!(left, expected);
    assert!(!writers.join("dead").exists());
    drop((living, next));
    assert!(names(&writers).is_empty(), "a dropped store removes its own file");
}

#[tokio::test]
async fn leftover_temporary_file_is_not_listed_as_a_key() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("s")).unwrap();
    std::fs::write(dir.path().join("s").join(".tmp-1"), "torn").unwrap();
    let store = FileStore::new(World::real(), dir.path().to_owned());
    assert!(store.list(&Key::root()).await.unwrap().is_empty());
}
