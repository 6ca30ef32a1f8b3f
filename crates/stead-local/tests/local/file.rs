//! `local.File`.

use stead_model::{Map, Operation, TypeToken, Value};
use stead_provider::{Outcome, Provider as _, Recovery};
use stead_schema::ReplaceOrder;

use crate::bench::{Bench, attempts, done, map, mode_of, refused};
use crate::failing_files::{Fails, world};

const FILE: &str = "local.File";
const HELLO_SHA256: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

fn file(path: &str, content: &str) -> Map {
    map([("path", path.into()), ("content", content.into())])
}

fn with(mut inputs: Map, name: &str, value: impl Into<Value>) -> Map {
    inputs.insert(name.to_owned(), value.into());
    inputs
}

#[tokio::test]
async fn a_file_is_made_with_its_folders_changed_in_place_and_deleted() {
    let bench = Bench::new();
    let made = bench.made(FILE, file("a/b/hello.txt", "hello\n")).await;
    assert_eq!(made.id.as_ref().unwrap().as_str(), "a/b/hello.txt");
    assert_eq!(made.inputs["mode"], Value::from("0644"), "what was filled in is on record");
    assert_eq!(made.outputs, map([("sha256", HELLO_SHA256.into()), ("size", 6.into())]));
    assert_eq!(bench.read("a/b/hello.txt"), "hello\n");
    assert_eq!(mode_of(&bench.path("a/b/hello.txt")), 0o644);

    let changed = bench.changed(&made, with(file("a/b/hello.txt", "bye"), "mode", "600")).await;
    assert_eq!(bench.read("a/b/hello.txt"), "bye");
    assert_eq!(mode_of(&bench.path("a/b/hello.txt")), 0o600);
    assert_eq!(changed.outputs["size"], Value::from(3));
    assert_eq!(bench.names("a/b"), ["hello.txt"], "nothing is left beside it");

    done(bench.delete(&changed).await);
    assert_eq!(bench.names("a/b"), [""; 0]);
    done(bench.delete(&changed).await);
}

#[tokio::test]
async fn a_path_may_be_absolute() {
    let (bench, elsewhere) = (Bench::new(), tempfile::tempdir().unwrap());
    let path = elsewhere.path().join("ü b");
    bench.made(FILE, file(path.to_str().unwrap(), "x")).await;
    assert_eq!(std::fs::read_to_string(path).unwrap(), "x");
}

#[tokio::test]
async fn what_is_there_already_is_not_overwritten_unless_told_to() {
    let bench = Bench::new();
    bench.write("a", "precious");
    let refusal = refused(bench.create(FILE, file("a", "x")).await);
    assert!(refusal.message.contains("a is there already"), "{}", refusal.message);
    assert!(refusal.help.unwrap().contains("overwrite: true"));
    assert_eq!(bench.read("a"), "precious");
    bench.made(FILE, with(file("a", "x"), "overwrite", true)).await;
    assert_eq!(bench.read("a"), "x");
}

#[tokio::test]
async fn overwrite_never_takes_the_place_of_a_folder_or_a_link() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("folder")).unwrap();
    std::os::unix::fs::symlink(bench.path("folder"), bench.path("link")).unwrap();
    for (path, what) in [("folder", "is a folder"), ("link", "is neither a file nor a folder")] {
        let refusal = refused(bench.create(FILE, with(file(path, "x"), "overwrite", true)).await);
        assert!(refusal.message.contains(what), "{}", refusal.message);
    }
    assert_eq!(bench.names("."), ["folder", "link"]);
}

#[tokio::test]
async fn a_repeated_attempt_accepts_what_the_first_one_wrote_and_nothing_else() {
    let bench = Bench::new();
    let (first, second) = attempts().await;
    let one = done(bench.create_with(first, FILE, file("a", "ours")).await);
    let two = done(bench.create_with(second, FILE, file("a", "ours")).await);
    assert_eq!(one, two);
    let (_, second) = attempts().await;
    bench.write("b", "theirs");
    refused(bench.create_with(second, FILE, file("b", "ours")).await);
    assert_eq!(bench.read("b"), "theirs");
}

#[tokio::test]
async fn a_repeated_attempt_clears_away_what_a_crash_left() {
    let bench = Bench::new();
    let (_, second) = attempts().await;
    bench.write(&format!(".tmp-{}", second.idempotency_key()), "half");
    done(bench.create_with(second, FILE, file("a", "ours")).await);
    assert_eq!(bench.names("."), ["a"]);
}

#[tokio::test]
async fn an_unwritable_path_is_refused_with_path_and_reason() {
    let bench = Bench::new();
    bench.write("plain", "");
    let refusal = refused(bench.create(FILE, file("plain/below", "x")).await);
    assert!(refusal.message.starts_with("cannot write /"), "{}", refusal.message);
    assert!(refusal.message.ends_with("plain is a file, and a folder is needed"), "{}", refusal.message);
    let refusal = refused(bench.create(FILE, file("/proc/stead/x", "x")).await);
    assert_eq!(refusal.message, "cannot write /proc/stead/x: no such file or directory");
    let long = "x".repeat(300);
    let refusal = refused(bench.create(FILE, file(&long, "x")).await);
    assert!(refusal.message.ends_with(": file name too long"), "{}", refusal.message);
}

