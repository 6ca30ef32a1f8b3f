//! `local.File`.

use stead_model::{Map, Operation, Resource, TypeToken, Value};
use stead_provider::{CallOutcome, DeleteRequest, Provider as _, Recovery};
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
async fn file_is_created_with_its_folders_updated_in_place_and_deleted() {
    let bench = Bench::new();
    let made = bench.created(FILE, file("a/b/hello.txt", "hello\n")).await;
    assert_eq!(made.id.as_ref().unwrap().as_str(), "a/b/hello.txt");
    assert_eq!(made.inputs["mode"], Value::from("0644"), "the default is recorded");
    assert_eq!(made.outputs, map([("sha256", HELLO_SHA256.into()), ("size", 6.into())]));
    assert_eq!(bench.read("a/b/hello.txt"), "hello\n");
    assert_eq!(mode_of(&bench.path("a/b/hello.txt")), 0o644);

    let changed = bench.updated(&made, with(file("a/b/hello.txt", "bye"), "mode", "600")).await;
    assert_eq!(bench.read("a/b/hello.txt"), "bye");
    assert_eq!(mode_of(&bench.path("a/b/hello.txt")), 0o600);
    assert_eq!(changed.outputs["size"], Value::from(3));
    assert_eq!(bench.names("a/b"), ["hello.txt"], "no temporary file is left");

    done(bench.delete(&changed).await);
    assert_eq!(bench.names("a/b"), [""; 0]);
    done(bench.delete(&changed).await);
}

#[tokio::test]
async fn path_may_be_absolute() {
    let (bench, elsewhere) = (Bench::new(), tempfile::tempdir().unwrap());
    let path = elsewhere.path().join("ü b");
    bench.created(FILE, file(path.to_str().unwrap(), "x")).await;
    assert_eq!(std::fs::read_to_string(path).unwrap(), "x");
}

#[tokio::test]
async fn existing_file_is_overwritten_only_with_overwrite() {
    let bench = Bench::new();
    bench.write("a", "precious");
    let refusal = refused(bench.create(FILE, file("a", "x")).await);
    assert!(refusal.message.contains("a already exists"), "{}", refusal.message);
    assert!(refusal.help.unwrap().to_string().contains("overwrite: true"));
    assert_eq!(bench.read("a"), "precious");
    bench.created(FILE, with(file("a", "x"), "overwrite", true)).await;
    assert_eq!(bench.read("a"), "x");
}

#[tokio::test]
async fn overwrite_never_replaces_a_folder_or_a_link() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("folder")).unwrap();
    std::os::unix::fs::symlink(bench.path("folder"), bench.path("link")).unwrap();
    for (path, message) in [("folder", "is a folder"), ("link", "is neither a file nor a folder")] {
        let refusal = refused(bench.create(FILE, with(file(path, "x"), "overwrite", true)).await);
        assert!(refusal.message.contains(message), "{}", refusal.message);
    }
    assert_eq!(bench.names("."), ["folder", "link"]);
}

