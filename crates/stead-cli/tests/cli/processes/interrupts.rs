//! A second Ctrl-C: leave now. What was under way is on record, and the next run knows.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use super::cloud::wait_for_orphans;
use crate::project::Project;

fn program(idempotent: bool) -> String {
    let create = "echo started >> log; while [ ! -e go ]; do sleep 0.02; done; echo made >> log";
    format!(
        "import * as local from \"stead/local\";\n\
         const slow = new local.Command({{ create: {create:?}, idempotent: {idempotent} }}, {{ id: \"slow\" }});\n\
         new local.File({{ path: \"after.txt\", content: slow.stdout }}, {{ id: \"after\" }});\n"
    )
}

fn interrupt(child: &Child) {
    // As a terminal does it: to the whole group.
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
}

/// Interrupted once while the script runs, and again when it said that it lets the script finish.
fn interrupted_twice(project: &Project) {
    let mut command = project.command(&["up", "--yes"]);
    let command = command.current_dir(project.path("")).process_group(0);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !project.has("log") {
        std::thread::yield_now();
    }
    interrupt(&child);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("stopping: 1 under way will finish") {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "{said}");
    }
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    wait_for_orphans(project); // the script does not outlive the run that was told to leave
    assert_eq!(project.read("log"), "started\n");
    assert!(!project.has("after.txt"));
    project.stead(&["state", "verify"]).ok();
}

#[test]
fn interrupted_twice_what_may_be_repeated_is_repeated_by_the_next_run() {
    let project = Project::in_memory(&program(true));
    interrupted_twice(&project);
    project.write("go", "");
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "started\nstarted\nmade\n");
    assert!(project.has("after.txt"));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn interrupted_twice_what_may_not_be_repeated_is_in_doubt() {
    let project = Project::in_memory(&program(false));
    interrupted_twice(&project);
    project.write("go", "");
    let asked = project.stead(&["up", "--yes"]).ends(15);
    assert!(
        asked.stderr.contains("it is unknown whether the create of dev:main:local.Command#slow happened")
    );
    assert_eq!(project.read("log"), "started\n", "it was not run a second time");
    project.stead(&["state", "resolve", "slow", "--not-created"]).ok();
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "started\nstarted\nmade\n");
}
