//! Runs killed at crash points: the next `up` finishes them without a duplicate, or reports an operation in doubt.

use crate::project::Project;

/// Program whose command appends to a log, so that a repeated operation shows.
const PROGRAM: &str = r#"
import * as local from "stead/local";
const a = new local.File({ path: "a.txt", content: "a" }, { id: "a" });
const run = new local.Command(
  { create: "echo created >> log", delete: "echo deleted >> log", triggers: [a.sha256], idempotent: true },
  { id: "run" },
);
new local.File({ path: "b.txt", content: `b${run.exitCode}` }, { id: "b" });
"#;

/// Crash points of a run on a stack without an interrupted run.
pub(crate) const POINTS: &[&str] = &[
    "run.open.after_head",
    "journal.append.before",
    "journal.append.after",
    "step.begin.durable",
    "step.call.before",
    "step.call.after",
    "store.put.before",
    "store.put.after",
    "run.close.before",
    "run.publish.after_snapshot",
    "run.publish.after_head",
];

#[test]
fn next_up_finishes_a_run_killed_at_any_point() {
    for point in POINTS {
        for nth in 1..=3 {
            let project = Project::with(PROGRAM);
            let at = format!("{point}:{nth}");
            let ended = project.stead_with(&[("STEAD_CRASH_AT", &at)], &["up", "--yes"]);
            if ended.code == 0 {
                continue; // the run reaches the point fewer times
            }
            assert_eq!(ended.code, -1, "{at} kills the run: {}", ended.stderr);
            project.stead(&["up", "--yes"]).ok();
            assert_eq!(project.read("b.txt"), "b0", "{at}");
            assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{at}");
            assert_eq!(project.stead(&["state", "ls"]).ok().lines().count(), 4, "{at}");
            project.stead(&["destroy", "--yes"]).ok();
            assert!(!project.has("a.txt") && !project.has("b.txt"), "{at}");
        }
    }
}

#[test]
fn next_destroy_finishes_a_killed_destroy() {
    for point in
        ["step.begin.durable:2", "step.call.after:1", "step.call.after:3", "run.publish.after_snapshot:1"]
    {
        let project = Project::with(PROGRAM);
        project.stead(&["up", "--yes"]).ok();
        project.crash(&["destroy", "--yes"], point);
        project.stead(&["destroy", "--yes"]).ok();
        assert!(!project.has("a.txt") && !project.has("b.txt"), "{point}");
        assert_eq!(project.stead(&["state", "ls"]).ok(), "", "{point}");
    }
}

#[test]
fn interrupted_deletion_is_not_repeated_once_the_resource_is_protected() {
    let file = |options: &str| {
        format!(
            "import * as local from \"stead/local\";\nnew local.File({{ path: \"a.txt\", content: \"a\" }}, {{ id: \"a\"{options} }});\n"
        )
    };
    for (kept, code) in
        [(", preventDelete: true", 13), (", pinned: true", 13), (", deletionPolicy: \"retain\"", 0)]
    {
        let project = Project::with(&file(""));
        project.stead(&["up", "--yes"]).ok();
        project.write("main.ts", "export const nothing = 1;\n");
        project.crash(&["up", "--yes"], "step.begin.durable:1");
        project.write("main.ts", &file(kept));
        let up = project.stead(&["up", "--yes"]).ends(0);
        assert!(up.stderr.contains("delete skipped"), "{kept}: {}", up.stderr);
        assert_eq!(project.read("a.txt"), "a", "{kept}");
        assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{kept}");
        project.write("main.ts", "export const nothing = 1;\n");
        assert_eq!(project.stead(&["up", "--yes"]).code, code, "{kept}");
        assert!(project.has("a.txt"), "{kept}");
    }
}

/// Returns a project whose deletion of the file `a` was interrupted, and whose program protects the file again.
fn protected_again() -> Project {
    let file = |options: &str| {
        format!(
            "import * as local from \"stead/local\";\n\
             new local.File({{ path: \"b.txt\", content: \"b\" }}, {{ id: \"b\" }});\n\
             new local.File({{ path: \"a.txt\", content: \"a\" }}, {{ id: \"a\"{options} }});\n"
        )
    };
    let program = file("");
    let project = Project::only(&program);
    project.stead(&["up", "--yes"]).ok();
    let without: Vec<&str> = program.lines().filter(|line| !line.contains("a.txt")).collect();
    project.write("main.ts", &without.join("\n"));
    project.crash(&["up", "--yes"], "step.begin.durable:1");
    project.write("main.ts", &file(", preventDelete: true"));
    project
}

#[test]
fn command_without_a_program_leaves_an_interrupted_deletion_pending() {
    for command in [
        &["refresh", "--yes"][..],
        &["rename", "b", "c", "--yes"],
        &["state", "mv", "b", "c", "--yes"],
        &["state", "rm", "b", "--yes"],
        &["state", "protect", "a"],
        &["state", "protect", "b"],
        &["state", "unprotect", "a"],
    ] {
        let project = protected_again();
        let done = project.stead(command).ends(0);
        assert!(done.stderr.contains("local.File#a was under way"), "{command:?}: {}", done.stderr);
        assert_eq!(project.read("a.txt"), "a", "{command:?}");
        // Evaluated again, the program keeps the file.
        let up = project.stead(&["up", "--yes", "--no-moves", "--target-resource", "*#a"]).ends(0);
        assert!(up.stderr.contains("delete skipped"), "{command:?}: {}", up.stderr);
        assert_eq!(project.read("a.txt"), "a", "{command:?}");
    }
}

