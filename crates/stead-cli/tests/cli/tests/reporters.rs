//! Results for machines: TAP, JUnit, JSON; and the watch mode.

use std::io::{BufRead as _, BufReader, Read as _};

use super::project;
use crate::project::Project;

fn mixed() -> Project {
    let project = project(
        "test(\"fine\", () => {});\ntest(\"numbers & <tags>\", () => expect({ a: 1 }).toEqual({ a: 2 }));\ntest.skip(\"later #1\", () => {});\ntest.todo(\"someday\");\n",
    );
    project.write("broken.test.ts", "import { tset } from \"stead/test\";\ntset(\"x\", () => {});\n");
    project
}

#[test]
fn tap_lists_every_test_with_its_failure() {
    let ran = mixed().stead(&["test", "--reporter", "tap"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn junit_lists_every_test_with_its_failure() {
    let ran = mixed().stead(&["test", "--reporter", "junit"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn json_lists_every_test_with_its_failure() {
    let ran = mixed().stead(&["test", "--json"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.stdout);
    assert_eq!(mixed().stead(&["test", "--reporter", "json"]).stdout, ran.stdout);
}

#[test]
fn order_of_the_results_is_that_of_the_files() {
    let project = project("test(\"m\", () => {});\n");
    for file in 0..12 {
        let loops = (12 - file) * 20_000;
        let text = format!(
            "import {{ test }} from \"stead/test\";\ntest(\"t{file}\", () => {{ for (let i = 0; i < {loops}; i++); }});\n"
        );
        project.write(&format!("f{file:02}.test.ts"), &text);
    }
    let first = project.stead(&["test"]).ok();
    assert_eq!(project.stead(&["test"]).ok(), first);
    let names: Vec<&str> = first.lines().filter(|line| line.ends_with(".test.ts")).collect();
    assert!(names.is_sorted() && names.len() == 13, "{names:?}");
}

#[cfg(unix)]
#[test]
fn watch_runs_again_after_a_change_and_ends_with_130() {
    let project = project("test(\"first\", () => {});\n");
    let mut child = project.spawn(&["test", "--watch"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut until = |text: &str| lines.by_ref().map_while(Result::ok).find(|line| line.contains(text));
    assert_eq!(until("  passed").as_deref(), Some("  passed first"));
    project.write("main.test.ts", "import { test } from \"stead/test\";\ntest(\"second\", () => {});\n");
    assert_eq!(until("  passed").as_deref(), Some("  passed second"));
    let interrupted =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut rest = String::new();
    child.stderr.take().unwrap().read_to_string(&mut rest).unwrap();
    assert!(!rest.contains('\u{1b}'), "no cursor movement without a terminal: {rest}");
}
