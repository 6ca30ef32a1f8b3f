//! The example of `docs/guide/embedding.md` applies a project, and finds nothing to do the second time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(dead_code, reason = "the example has a main function of its own")]

#[path = "../examples/embed.rs"]
mod embed;

use std::fs;

use stead_model::RunResult;

#[tokio::test]
async fn embedded_library_applies_a_project_and_then_finds_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("stead.toml"), "project = \"embedded\"\n").unwrap();
    let program = "import * as local from \"stead/local\";\n\
                   new local.File({ path: \"note.txt\", content: \"hello\\n\" });\n";
    fs::write(folder.path().join("main.ts"), program).unwrap();
    assert_eq!(embed::up(folder.path()).await.unwrap(), RunResult::Succeeded);
    assert_eq!(fs::read_to_string(folder.path().join("note.txt")).unwrap(), "hello\n");
    let made = fs::metadata(folder.path().join("note.txt")).unwrap().modified().unwrap();
    assert_eq!(embed::up(folder.path()).await.unwrap(), RunResult::Succeeded);
    assert_eq!(fs::metadata(folder.path().join("note.txt")).unwrap().modified().unwrap(), made);
}

#[test]
fn guide_shows_the_example_that_is_tested() {
    let guide = include_str!("../../../docs/guide/embedding.md");
    let example = include_str!("../examples/embed.rs");
    let from = example.find("pub(crate) async fn up").unwrap();
    let shown = &example[from..example.find("fn main").unwrap()];
    assert!(guide.contains(shown.trim()), "docs/guide/embedding.md has another version of the example");
}