#[test]
fn command_that_needs_the_end_of_an_interrupted_deletion_is_refused() {
    for command in [
        &["state", "rm", "a", "--yes"][..],
        &["stack", "rm", "--yes", "--forget-resources"],
        &["stack", "rename", "prod", "--yes"],
        &["state", "mv", "b", "--to-stack", "prod", "--yes"],
        &["state", "resolve", "a", "--retry"],
    ] {
        let project = protected_again();
        project.stead(&["stack", "new", "-e", "prod"]).ok();
        let refused = project.stead(command).ends(15);
        assert!(refused.stderr.contains("is not finished"), "{command:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("`stead up"), "{command:?}: {}", refused.stderr);
        assert_eq!(project.read("a.txt"), "a", "{command:?}");
        project.stead(&["up", "--yes"]).ok();
        assert_eq!(project.read("a.txt"), "a", "{command:?}");
    }
}

#[test]
fn deletion_is_not_recorded_as_done_while_the_resource_exists() {
    let project = protected_again();
    let refused = project.stead(&["state", "resolve", "a", "--done"]).ends(15);
    assert!(
        refused.stderr.contains("still exists") && refused.stderr.contains("--not-created"),
        "{}",
        refused.stderr
    );
    assert!(project.stead(&["state", "ls"]).ok().contains("#a"));
    std::fs::remove_file(project.path("a.txt")).unwrap();
    project.stead(&["state", "resolve", "a", "--done"]).ok();
    assert!(!project.stead(&["state", "ls"]).ok().contains("#a"));
}

#[test]
fn deletion_of_a_command_is_not_sent_again_without_the_program() {
    let program = COMMAND.replace("log\"", "log\", delete: \"echo deleted >> log\"");
    let project = Project::only(&program);
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", "export const nothing = 1;\n");
    project.crash(&["up", "--yes"], "step.call.before");
    let stopped = project.stead(&["up", "--yes"]).ends(15);
    assert!(!stopped.stderr.contains("--retry"), "{}", stopped.stderr);
    let refused = project.stead(&["state", "resolve", "migrate", "--retry"]).ends(15);
    assert!(refused.stderr.contains("--not-created"), "{}", refused.stderr);
    project.stead(&["state", "resolve", "migrate", "--not-created"]).ok();
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "created\ndeleted\n");
}

const COMMAND: &str = r#"
import * as local from "stead/local";
new local.Command({ create: "echo created >> log" }, { id: "migrate" });
"#;

#[test]
fn interrupted_command_is_in_doubt_until_it_is_resolved() {
    let project = Project::only(COMMAND);
    project.crash(&["up", "--yes"], "step.call.after");
    assert_eq!(project.read("log"), "created\n");
    let stopped = project.stead(&["up", "--yes"]).ends(15);
    insta::assert_snapshot!(stopped.stderr);
    assert_eq!(project.stead(&["plan"]).code, 15);
    assert_eq!(project.read("log"), "created\n", "the command is not run again");
    let created = ["state", "resolve", "migrate", "--created", "by-hand"];
    let outputs = ["--output", "stdout=", "--output", "stderr=", "--output", "exitCode=0"];
    project.stead(&[&created[..], &outputs].concat()).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    assert_eq!(project.read("log"), "created\n");
}

#[test]
fn operation_resolved_as_not_done_is_repeated_by_the_next_up() {
    let project = Project::with(COMMAND);
    project.crash(&["up", "--yes"], "step.call.before");
    assert_eq!(project.stead(&["up", "--yes"]).code, 15);
    project.stead(&["state", "resolve", "dev:main:local.Command#migrate", "--not-created"]).ok();
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "created\n");
}

#[test]
fn retry_sends_the_same_request_again() {
    let project = Project::only(COMMAND);
    project.crash(&["up", "--yes"], "step.call.before");
    project.stead(&["state", "resolve", "migrate", "--retry"]).ok();
    assert_eq!(project.read("log"), "created\n");
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn invalid_resolution_is_refused() {
    let project = Project::with(COMMAND);
    project.crash(&["up", "--yes"], "step.call.before");
    assert_eq!(project.stead(&["state", "resolve", "migrate", "--done"]).code, 2);
    assert_eq!(project.stead(&["state", "resolve", "other", "--retry"]).code, 1);
    assert_eq!(project.stead(&["state", "resolve", "migrate"]).code, 2);
    assert_eq!(project.stead(&["up", "--yes"]).code, 15, "the operation is still in doubt");
}

#[cfg(unix)]
#[test]
fn killed_run_loses_no_operation_and_only_the_one_under_way_is_repeated() {
    let program = r#"
import * as local from "stead/local";
let last = "start";
for (let n = 0; n < 30; n++) {
  const made = new local.Command(
    { create: `sleep 0.01; echo ${n} > made-${n}; echo ${n} >> log`, triggers: [last], idempotent: true },
    { id: `c${n}` },
  );
  last = made.stdout;
}
"#;
    let project = Project::with(program);
    let mut child = project.spawn(&["up", "--yes", "--parallel", "4"]);
    while !project.has("made-2") {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    let _ = project.ran(child.wait_with_output().unwrap()).ends(-1);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "ls"]).ok().lines().count(), 31);
    let log = project.read("log");
    let runs = |n: usize| log.lines().filter(|line| *line == n.to_string()).count();
    let repeated: usize = (0..30).map(|n| runs(n).saturating_sub(1)).sum();
    assert!((0..30).all(|n| runs(n) >= 1));
    assert!(repeated <= 1, "only the idempotent operation under way may run again: {log}");
}