#[tokio::test]
async fn retry_accepts_only_the_file_that_the_first_attempt_wrote() {
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
async fn retry_removes_the_temporary_file_of_a_crash() {
    let bench = Bench::new();
    let (_, second) = attempts().await;
    bench.write(&format!(".tmp-{}", second.idempotency_key()), "half");
    done(bench.create_with(second, FILE, file("a", "ours")).await);
    assert_eq!(bench.names("."), ["a"]);
}

#[tokio::test]
async fn unwritable_path_is_refused_with_path_and_reason() {
    let bench = Bench::new();
    bench.write("plain", "");
    let refusal = refused(bench.create(FILE, file("plain/below", "x")).await);
    assert!(refusal.message.starts_with("cannot write /"), "{}", refusal.message);
    assert!(refusal.message.ends_with("plain is a file, but a folder is needed"), "{}", refusal.message);
    let refusal = refused(bench.create(FILE, file("/proc/stead/x", "x")).await);
    assert_eq!(refusal.message, "cannot write /proc/stead/x: no such file or directory");
    let long = "x".repeat(300);
    let refusal = refused(bench.create(FILE, file(&long, "x")).await);
    assert!(refusal.message.ends_with(": file name too long"), "{}", refusal.message);
}

#[tokio::test]
async fn failed_write_is_refused_and_a_failed_sync_is_in_doubt() {
    let bench = Bench::with(world(Fails::RenameTo, "a"));
    let refusal = refused(bench.create(FILE, file("a", "x")).await);
    assert!(refusal.message.ends_with("/a: input/output error"), "{}", refusal.message);
    assert_eq!(bench.names("."), [""; 0]);

    let bench = Bench::with(world(Fails::SyncFolder, "folder"));
    std::fs::create_dir(bench.path("folder")).unwrap();
    match bench.create(FILE, file("folder/a", "x")).await {
        CallOutcome::InDoubt(doubt) => {
            assert!(doubt.message.contains("folder/a was written, but may not survive a crash"), "{doubt:?}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn folder_in_the_place_of_the_file_is_neither_deleted_nor_overwritten() {
    let bench = Bench::new();
    let made = bench.created(FILE, file("a", "x")).await;
    std::fs::remove_file(bench.path("a")).unwrap();
    std::fs::create_dir(bench.path("a")).unwrap();
    let refusal = refused(bench.delete(&made).await);
    assert!(refusal.message.ends_with("a is a folder, but the file to delete no longer exists"));
    refused(bench.update(&made, file("a", "y")).await);
    assert!(bench.live(&made).await.is_none(), "the file no longer exists");
}

#[tokio::test]
async fn read_detects_changes_and_deletion() {
    let bench = Bench::new();
    let made = bench.created(FILE, with(file("a", "hello\n"), "mode", "644")).await;
    let live = bench.live(&made).await.unwrap();
    assert_eq!((&live.inputs, &live.outputs), (&made.inputs, &made.outputs), "another spelling is no drift");

    bench.write("a", "changed");
    std::fs::set_permissions(bench.path("a"), std::os::unix::fs::PermissionsExt::from_mode(0o4755)).unwrap();
    let live = bench.live(&made).await.unwrap();
    assert_eq!(live.inputs, with(with(file("a", "changed"), "mode", "4755"), "path", "a"));
    assert_eq!(live.outputs["size"], Value::from(7));

    std::fs::remove_file(bench.path("a")).unwrap();
    assert!(bench.live(&made).await.is_none());
    bench.updated(&made, file("a", "again")).await;
    assert_eq!(bench.read("a"), "again", "an update writes the file again");
}

#[tokio::test]
async fn invalid_utf8_never_equals_the_recorded_text() {
    let bench = Bench::new();
    let made = bench.created(FILE, file("a", "x\u{fffd}y")).await;
    bench.write("a", b"x\xffy");
    let live = bench.live(&made).await.unwrap();
    assert_ne!(live.inputs["content"], made.inputs["content"]);
    assert!(live.inputs["content"].as_str().unwrap().starts_with('x'));
    assert_eq!(live.outputs["size"], Value::from(3));
}

#[tokio::test]
async fn content_and_mode_change_in_place_and_path_forces_a_replacement() {
    let bench = Bench::new();
    let made = bench.created(FILE, file("a", "x")).await;
    assert_eq!(bench.changes(&made, file("a", "x")).await, [""; 0]);
    assert_eq!(bench.changes(&made, with(file("a", "y"), "mode", "0600")).await, ["content", "mode"]);
    assert_eq!(bench.changes(&made, file("b", "x")).await, ["path!"]);
    assert_eq!(bench.diff(&made, file("b", "x")).await.order, ReplaceOrder::CreateFirst);
}

#[tokio::test]
async fn changes_of_overwrite_or_of_the_path_spelling_need_no_operation() {
    let bench = Bench::new();
    let made = bench.created(FILE, file("a", "x")).await;
    assert_eq!(bench.changes(&made, with(file("a", "x"), "overwrite", true)).await, [""; 0]);
    let absolute = bench.path("a");
    for same in ["./a", ".//a", absolute.to_str().unwrap()] {
        assert_eq!(bench.changes(&made, file(same, "x")).await, [""; 0], "{same}");
    }
}

#[tokio::test]
async fn invalid_paths_and_modes_are_problems() {
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

#[tokio::test]
async fn update_refuses_a_file_that_was_changed_outside() {
    let bench = Bench::new();
    let made = bench.created(FILE, file("a", "1")).await;
    bench.write("a", "edit");
    for inputs in [file("a", "2"), with(file("a", "1"), "mode", "0600")] {
        let refusal = refused(bench.update(&made, inputs).await);
        assert!(refusal.message.contains("its content is not the recorded one"), "{}", refusal.message);
        assert_eq!(bench.read("a"), "edit");
    }
    // After a refresh the record has what the file has.
    let live = bench.live(&made).await.unwrap();
    let refreshed = Resource { inputs: live.inputs, outputs: live.outputs, ..made.clone() };
    bench.updated(&refreshed, file("a", "2")).await;
    assert_eq!(bench.read("a"), "2");
    // The content that an earlier attempt wrote, or that the program took over, is no obstacle.
    assert_eq!(bench.updated(&made, file("a", "2")).await.outputs["size"], Value::from(1));
}

#[tokio::test]
async fn mode_that_was_changed_outside_is_kept_or_refused() {
    let bench = Bench::new();
    let made = bench.created(FILE, file("a", "1")).await;
    std::fs::set_permissions(bench.path("a"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    bench.updated(&made, file("a", "2")).await;
    assert_eq!((bench.read("a").as_str(), mode_of(&bench.path("a"))), ("2", 0o600));
    let refusal = refused(bench.update(&made, with(file("a", "2"), "mode", "0640")).await);
    assert!(refusal.message.contains("its mode is 0600, and 0644 is recorded"), "{}", refusal.message);
    assert_eq!(mode_of(&bench.path("a")), 0o600);
}

#[tokio::test]
async fn file_that_is_written_between_comparison_and_deletion_is_kept() {
    let bench = Bench::with(world(Fails::WrittenBeforeRename, "a"));
    let made = bench.created(FILE, file("a", "mine")).await;
    let refusal = refused(bench.delete(&made).await);
    assert!(refusal.message.contains("was changed outside of Stead"), "{}", refusal.message);
    assert_eq!(bench.read("a"), "written meanwhile");
    assert_eq!(bench.names(""), ["a"], "no private name is left");
}

#[tokio::test]
async fn deletion_that_ended_after_the_rename_is_finished_by_its_repeat() {
    for (content, left) in [("mine", vec![]), ("written meanwhile", vec!["a"])] {
        let bench = Bench::new();
        let made = bench.created(FILE, file("a", "mine")).await;
        let (first, repeat) = attempts().await;
        std::fs::remove_file(bench.path("a")).unwrap();
        bench.write(&format!(".tmp-{}", first.idempotency_key()), content);
        let outcome = bench.delete_with(repeat, &made).await;
        assert_eq!(matches!(outcome, CallOutcome::Done(())), left.is_empty(), "{outcome:?}");
        assert_eq!(bench.names(""), left);
    }
}

#[tokio::test]
async fn deletion_that_ended_after_the_rename_is_taken_back() {
    let bench = Bench::new();
    let made = bench.created(FILE, file("a", "mine")).await;
    for there in [None, Some("mine"), Some("of another")] {
        let (first, repeat) = attempts().await;
        let private = format!(".tmp-{}", first.idempotency_key());
        bench.write(&private, "mine");
        std::fs::remove_file(bench.path("a")).unwrap();
        if let Some(there) = there {
            bench.write("a", there);
        }
        let taken_back = bench.provider.take_back(repeat, DeleteRequest { resource: &made }).await;
        if there == Some("of another") {
            let message = taken_back.unwrap_err().message;
            assert!(message.contains(&private), "{message}");
            assert_eq!((bench.read("a").as_str(), bench.read(&private).as_str()), ("of another", "mine"));
        } else {
            taken_back.unwrap();
            assert_eq!((bench.read("a").as_str(), bench.names("")), ("mine", vec!["a".to_owned()]));
        }
    }
    let other = Bench::new();
    let made = other.created(FILE, file("a", "mine")).await;
    other.provider.take_back(attempts().await.1, DeleteRequest { resource: &made }).await.unwrap();
    assert_eq!(other.read("a"), "mine", "nothing was moved");
}
