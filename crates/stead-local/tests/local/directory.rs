//! `local.Directory`.

use stead_model::{Map, Value};
use stead_provider::CallOutcome;

use crate::bench::{Bench, attempts, done, map, mode_of, refused};
use crate::failing_files::{Fails, world};

const DIRECTORY: &str = "local.Directory";

fn folder(path: &str) -> Map {
    map([("path", path.into())])
}

#[tokio::test]
async fn folder_is_created_with_its_parents_updated_and_deleted() {
    let bench = Bench::new();
    let made = bench.created(DIRECTORY, folder("a/b c/d")).await;
    assert_eq!(made.id.as_ref().unwrap().as_str(), "a/b c/d");
    assert_eq!(made.inputs["mode"], Value::from("0755"));
    assert_eq!(mode_of(&bench.path("a/b c/d")), 0o755);
    let private = map([("path", "a/b c/d".into()), ("mode", "0700".into())]);
    let changed = bench.updated(&made, private).await;
    assert_eq!(mode_of(&bench.path("a/b c/d")), 0o700);
    done(bench.delete(&changed).await);
    assert_eq!(bench.names("a/b c"), [""; 0]);
    done(bench.delete(&changed).await);
}

#[tokio::test]
async fn mode_of_a_folder_that_was_changed_outside_is_not_overwritten() {
    let bench = Bench::new();
    let made = bench.created(DIRECTORY, folder("a")).await;
    std::fs::set_permissions(bench.path("a"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let shared = map([("path", "a".into()), ("mode", "0775".into())]);
    let refusal = refused(bench.update(&made, shared).await);
    assert!(refusal.message.contains("its mode is 0700, and 0755 is recorded"), "{}", refusal.message);
    assert_eq!(mode_of(&bench.path("a")), 0o700);
}

#[tokio::test]
async fn existing_folder_is_refused_except_in_a_retry() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("a")).unwrap();
    let refusal = refused(bench.create(DIRECTORY, folder("a")).await);
    assert!(refusal.message.contains("a already exists"), "{}", refusal.message);
    let (first, second) = attempts().await;
    done(bench.create_with(first, DIRECTORY, folder("b")).await);
    bench.write("b/inside", "");
    done(bench.create_with(second, DIRECTORY, folder("b")).await);
    assert_eq!(bench.names("b"), ["inside"]);
}

#[tokio::test]
async fn file_in_the_place_of_a_folder_is_named_in_the_refusal() {
    let bench = Bench::new();
    bench.write("plain", "");
    let refusal = refused(bench.create(DIRECTORY, folder("plain")).await);
    assert!(refusal.message.ends_with("plain is a file, but a folder is to be created there"));
    let refusal = refused(bench.create(DIRECTORY, folder("plain/x/y")).await);
    assert!(refusal.message.ends_with("plain is a file, but a folder is needed"), "{}", refusal.message);
    let refusal = refused(bench.create(DIRECTORY, folder("/proc/stead")).await);
    assert_eq!(refusal.message, "cannot create /proc/stead: no such file or directory");
}

#[tokio::test]
async fn only_an_empty_folder_is_deleted() {
    let bench = Bench::new();
    let made = bench.created(DIRECTORY, folder("a")).await;
    for name in ["one", "two", "three", "four", "five"] {
        bench.write(&format!("a/{name}"), "");
    }
    let refusal = refused(bench.delete(&made).await);
    assert!(refusal.message.ends_with("it is not empty, it contains five, four, one and 2 more"));
    assert_eq!(bench.names("a").len(), 5);
    std::fs::remove_dir_all(bench.path("a")).unwrap();
    bench.write("a", "a file now");
    assert!(refused(bench.delete(&made).await).message.contains("a is a file"));
    assert!(bench.live(&made).await.is_none());
}

#[tokio::test]
async fn folder_is_removed_if_its_mode_cannot_be_set() {
    let bench = Bench::with(world(Fails::SetMode, "a"));
    refused(bench.create(DIRECTORY, folder("a")).await);
    assert_eq!(bench.names("."), [""; 0]);
}

#[tokio::test]
async fn folder_that_cannot_be_synced_is_in_doubt() {
    let bench = Bench::with(world(Fails::SyncFolder, "a"));
    std::fs::create_dir(bench.path("a")).unwrap();
    let outcome = bench.create(DIRECTORY, folder("a/b")).await;
    assert!(matches!(outcome, CallOutcome::InDoubt(_)), "{outcome:?}");
}

#[tokio::test]
async fn read_returns_the_real_mode_or_the_absence_of_a_folder() {
    let bench = Bench::new();
    let made = bench.created(DIRECTORY, folder("a")).await;
    assert_eq!(bench.live(&made).await.unwrap().inputs, made.inputs);
    std::fs::set_permissions(bench.path("a"), std::os::unix::fs::PermissionsExt::from_mode(0o1777)).unwrap();
    assert_eq!(bench.live(&made).await.unwrap().inputs["mode"], Value::from("1777"));
    std::fs::remove_dir(bench.path("a")).unwrap();
    assert!(bench.live(&made).await.is_none());
}

#[tokio::test]
async fn mode_changes_in_place_and_path_forces_a_replacement() {
    let bench = Bench::new();
    let made = bench.created(DIRECTORY, folder("a")).await;
    assert_eq!(bench.changes(&made, folder("a/")).await, [""; 0]);
    assert_eq!(bench.changes(&made, folder("b")).await, ["path!"]);
    let private = map([("path", "a".into()), ("mode", "0700".into())]);
    assert_eq!(bench.changes(&made, private).await, ["mode"]);
}
