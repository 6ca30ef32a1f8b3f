//! Answers for commands in doubt: the provider cannot look, so that the answer alone counts.

use crate::project::Project;

/// A command that logs its runs, with the trigger `n`; a file uses its output.
fn program(n: u32, options: &str) -> String {
    format!(
        "import * as local from \"stead/local\";\n\
         const a = new local.Command({{ create: \"echo created >> log; echo 10.0.0.1\", \
         update: \"test ! -e broken || exit 1; echo updated >> log; echo 10.0.0.2\", triggers: [{n}]{options} }}, \
         {{ id: \"a\" }});\n\
         new local.File({{ path: \"ip\", content: `ip=${{a.stdout}}` }}, {{ id: \"ip\" }});\n"
    )
}

/// Returns a project whose update of the command was killed before it began.
fn killed_update(options: &str) -> Project {
    let project = Project::with(&program(1, options));
    project.stead(&["up", "--yes"]).ok();
    project.write("main.ts", &program(2, options));
    project.crash(&["up", "--yes"], "step.call.before");
    project
}

#[test]
fn update_resolved_as_not_done_is_planned_again() {
    let project = killed_update("");
    assert_eq!(project.stead(&["up", "--yes"]).code, 15);
    project.stead(&["state", "resolve", "a", "--not-created"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 10, "the update is still to be made");
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "created\nupdated\n");
    assert_eq!(project.read("ip"), "ip=10.0.0.2\n");
}

#[test]
fn idempotent_update_whose_repeat_fails_is_planned_again() {
    let project = killed_update(", idempotent: true");
    project.write("broken", "");
    // Recovery repeats the update, which fails; the run that follows plans it again.
    assert_eq!(project.stead(&["up", "--yes"]).code, 1);
    std::fs::remove_file(project.path("broken")).unwrap();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 10, "the update is still to be made");
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "created\nupdated\n");
    assert_eq!(project.read("ip"), "ip=10.0.0.2\n");
}

#[test]
fn command_resolved_as_created_needs_its_outputs() {
    let project = Project::with(&program(1, ""));
    project.crash(&["up", "--yes"], "step.call.before");
    let created = ["state", "resolve", "a", "--created", "by-hand"];
    let refused = project.stead(&created).ends(15);
    insta::assert_snapshot!(refused.stderr);
    assert_eq!(project.stead(&["up", "--yes"]).code, 15, "the operation is still in doubt");
    let some = [&created[..], &["--output", "stdout=10.0.0.9"]].concat();
    let refused = project.stead(&some).ends(15);
    assert!(refused.stderr.contains("needs the outputs `stderr`, `exitCode`"), "{}", refused.stderr);
    let wrong = [&some[..], &["--output", "stderr=", "--output", "exitCode=zero"]].concat();
    let refused = project.stead(&wrong).ends(1);
    assert!(refused.stderr.contains("`exitCode`"), "{}", refused.stderr);
    let all = [&some[..], &["--output", "stderr=", "--output", "exitCode=0"]].concat();
    project.stead(&all).ok();
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("ip"), "ip=10.0.0.9");
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn output_belongs_to_an_answer_that_records_it() {
    let project = Project::with(&program(1, ""));
    project.crash(&["up", "--yes"], "step.call.before");
    let resolve = |more: &[&str]| project.stead(&[&["state", "resolve", "a"], more].concat()).code;
    assert_eq!(resolve(&["--not-created", "--output", "stdout=x"]), 2);
    assert_eq!(resolve(&["--retry", "--output", "stdout=x"]), 2);
    assert_eq!(resolve(&["--created", "x", "--output", "stdout"]), 2);
}

#[test]
fn failed_repeat_that_needs_an_answer_ends_with_15_every_time() {
    let create = "test ! -e broken || exit 1; echo made";
    let project = Project::only(&format!(
        "import * as local from \"stead/local\";\n\
         new local.Command({{ create: {create:?}, idempotent: true }}, {{ id: \"a\" }});\n"
    ));
    project.crash(&["up", "--yes"], "step.call.before");
    project.write("broken", "");
    for command in [&["up", "--yes"][..], &["refresh", "--yes"], &["destroy", "--yes"]] {
        let stopped = project.stead(command).ends(15);
        assert!(stopped.stderr.contains("ST0206"), "{}", stopped.stderr);
    }
    assert_eq!(project.stead(&["state", "resolve", "a", "--retry"]).code, 15);
    std::fs::remove_file(project.path("broken")).unwrap();
    project.stead(&["state", "resolve", "a", "--retry"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn output_that_is_too_long_for_a_value_is_never_passed_on() {
    let program = |content: &str| {
        format!(
            "import * as local from \"stead/local\";\n\
             const a = new local.Command({{ create: \"echo ran >> log; head -c 30000000 /dev/zero\" }}, {{ id: \"a\" }});\n\
             new local.File({{ path: \"copy\", content: {content} }}, {{ id: \"copy\" }});\n"
        )
    };
    let project = Project::with(&program("a.stdout"));
    let failed = project.stead(&["up", "--yes"]).ends(1);
    assert!(
        failed.stderr.contains("it printed 30000000 bytes, and `stdout` can hold 1048576"),
        "{}",
        failed.stderr
    );
    let missing = project.stead(&["up", "--yes"]).ends(1);
    assert!(
        missing.stderr.contains("no value of `stdout` is recorded for dev:main:local.Command#a"),
        "{}",
        missing.stderr
    );
    assert!(!project.has("copy"));
    project.write("main.ts", &program("`${a.exitCode}`"));
    project.stead(&["up", "--yes"]).ok();
    assert_eq!((project.read("copy").as_str(), project.read("log").as_str()), ("0", "ran\n"));
}
