//! Tests of the manager of external programs, with scripts of the shell.

#![cfg(unix)]

use std::path::Path;

use stead_model::KeyId;
use stead_world::World;

use super::CommandManager;
use crate::{DataKey, KeyManager as _, ManagerError, ManagerErrorClass, WrapContext};

fn context(key: &str) -> WrapContext {
    WrapContext { owner: "stack:1".to_owned(), key: KeyId(key.to_owned()) }
}

/// Returns a manager whose program is this script. Its request is in `$line`, its argument in `$1`.
fn manager(folder: &Path, script: &str) -> CommandManager {
    let script = format!("read -r line\n{script}\n");
    let world = World::real();
    world.files.create_unsynced(&folder.join("tool.sh"), script.as_bytes(), 0o600).unwrap();
    CommandManager::new("sh ./tool.sh", folder.to_owned(), world)
}

async fn failure(script: &str) -> ManagerError {
    let folder = tempfile::tempdir().unwrap();
    manager(folder.path(), script).wrap(&DataKey::new([7; 32]), &context("k")).await.err().unwrap()
}

#[tokio::test]
async fn program_that_keeps_keys_by_id_wraps_and_unwraps() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        id=$(printf '%s' "$line" | sed 's/.*"keyId":"\([^"]*\)".*/\1/')
        if [ "$1" = wrap ]; then
            printf '%s' "$line" | sed 's/.*"key":"\([^"]*\)".*/\1/' > "kept-$id"
            echo "{\"wrapped\":\"kept-$id\"}"
        elif [ -f "kept-$id" ]; then
            echo "{\"key\":\"$(cat "kept-$id")\"}"
        else
            echo '{"error":{"class":"not-found","message":"no such key"}}'; exit 1
        fi"#;
    let manager = manager(folder.path(), script);
    assert_eq!(manager.name(), "command:sh ./tool.sh");
    let wrapped = manager.wrap(&DataKey::new([7; 32]), &context("k1")).await.unwrap();
    assert_eq!(wrapped, "kept-k1");
    assert_eq!(manager.unwrap(&wrapped, &context("k1")).await.unwrap().expose(), &[7; 32]);
    let missing = manager.unwrap(&wrapped, &context("k2")).await.err().unwrap();
    assert_eq!(missing.class, ManagerErrorClass::NoSuchKey);
    assert_eq!(missing.message, "command:sh ./tool.sh: no such key");
}

#[tokio::test]
async fn failures_of_a_program_are_told_apart() {
    use ManagerErrorClass::{Damaged, Denied, NotConfigured, Unavailable};
    let denied = r#"printf '%s\n' '{"error":{"class":"denied","message":"ask\nada"}}'"#;
    for (script, class, said) in [
        (denied, Denied, ": askada"),
        ("echo first >&2; echo last >&2; exit 3", Unavailable, "ended with code 3: last"),
        ("exit 3", Unavailable, "ended with code 3"),
        ("kill -s KILL $$", Unavailable, "code 137"),
        ("exec ./no-such-program", NotConfigured, "code 127"),
        ("echo hello", Damaged, "one line of JSON"),
        (r#"echo '{"wrapped":"two words"}'"#, Damaged, "white space"),
        (r#"echo '{"wrapped":"w"}'; exit 1"#, Unavailable, "code 1"),
        ("head -c 100000 /dev/zero", Damaged, "one line of JSON"),
    ] {
        let failure = failure(script).await;
        assert_eq!(failure.class, class, "{script}: {failure}");
        assert!(failure.message.contains(said), "{script}: {failure}");
    }
}

#[tokio::test]
async fn key_that_a_program_repeats_is_not_in_the_message() {
    let failure = failure(r#"printf '%s\n' "bad request: $line" >&2; exit 1"#).await;
    assert!(failure.message.contains("bad request"), "{failure}");
    assert!(failure.message.contains("\"key\":\"[secret]"), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn program_without_an_answer_is_given_up() {
    let failure = failure("exec sleep 1000").await;
    assert_eq!(failure.class, ManagerErrorClass::Unavailable);
    assert!(failure.message.contains("no answer in 60 s"), "{failure}");
}
