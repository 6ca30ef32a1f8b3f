//! `kill -9` at named points: the next `up` finishes the work, without a duplicate, or asks.

use crate::project::Project;

/// Every step leaves a line in a log that nobody takes away, so that a second execution shows.
const PROGRAM: &str = r#"
import * as local from "stead/local";
const a = new local.File({ path: "a.txt", content: "a" }, { id: "a" });
const run = new local.Command(
  { create: "echo created >> log", delete: "echo deleted >> log", triggers: [a.sha256], idempotent: true },
  { id: "run" },
);
new local.File({ path: "b.txt", content: `b${run.exitCode}` }, { id: "b" });
"#;

/// Where a process can be killed that opens a stack which nobody left half-way.
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
fn killed_at_any_point_the_next_up_finishes_the_work() {
    for point in POINTS {
        for nth in 1..=3 {
            let project = Project::with(PROGRAM);
            let at = format!("{point}:{nth}");
            let output = project.command(&["up", "--yes"]).env("STEAD_CRASH_AT", &at).output().unwrap();
            if output.status.code() == Some(0) {
                continue; // the point is passed fewer times than that
            }
            assert_eq!(output.status.code(), None, "{at}");
            project.stead(&["up", "--yes"]).ok();
            assert_eq!(project.read("b.txt"), "b0", "{at}");
            assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{at}");
            assert_eq!(project.stead(&["state", "ls"]).ok().lines().count(), 3, "{at}");
            project.stead(&["destroy", "--yes"]).ok();
            assert!(!project.has("a.txt") && !project.has("b.txt"), "{at}");
        }
    }
}

#[test]
fn killed_while_destroying_the_next_destroy_finishes() {
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
fn a_deletion_that_was_killed_is_not_sent_again_once_somebody_protects_the_thing() {
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

const COMMAND: &str = r#"
import * as local from "stead/local";
new local.Command({ create: "echo created >> log" }, { id: "migrate" });
"#;

#[test]
fn a_command_that_was_under_way_is_in_doubt_and_a_person_settles_it() {
    let project = Project::with(COMMAND);
    project.crash(&["up", "--yes"], "step.call.after");
    assert_eq!(project.read("log"), "created\n");
    let asked = project.stead(&["up", "--yes"]).ends(15);
    insta::assert_snapshot!(asked.stderr);
    assert_eq!(project.stead(&["plan"]).code, 15);
    assert_eq!(project.read("log"), "created\n", "it is not run a second time");
    project.stead(&["state", "resolve", "migrate", "--created", "by-hand"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
    assert_eq!(project.read("log"), "created\n");
}

#[test]
fn what_did_not_happen_is_done_by_the_next_up() {
    let project = Project::with(COMMAND);
    project.crash(&["up", "--yes"], "step.call.before");
    assert_eq!(project.stead(&["up", "--yes"]).code, 15);
    project.stead(&["state", "resolve", "dev:main:local.Command#migrate", "--not-created"]).ok();
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "created\n");
}

#[test]
fn a_retry_sends_the_same_request_again() {
    let project = Project::with(COMMAND);
    project.crash(&["up", "--yes"], "step.call.before");
    project.stead(&["state", "resolve", "migrate", "--retry"]).ok();
    assert_eq!(project.read("log"), "created\n");
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn a_wrong_answer_is_refused() {
    let project = Project::with(COMMAND);
    project.crash(&["up", "--yes"], "step.call.before");
    assert_eq!(project.stead(&["state", "resolve", "migrate", "--done"]).code, 2);
    assert_eq!(project.stead(&["state", "resolve", "other", "--retry"]).code, 1);
    assert_eq!(project.stead(&["state", "resolve", "migrate"]).code, 2);
    assert_eq!(project.stead(&["up", "--yes"]).code, 15, "the question stands");
}

#[cfg(unix)]
#[test]
fn killed_from_outside_in_the_middle_nothing_is_lost_and_nothing_doubled() {
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
    child.wait().unwrap();
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["state", "ls"]).ok().lines().count(), 30);
    let log = project.read("log");
    let runs = |n: usize| log.lines().filter(|line| *line == n.to_string()).count();
    let repeated: usize = (0..30).map(|n| runs(n).saturating_sub(1)).sum();
    assert!((0..30).all(|n| runs(n) >= 1));
    assert!(repeated <= 1, "only what was under way may run again, and it said that this is fine: {log}");
}
