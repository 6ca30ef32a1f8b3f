//! `local.KeyPair`.

use stead_model::{Map, Resource, Value};
use stead_provider::CallOutcome;

use crate::bench::{Bench, attempts, done, map, mode_of, refused};
use crate::failing_files::{Fails, world};

const KEY_PAIR: &str = "local.KeyPair";

fn key(path: &str, comment: &str) -> Map {
    map([("path", path.into()), ("comment", comment.into())])
}

fn public_key(resource: &Resource) -> String {
    resource.outputs["publicKey"].as_str().unwrap().to_owned()
}

/// Returns the lines of the private key's body, which may appear nowhere else.
fn secrets(text: &str) -> Vec<String> {
    let body = text.lines().filter(|line| !line.starts_with("-----"));
    // The first line and a half contain the format's name and the public key.
    body.skip(2).map(|line| line[..line.len().min(24)].to_owned()).collect()
}

#[tokio::test]
async fn pair_is_two_files_and_only_the_public_key_is_recorded() {
    let bench = Bench::new();
    let made = bench.created(KEY_PAIR, key("ssh/id", "me@home")).await;
    let (private, public) = (bench.read("ssh/id"), bench.read("ssh/id.pub"));
    assert_eq!((mode_of(&bench.path("ssh/id")), mode_of(&bench.path("ssh/id.pub"))), (0o600, 0o644));
    assert!(private.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----\n"));
    assert_eq!(public, format!("{}\n", public_key(&made)));
    assert!(public.starts_with("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI") && public.ends_with(" me@home\n"));
    assert!(made.outputs["fingerprint"].as_str().unwrap().starts_with("SHA256:"));
    assert_eq!(made.outputs.len(), 2);
    let secrets = secrets(&private);
    assert!(secrets.len() >= 3);
    let record = format!("{made:?}{:?}", bench.live(&made).await);
    assert!(secrets.iter().all(|secret| !record.contains(secret)), "the private key is recorded");

    done(bench.delete(&made).await);
    assert_eq!(bench.names("ssh"), [""; 0]);
    done(bench.delete(&made).await);
}

#[tokio::test]
async fn two_pairs_are_different() {
    let bench = Bench::new();
    let (one, two) =
        (bench.created(KEY_PAIR, key("a", "")).await, bench.created(KEY_PAIR, key("b", "")).await);
    assert_ne!(one.outputs["fingerprint"], two.outputs["fingerprint"]);
    assert_eq!(public_key(&one).split(' ').count(), 2, "no comment, no space");
}

#[tokio::test]
async fn comment_changes_in_place_and_the_private_key_stays() {
    let bench = Bench::new();
    let made = bench.created(KEY_PAIR, map([("path", "id".into())])).await;
    assert_eq!(made.inputs["comment"], Value::from(""));
    assert_eq!(bench.changes(&made, key("id", "new one")).await, ["comment"]);
    assert_eq!(bench.changes(&made, key("./id", "")).await, [""; 0]);
    assert_eq!(bench.changes(&made, key("other", "")).await, ["path!"]);
    let before = bench.read("id");
    let changed = bench.updated(&made, key("id", "new one")).await;
    assert_eq!(bench.read("id"), before);
    assert_eq!(bench.read("id.pub"), format!("{} new one\n", public_key(&made)));
    assert_eq!(public_key(&changed), format!("{} new one", public_key(&made)));
    assert_eq!(changed.outputs["fingerprint"], made.outputs["fingerprint"]);
}

#[tokio::test]
async fn existing_key_is_never_overwritten() {
    let bench = Bench::new();
    for (theirs, path) in [("one", "one"), ("two.pub", "two")] {
        bench.write(theirs, "theirs");
        let refusal = refused(bench.create(KEY_PAIR, key(path, "")).await);
        assert!(refusal.message.contains(&format!("{theirs} already exists")), "{}", refusal.message);
        assert_eq!(bench.read(theirs), "theirs");
    }
    assert_eq!(bench.names("."), ["one", "two.pub"]);
}

#[tokio::test]
async fn retry_adopts_its_own_pair_and_completes_a_partial_one() {
    let bench = Bench::new();
    let (first, second) = attempts().await;
    let one = done(bench.create_with(first, KEY_PAIR, key("id", "me")).await);
    std::fs::remove_file(bench.path("id.pub")).unwrap();
    let two = done(bench.create_with(second, KEY_PAIR, key("id", "me")).await);
    assert_eq!(one, two);
    assert_eq!(bench.names("."), ["id", "id.pub"]);
    let (first, second) = attempts().await;
    let one = done(bench.create_with(first, KEY_PAIR, key("whole", "")).await);
    assert_eq!(one, done(bench.create_with(second, KEY_PAIR, key("whole", "")).await));
}

#[tokio::test]
async fn retry_does_not_adopt_a_foreign_key() {
    let bench = Bench::new();
    bench.created(KEY_PAIR, key("id", "")).await;
    let before = (bench.read("id"), bench.read("id.pub"));
    let (_, second) = attempts().await;
    let refusal = refused(bench.create_with(second, KEY_PAIR, key("id", "")).await);
    assert!(secrets(&before.0).iter().all(|secret| !format!("{refusal:?}").contains(secret)));
    assert_eq!((bench.read("id"), bench.read("id.pub")), before);

    let (first, second) = attempts().await;
    done(bench.create_with(first, KEY_PAIR, key("mine", "")).await);
    bench.write("mine.pub", &before.1);
    refused(bench.create_with(second, KEY_PAIR, key("mine", "")).await);
    assert_eq!(bench.read("mine.pub"), before.1, "the public key belongs to another pair");
}

#[tokio::test]
async fn refused_create_leaves_no_partial_pair() {
    let bench = Bench::with(world(Fails::RenameTo, "id.pub"));
    refused(bench.create(KEY_PAIR, key("id", "")).await);
    assert_eq!(bench.names("."), [""; 0]);
}

#[tokio::test]
async fn deletion_that_stops_half_way_is_in_doubt() {
    let bench = Bench::with(world(Fails::RemoveFile, "id"));
    let made = bench.created(KEY_PAIR, key("id", "")).await;
    let outcome = bench.delete(&made).await;
    assert!(matches!(&outcome, CallOutcome::InDoubt(doubt) if doubt.message.contains("cannot delete")));
    assert_eq!(bench.names("."), ["id"]);
}

#[tokio::test]
async fn unwritable_path_and_comment_of_two_lines_are_refused() {
    let bench = Bench::new();
    bench.write("plain", "");
    let refusal = refused(bench.create(KEY_PAIR, key("plain/id", "")).await);
    assert!(refusal.message.ends_with("plain is a file, but a folder is needed"), "{}", refusal.message);
    let problems = bench.problems(KEY_PAIR, key("id", "one\ntwo")).await;
    assert!(problems[0].starts_with("`comment` is more than one line"), "{problems:?}");
}

#[tokio::test]
async fn read_detects_changes_of_either_file() {
    let bench = Bench::new();
    let made = bench.created(KEY_PAIR, key("id", "me")).await;
    let live = bench.live(&made).await.unwrap();
    assert_eq!((&live.inputs, &live.outputs), (&made.inputs, &made.outputs));

    let bare = public_key(&made).trim_end_matches(" me").to_owned();
    bench.write("id.pub", format!("{bare} somebody else\n"));
    let live = bench.live(&made).await.unwrap();
    assert_eq!(live.inputs["comment"], Value::from("somebody else"));
    assert_eq!(live.outputs["publicKey"], Value::from(format!("{bare} somebody else")));

    std::fs::remove_file(bench.path("id.pub")).unwrap();
    let live = bench.live(&made).await.unwrap();
    assert_eq!(live.outputs["publicKey"], Value::from(bare));
    let drifted = Resource { inputs: live.inputs, outputs: live.outputs, ..made.clone() };
    assert_eq!(
        bench.changes(&drifted, key("id", "me")).await,
        ["comment"],
        "an update writes the public key again"
    );
    assert_eq!(bench.updated(&drifted, key("id", "me")).await, made);
    assert_eq!(bench.read("id.pub"), format!("{}\n", public_key(&made)));

    std::fs::remove_file(bench.path("id")).unwrap();
    assert!(bench.live(&made).await.is_none());
}

#[tokio::test]
async fn update_refuses_a_pair_that_was_changed_outside() {
    let bench = Bench::new();
    let made = bench.created(KEY_PAIR, key("id", "me")).await;
    let own = bench.read("id.pub");
    bench.write("id.pub", format!("{own}# a day of work\n"));
    let refusal = refused(bench.update(&made, key("id", "new")).await);
    assert!(refusal.message.contains("id.pub was changed outside of Stead"), "{}", refusal.message);
    assert_eq!(bench.read("id.pub"), format!("{own}# a day of work\n"));

    let other = bench.created(KEY_PAIR, key("other", "me")).await;
    for (from, to) in [("other", "id"), ("other.pub", "id.pub")] {
        bench.write(to, bench.read(from));
    }
    let refusal = refused(bench.update(&made, key("id", "new")).await);
    assert!(refusal.message.contains("is another key"), "{}", refusal.message);
    assert_eq!(bench.read("id.pub"), format!("{}\n", public_key(&other)));
}

#[tokio::test]
async fn replaced_private_key_is_named_and_its_content_is_not_shown() {
    let bench = Bench::new();
    let made = bench.created(KEY_PAIR, key("id", "")).await;
    bench.write("id", "-----BEGIN SOMETHING-----\ntopsecret\n");
    let refusal = refused(bench.update(&made, key("id", "new")).await);
    assert!(refusal.message.contains("id is no longer an Ed25519 private key"), "{}", refusal.message);
    let seen = format!("{refusal:?}{:?}", bench.live(&made).await);
    assert!(!seen.contains("topsecret"));
}
