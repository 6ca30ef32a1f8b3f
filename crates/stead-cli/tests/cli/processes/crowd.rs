//! Eight at once on one stack: what one alone would have done, each thing once.

use super::cloud::wait_for_orphans;
use crate::project::Project;

/// Each script tells the log that it ran; nobody takes a line away.
const PROGRAM: &str = r#"
import * as local from "stead/local";
let last = "";
for (let n = 0; n < 6; n++) {
  const made = new local.Command(
    { create: `echo made ${n} >> log; echo ${n}`, delete: `echo deleted ${n} >> log`, triggers: [last] },
    { id: `c${n}` },
  );
  last = made.stdout;
  new local.File({ path: `file-${n}`, content: `${n} ${made.stdout}` }, { id: `f${n}` });
}
"#;

fn everybody(project: &Project, arguments: &[&str]) -> Vec<i32> {
    let runs: Vec<_> = (0..8).map(|_| project.spawn(arguments)).collect();
    let codes = runs.into_iter().map(|run| project.ran(run.wait_with_output().unwrap()).code).collect();
    wait_for_orphans(project);
    codes
}

/// Everything in the project but its state, which has names and times of its own.
fn outside(project: &Project) -> Vec<(String, Vec<u8>)> {
    let relative =
        |path: &std::path::Path| path.strip_prefix(project.path("")).unwrap().display().to_string();
    let all = project.everything().into_iter().map(|(path, bytes)| (relative(&path), bytes));
    all.filter(|(path, _)| !path.starts_with(".stead")).collect()
}

fn alone() -> Project {
    let alone = Project::in_memory(PROGRAM);
    alone.stead(&["up", "--yes"]).ok();
    alone
}

#[test]
fn who_comes_second_leaves_with_14_and_everything_is_done_once() {
    let (alone, project) = (alone(), Project::in_memory(PROGRAM));
    let codes = everybody(&project, &["up", "--yes"]);
    assert!(codes.contains(&0) && codes.iter().all(|code| [0, 14].contains(code)), "{codes:?}");
    assert_eq!(outside(&project), outside(&alone));
    assert_eq!(project.stead(&["state", "ls"]).ok(), alone.stead(&["state", "ls"]).ok());
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    project.stead(&["state", "verify"]).ok();
}

#[test]
fn who_waits_succeeds_and_everything_is_done_once() {
    let (alone, project) = (alone(), Project::in_memory(PROGRAM));
    assert_eq!(everybody(&project, &["up", "--yes", "--wait"]), [0; 8]);
    assert_eq!(outside(&project), outside(&alone));
    assert_eq!(everybody(&project, &["destroy", "--yes", "--wait"]), [0; 8]);
    alone.stead(&["destroy", "--yes"]).ok();
    assert_eq!(outside(&project), outside(&alone));
    assert_eq!(project.stead(&["state", "ls"]).ok(), "");
    project.stead(&["state", "verify"]).ok();
}

#[test]
fn each_does_its_part_and_nobody_loses_what_another_did() {
    let parts = "import * as local from \"stead/local\";\n\
                 for (let n = 0; n < 8; n++) new local.Command({ create: `echo made ${n} >> log` }, { id: `c${n}` });\n";
    let project = Project::in_memory(parts);
    let part = |n: usize| project.spawn(&["up", "--yes", "--wait", "--target-resource", &format!("c{n}")]);
    let runs: Vec<_> = (0..8).map(part).collect();
    for run in runs {
        project.ran(run.wait_with_output().unwrap()).ok();
    }
    let log = project.read("log");
    let mut made: Vec<&str> = log.lines().collect();
    made.sort_unstable();
    let expected: Vec<String> = (0..8).map(|n| format!("made {n}")).collect();
    assert_eq!(made, expected);
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}
