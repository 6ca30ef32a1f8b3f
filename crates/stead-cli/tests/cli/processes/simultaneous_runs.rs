//! Eight simultaneous runs on one stack have the same effect as one run.

use super::random_program::wait_for_orphans;
use crate::project::Project;

/// Program whose scripts append to a log, so that a repeated operation shows.
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

/// Starts eight runs at once, and returns their exit codes.
fn run_eight(project: &Project, arguments: &[&str]) -> Vec<i32> {
    let runs: Vec<_> = (0..8).map(|_| project.spawn(arguments)).collect();
    let codes = runs.into_iter().map(|run| project.ran(run.wait_with_output().unwrap()).code).collect();
    wait_for_orphans(project);
    codes
}

/// Returns all files of the project except its state, which contains times and unique names, and the settings with its public key.
fn files_without_state(project: &Project) -> Vec<(String, Vec<u8>)> {
    let relative =
        |path: &std::path::Path| path.strip_prefix(project.path("")).unwrap().display().to_string();
    let all = project.all_files().into_iter().map(|(path, bytes)| (relative(&path), bytes));
    all.filter(|(path, _)| !path.starts_with(".stead") && path != "stead.toml").collect()
}

/// Creates a project and applies it with one run.
fn applied_by_one_run() -> Project {
    let project = Project::in_memory(PROGRAM);
    project.stead(&["up", "--yes"]).ok();
    project
}

#[test]
fn simultaneous_runs_exit_14_and_each_operation_happens_once() {
    let (alone, project) = (applied_by_one_run(), Project::in_memory(PROGRAM));
    let codes = run_eight(&project, &["up", "--yes"]);
    assert!(codes.contains(&0) && codes.iter().all(|code| [0, 14].contains(code)), "{codes:?}");
    assert_eq!(files_without_state(&project), files_without_state(&alone));
    assert_eq!(project.stead(&["state", "ls"]).ok(), alone.stead(&["state", "ls"]).ok());
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    project.stead(&["state", "verify"]).ok();
}

#[test]
fn waiting_runs_all_succeed_and_each_operation_happens_once() {
    let (alone, project) = (applied_by_one_run(), Project::in_memory(PROGRAM));
    assert_eq!(run_eight(&project, &["up", "--yes", "--wait"]), [0; 8]);
    assert_eq!(files_without_state(&project), files_without_state(&alone));
    assert_eq!(run_eight(&project, &["destroy", "--yes", "--wait"]), [0; 8]);
    alone.stead(&["destroy", "--yes"]).ok();
    assert_eq!(files_without_state(&project), files_without_state(&alone));
    assert_eq!(project.stead(&["state", "ls"]).ok(), "");
    project.stead(&["state", "verify"]).ok();
}

#[test]
fn simultaneous_partial_runs_lose_no_change() {
    let parts = "import * as local from \"stead/local\";\n\
                 for (let n = 0; n < 8; n++) new local.Command({ create: `echo made ${n} >> log` }, { id: `c${n}` });\n";
    let project = Project::in_memory(parts);
    project.stead(&["up", "--yes", "--target-resource", "canary"]).ok();
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
