//! The promises of [`Store`] as tests, one function each. Every implementation runs `all`.
//!
//! The functions panic on a violation, like a test; no shipped code calls them.
#![allow(clippy::panic, clippy::unwrap_used, reason = "this is a test suite in library form")]

use std::sync::Arc;

use bytes::Bytes;

use crate::{Expect, Key, Store, StoreError};

/// Tests every promise, each below a key of its own.
pub async fn all(store: Arc<dyn Store>) {
    create_happens_once(store.as_ref()).await;
    swap_needs_the_current_version(store.as_ref()).await;
    swap_of_an_absent_blob_conflicts(store.as_ref()).await;
    list_is_sorted_and_recursive(store.as_ref()).await;
    delete_is_idempotent(store.as_ref()).await;
    unusual_bodies_round_trip(store.as_ref()).await;
    racing_creates_have_one_winner(store.clone()).await;
    racing_increments_lose_nothing(store, 8, 50).await;
}

fn key(test: &str, name: &str) -> Key {
    Key::root().child(test).child(name)
}

fn body(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

async fn create_happens_once(store: &dyn Store) {
    let key = key("create", "x");
    store.put(&key, body("1"), Expect::Absent).await.unwrap();
    assert!(matches!(store.put(&key, body("2"), Expect::Absent).await, Err(StoreError::Conflict { .. })));
    assert_eq!(store.get(&key).await.unwrap().unwrap().body, body("1"));
}

async fn swap_needs_the_current_version(store: &dyn Store) {
    let key = key("swap", "x");
    let first = store.put(&key, body("1"), Expect::Absent).await.unwrap();
    let second = store.put(&key, body("2"), Expect::Version(first.clone())).await.unwrap();
    let stale = store.put(&key, body("3"), Expect::Version(first)).await;
    assert!(matches!(stale, Err(StoreError::Conflict { .. })));
    let blob = store.get(&key).await.unwrap().unwrap();
    assert_eq!((blob.body, blob.version), (body("2"), second));
}

async fn swap_of_an_absent_blob_conflicts(store: &dyn Store) {
    let version = store.put(&key("absent", "x"), body("1"), Expect::Absent).await.unwrap();
    let swapped = store.put(&key("absent", "y"), body("2"), Expect::Version(version)).await;
    assert!(matches!(swapped, Err(StoreError::Conflict { .. })));
    assert!(store.get(&key("absent", "y")).await.unwrap().is_none());
}

async fn list_is_sorted_and_recursive(store: &dyn Store) {
    let prefix = Key::root().child("list");
    let keys = [prefix.child("a").child("2"), prefix.child("a").child("10"), prefix.child("b")];
    for key in &keys {
        store.put(key, body(""), Expect::Absent).await.unwrap();
    }
    store.put(&Key::root().child("list2"), body(""), Expect::Absent).await.unwrap();
    let mut sorted = keys.to_vec();
    sorted.sort();
    assert_eq!(store.list(&prefix).await.unwrap(), sorted);
    assert!(store.list(&Key::root().child("nothing")).await.unwrap().is_empty());
}

async fn delete_is_idempotent(store: &dyn Store) {
    let key = key("delete", "x");
    store.put(&key, body("1"), Expect::Absent).await.unwrap();
    store.delete(&key).await.unwrap();
    store.delete(&key).await.unwrap();
    assert!(store.get(&key).await.unwrap().is_none());
    store.put(&key, body("2"), Expect::Absent).await.unwrap();
}

async fn unusual_bodies_round_trip(store: &dyn Store) {
    let large = Bytes::from(vec![7u8; 1 << 20]);
    for (name, bytes) in [("empty", Bytes::new()), ("zeros", Bytes::from(vec![0u8; 3])), ("large", large)] {
        let key = key("bodies", name);
        store.put(&key, bytes.clone(), Expect::Absent).await.unwrap();
        assert_eq!(store.get(&key).await.unwrap().unwrap().body, bytes);
    }
}

async fn racing_creates_have_one_winner(store: Arc<dyn Store>) {
    for round in 0..20 {
        let key = key("race", &round.to_string());
        let racers: Vec<_> = (0..4)
            .map(|racer| {
                let (store, key) = (store.clone(), key.clone());
                tokio::spawn(async move { store.put(&key, body(&racer.to_string()), Expect::Absent).await })
            })
            .collect();
        let mut winners = 0;
        for racer in racers {
            winners += usize::from(racer.await.unwrap().is_ok());
        }
        assert_eq!(winners, 1);
    }
}

/// Increments one counter from many tasks: its final value must be the number of increments.
pub async fn racing_increments_lose_nothing(store: Arc<dyn Store>, workers: u64, each: u64) {
    let key = key("increments", "counter");
    store.put(&key, body("0"), Expect::Absent).await.unwrap();
    let tasks: Vec<_> = (0..workers)
        .map(|_| {
            let (store, key) = (store.clone(), key.clone());
            tokio::spawn(async move {
                for _ in 0..each {
                    increment(store.as_ref(), &key).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(count(&store.get(&key).await.unwrap().unwrap().body), workers * each);
}

/// Adds one to a counter, with retries after conflicts.
pub async fn increment(store: &dyn Store, key: &Key) {
    loop {
        let blob = store.get(key).await.unwrap().unwrap();
        let next = count(&blob.body) + 1;
        match store.put(key, body(&next.to_string()), Expect::Version(blob.version)).await {
            Ok(_) => return,
            Err(StoreError::Conflict { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

fn count(body: &[u8]) -> u64 {
    String::from_utf8_lossy(body).parse().unwrap()
}
