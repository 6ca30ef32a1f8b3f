//! A second Ctrl-C stops a run at once. The operations under way are recorded, and the next run settles them.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use super::random_program::wait_for_orphans;
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
    // A terminal sends the signal to the whole process group.
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
}

/// Interrupts a run while its script runs, and again after it reported that the script will finish.
fn interrupt_twice(project: &Project) {
    let mut command = project.command(&["up", "--yes"]);
    let command = command.current_dir(project.path("")).process_group(0);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !project.has("log") {
        std::thread::yield_now();
    }
    interrupt(&child);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut output = String::new();
    while !output.contains("stopping: 1 under way will finish") {
        assert_ne!(stderr.read_line(&mut output).unwrap(), 0, "{output}");
    }
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130), "{output}");
    wait_for_orphans(project); // the script does not outlive the run
    assert_eq!(project.read("log"), "started\n");
    assert!(!project.has("after.txt"));
    project.stead(&["state", "verify"]).ok();
}

#[test]
fn idempotent_operation_of_a_twice_interrupted_run_is_repeated() {
    let project = Project::in_memory(&program(true));
    interrupt_twice(&project);
    project.write("go", "");
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "started\nstarted\nmade\n");
    assert!(project.has("after.txt"));
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn non_idempotent_operation_of_a_twice_interrupted_run_is_in_doubt() {
    let project = Project::in_memory(&program(false));
    interrupt_twice(&project);
    project.write("go", "");
    let stopped = project.stead(&["up", "--yes"]).ends(15);
    assert!(
        stopped.stderr.contains("it is unknown whether the create of dev:main:local.Command#slow happened")
    );
    assert_eq!(project.read("log"), "started\n", "the script was not run again");
    project.stead(&["state", "resolve", "slow", "--not-created"]).ok();
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.read("log"), "started\nstarted\nmade\n");
}
