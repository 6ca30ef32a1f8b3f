//! Every store keeps every law.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use stead_store::{FileStore, Key, MemoryStore, Store as _, conformance};
use stead_world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_keeps_the_laws() {
    conformance::all(Arc::new(MemoryStore::default())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_keep_the_laws_in_a_path_with_spaces_and_unicode() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a folder").join("ünïcode");
    conformance::all(Arc::new(FileStore::new(World::real(), root))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_workers_and_a_thousand_increments_each_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let files = FileStore::new(World::real(), dir.path().to_owned());
    conformance::racing_increments_lose_nothing(Arc::new(MemoryStore::default()), 8, 1_000).await;
    conformance::racing_increments_lose_nothing(Arc::new(files), 8, 1_000).await;
}

#[tokio::test]
async fn what_a_crash_leaves_beside_a_blob_is_no_key() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("s")).unwrap();
    std::fs::write(dir.path().join("s").join(".tmp-1"), "torn").unwrap();
    let store = FileStore::new(World::real(), dir.path().to_owned());
    assert!(store.list(&Key::root()).await.unwrap().is_empty());
}
