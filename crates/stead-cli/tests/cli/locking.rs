//! The lock of a stack: one run holds it, others report the holder or wait.

use std::io::{BufRead as _, Read as _};
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

use crate::project::Project;

const SLOW: &str = r#"
import * as local from "stead/local";
new local.Command({ create: "touch started; while [ ! -e go ]; do sleep 0.02; done", idempotent: true }, { id: "slow" });
"#;

/// Waits until another process has caused the condition.
fn wait_for(mut done: impl FnMut() -> bool) {
    while !done() {
        std::thread::yield_now();
    }
}

#[test]
fn second_run_reports_the_holder_of_the_lock() {
    let project = Project::with(SLOW);
    let first = project.spawn(&["up", "--yes"]);
    wait_for(|| project.has("started"));
    let second = project.stead(&["up", "--yes"]).ends(14);
    assert!(second.stderr.contains("ST0204") && second.stderr.contains("ada on "), "{}", second.stderr);
    let plan = project.stead(&["plan"]).ends(0);
    assert!(plan.stderr.contains("has held the lock since"), "{}", plan.stderr);
    project.write("go", "");
    let first = project.ran(first.wait_with_output().unwrap());
    first.ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[test]
fn waiting_run_reports_the_holder_and_then_acquires_the_lock() {
    let project = Project::only(SLOW);
    let first = project.spawn(&["up", "--yes"]);
    wait_for(|| project.has("started"));
    let mut second = project.spawn(&["up", "--yes", "--wait"]);
    let mut stderr = std::io::BufReader::new(second.stderr.take().unwrap());
    let mut output = String::new();
    stderr.read_line(&mut output).unwrap();
    assert!(output.starts_with("Waiting: ada on "), "{output}");
    project.write("go", "");
    project.ran(first.wait_with_output().unwrap()).ok();
    let second = project.ran(second.wait_with_output().unwrap()).ok();
    assert!(
        second.starts_with("Nothing to do: the recorded state of 1 resource matches the program."),
        "{second}"
    );
}

#[test]
fn unlock_fences_the_previous_run() {
    let project = Project::with(SLOW);
    let first = project.spawn(&["up", "--yes"]);
    wait_for(|| project.has("started"));
    let unlocked = project.stead(&["unlock", "--yes"]).ok();
    assert!(unlocked.contains("Took the lock from ada"), "{unlocked}");
    project.write("go", "");
    let first = project.ran(first.wait_with_output().unwrap()).ends(14);
    assert!(first.stderr.contains("ST0205"), "{}", first.stderr);
    project.stead(&["up", "--yes"]).ok();
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}

#[cfg(unix)]
#[test]
fn interrupt_lets_running_operations_finish_and_exits_130() {
    let project = Project::only(&format!(
        "{SLOW}\nnew local.Command({{ create: \"touch second\", triggers: [\"x\"] }}, {{ id: \"second\" }});"
    ));
    // A terminal runs the command in its own process group, and sends Ctrl-C to the whole group.
    let mut first = project.command(&["up", "--yes", "--parallel", "1"]);
    let first = first.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut first = first.spawn().unwrap();
    wait_for(|| project.has("started"));
    let group = format!("-{}", first.id());
    assert!(std::process::Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
    let mut stderr = std::io::BufReader::new(first.stderr.take().unwrap());
    let mut output = String::new();
    while !output.contains("stopping: 1 under way will finish") {
        assert_ne!(stderr.read_line(&mut output).unwrap(), 0, "{output}");
    }
    project.write("go", "");
    stderr.read_to_string(&mut output).unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(130), "{output}");
    assert!(output.contains("1 not started"), "{output}");
    assert!(!project.has("second"));
    assert_eq!(project.stead(&["state", "ls"]).ok(), "dev:main:local.Command#slow\n");
    project.stead(&["up", "--yes"]).ok();
}

#[cfg(unix)]
#[test]
fn second_interrupt_stops_at_once_and_lists_the_operations_in_doubt() {
    let project = Project::with(SLOW);
    let mut first = project.command(&["up", "--yes"]);
    let first = first.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut first = first.spawn().unwrap();
    wait_for(|| project.has("started"));
    let group = format!("-{}", first.id());
    let interrupt = || std::process::Command::new("kill").args(["-INT", "--", &group]).status().unwrap();
    assert!(interrupt().success());
    let mut stderr = std::io::BufReader::new(first.stderr.take().unwrap());
    let mut output = String::new();
    while !output.contains("stopping: 1 under way will finish") {
        assert_ne!(stderr.read_line(&mut output).unwrap(), 0, "{output}");
    }
    assert!(interrupt().success());
    stderr.read_to_string(&mut output).unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(130), "{output}");
    project.write("go", "");
    assert!(output.contains("1 operation was under way when the run stopped"), "{output}");
    assert!(output.contains("    create dev:main:local.Command#slow\n"), "{output}");
    assert!(
        output.contains("`stead up -e dev` first repeats the operations that are safe to repeat"),
        "{output}"
    );
    // The command is idempotent, so the next run repeats it.
    let again = project.stead(&["up", "--yes"]).ends(0);
    assert!(again.stderr.contains("finishing the create of main:local.Command#slow"), "{}", again.stderr);
}

#[test]
fn eight_simultaneous_runs_leave_a_sound_state() {
    let project = Project::only(
        "import * as local from \"stead/local\";\nfor (let n = 0; n < 20; n++) new local.Data({ value: n }, { id: `d${n}` });\n",
    );
    let runs: Vec<_> = (0..8).map(|_| project.spawn(&["up", "--yes"])).collect();
    let codes: Vec<i32> =
        runs.into_iter().map(|run| project.ran(run.wait_with_output().unwrap()).code).collect();
    assert!(codes.contains(&0) && codes.iter().all(|code| [0, 14].contains(code)), "{codes:?}");
    assert_eq!(project.stead(&["state", "ls"]).ok().lines().count(), 20);
    assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0);
}