#[tokio::test]
async fn a_write_that_fails_is_refused_and_one_that_fails_too_late_is_in_doubt() {
    let bench = Bench::with(world(Fails::RenameTo, "a"));
    let refusal = refused(bench.create(FILE, file("a", "x")).await);
    assert!(refusal.message.ends_with("/a: input/output error"), "{}", refusal.message);
    assert_eq!(bench.names("."), [""; 0]);

    let bench = Bench::with(world(Fails::SyncFolder, "folder"));
    std::fs::create_dir(bench.path("folder")).unwrap();
    match bench.create(FILE, file("folder/a", "x")).await {
        Outcome::InDoubt(doubt) => assert!(doubt.message.contains("folder/a may not be"), "{doubt:?}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_took_the_files_place_is_not_deleted_or_overwritten() {
    let bench = Bench::new();
    let made = bench.made(FILE, file("a", "x")).await;
    std::fs::remove_file(bench.path("a")).unwrap();
    std::fs::create_dir(bench.path("a")).unwrap();
    let refusal = refused(bench.delete(&made).await);
    assert!(refusal.message.ends_with("a is a folder, and the file to delete is no longer there"));
    refused(bench.update(&made, file("a", "y")).await);
    assert!(bench.live(&made).await.is_none(), "our file is gone");
}

#[tokio::test]
async fn read_sees_what_somebody_changed_or_removed() {
    let bench = Bench::new();
    let made = bench.made(FILE, with(file("a", "hello\n"), "mode", "644")).await;
    let live = bench.live(&made).await.unwrap();
    assert_eq!((&live.inputs, &live.outputs), (&made.inputs, &made.outputs), "no drift, also in spelling");

    bench.write("a", "changed");
    std::fs::set_permissions(bench.path("a"), std::os::unix::fs::PermissionsExt::from_mode(0o4755)).unwrap();
    let live = bench.live(&made).await.unwrap();
    assert_eq!(live.inputs, with(with(file("a", "changed"), "mode", "4755"), "path", "a"));
    assert_eq!(live.outputs["size"], Value::from(7));

    std::fs::remove_file(bench.path("a")).unwrap();
    assert!(bench.live(&made).await.is_none());
    bench.changed(&made, file("a", "again")).await;
    assert_eq!(bench.read("a"), "again", "an update brings it back");
}

#[tokio::test]
async fn bytes_that_are_no_text_never_look_like_the_recorded_text() {
    let bench = Bench::new();
    let made = bench.made(FILE, file("a", "x\u{fffd}y")).await;
    bench.write("a", b"x\xffy");
    let live = bench.live(&made).await.unwrap();
    assert_ne!(live.inputs["content"], made.inputs["content"]);
    assert!(live.inputs["content"].as_str().unwrap().starts_with('x'));
    assert_eq!(live.outputs["size"], Value::from(3));
}

#[tokio::test]
async fn content_and_mode_change_in_place_and_path_replaces() {
    let bench = Bench::new();
    let made = bench.made(FILE, file("a", "x")).await;
    assert_eq!(bench.changes(&made, file("a", "x")).await, [""; 0]);
    assert_eq!(bench.changes(&made, with(file("a", "y"), "mode", "0600")).await, ["content", "mode"]);
    assert_eq!(bench.changes(&made, file("b", "x")).await, ["path!"]);
    assert_eq!(bench.diff(&made, file("b", "x")).await.order, ReplaceOrder::CreateFirst);
}

#[tokio::test]
async fn overwrite_and_the_spelling_of_a_path_are_not_worth_an_operation() {
    let bench = Bench::new();
    let made = bench.made(FILE, file("a", "x")).await;
    assert_eq!(bench.changes(&made, with(file("a", "x"), "overwrite", true)).await, [""; 0]);
    let absolute = bench.path("a");
    for same in ["./a", ".//a", absolute.to_str().unwrap()] {
        assert_eq!(bench.changes(&made, file(same, "x")).await, [""; 0], "{same}");
    }
}

#[tokio::test]
async fn bad_paths_and_modes_are_problems() {
    let bench = Bench::new();
    assert_eq!(
        bench.problems(FILE, with(file("", "x"), "mode", "rw-r--r--")).await,
        [
            "`path` is empty / give a path, absolute or relative to the project",
            "`mode` cannot be \"rw-r--r--\" / use three or four octal digits in a string, such as \"0644\" or \
             \"0755\""
        ]
    );
    for (path, message) in [("a\0b", "NUL"), ("a/", "names a folder"), ("..", "names a folder")] {
        let problems = bench.problems(FILE, file(path, "x")).await;
        assert!(problems[0].contains(message) && problems.len() == 1, "{problems:?}");
    }
}

#[tokio::test]
async fn every_operation_may_be_repeated() {
    let bench = Bench::new();
    for operation in [Operation::Create, Operation::Update, Operation::Delete] {
        for token in ["local.File", "local.Directory", "local.KeyPair", "local.Data", "local.RandomPet"] {
            let recovery = bench.provider.recovery(operation, &TypeToken(token.into()), &Map::new());
            assert_eq!(recovery, Recovery::Repeat, "{token}");
        }
    }
}
