//! Processes of a command end with their run, however it ends, and a repeat never runs beside them.

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::project::Project;

/// A command whose descendants go on until they are ended or `go` exists; `grandchild` holds the id of one of them.
fn program(options: &str) -> String {
    let create = "if [ -e grandchild ] && grep -vq ') Z ' /proc/$(cat grandchild)/stat 2>/dev/null; then echo beside >> log; fi; \
                  echo started >> log; \
                  (while [ ! -e go ]; do sleep 0.05; done; echo went on >> log) & echo $! > grandchild.new; \
                  mv grandchild.new grandchild; wait";
    format!(
        "import * as local from \"stead/local\";\n\
         new local.Command({{ create: {create:?}, idempotent: true }}, {{ id: \"slow\"{options} }});\n"
    )
}

/// Polls a condition until it holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::yield_now();
    }
}

fn runs(id: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(id.trim()).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

fn started(project: &Project) -> (Child, String) {
    let child = project.spawn(&["up", "--yes"]);
    until("the start of the command", || project.has("grandchild"));
    (child, project.read("grandchild"))
}

#[test]
fn descendants_end_when_stead_is_killed_and_the_repeat_runs_alone() {
    let project = Project::in_memory(&program(""));
    let (mut child, grandchild) = started(&project);
    assert!(runs(&grandchild));
    child.kill().unwrap();
    child.wait().unwrap();
    // The repeat begins at once, and ends or waits for the processes of the killed run first.
    let again = project.spawn(&["up", "--yes"]);
    until("the second start", || project.read("grandchild") != grandchild);
    assert!(!runs(&grandchild));
    project.write("go", "");
    let done = project.ran(again.wait_with_output().unwrap());
    done.ok();
    assert_eq!(project.read("log"), "started\nstarted\nwent on\n");
}

#[test]
fn descendants_end_at_a_timeout() {
    let project = Project::in_memory(&program(", timeouts: { create: 1 }"));
    let (child, grandchild) = started(&project);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(15));
    until("the end of the grandchild", || !runs(&grandchild));
    assert_eq!(project.read("log"), "started\n");
}

#[test]
fn descendants_end_at_the_second_request_to_terminate() {
    let project = Project::in_memory(&program(""));
    let (mut child, grandchild) = started(&project);
    signal(&child, "TERM");
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut output = String::new();
    while !output.contains("stopping: 1 under way will finish") {
        assert_ne!(std::io::BufRead::read_line(&mut stderr, &mut output).unwrap(), 0, "{output}");
    }
    assert!(runs(&grandchild), "the first request lets it finish");
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130), "{output}");
    until("the end of the grandchild", || !runs(&grandchild));
    assert_eq!(project.read("log"), "started\n");
}

#[test]
fn failed_command_leaves_no_process_to_run_beside_the_next_attempt() {
    let create = "(while [ ! -e go ]; do sleep 0.05; done; echo late >> log) >/dev/null 2>&1 & \
                  echo $! > grandchild; echo start >> log; exit 1";
    let project = Project::in_memory(&format!(
        "import * as local from \"stead/local\";\n\
         new local.Command({{ create: {create:?}, idempotent: true }}, {{ id: \"c\" }});\n"
    ));
    for _ in 0..2 {
        let failed = project.stead(&["up", "--yes"]).ends(1).stderr;
        assert!(failed.contains("exit code 1"), "{failed}");
        assert!(!runs(&project.read("grandchild")));
    }
    assert_eq!(project.read("log"), "start\nstart\n");
}

/// Kills a run and the watcher of its command, so that the command goes on.
fn kill_with_watcher(mut child: Child) {
    let parent = child.id().to_string();
    let is_watcher = |id: &String| {
        let stat = std::fs::read_to_string(Path::new("/proc").join(id).join("stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').collect();
        let line = std::fs::read_to_string(Path::new("/proc").join(id).join("cmdline")).unwrap_or_default();
        line.contains("read -r ended") && fields.get(1) == Some(&parent.as_str())
    };
    let ids =
        std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let watchers: Vec<String> = ids.filter(is_watcher).collect();
    assert_eq!(watchers.len(), 1, "{watchers:?}");
    assert!(Command::new("kill").args(["-s", "KILL", &watchers[0]]).status().unwrap().success());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn repeat_ends_a_command_that_outlived_its_run() {
    let project = Project::in_memory(&program(""));
    let (child, grandchild) = started(&project);
    kill_with_watcher(child);
    assert!(runs(&grandchild));
    let again = project.spawn(&["up", "--yes"]);
    until("the second start", || project.read("grandchild") != grandchild);
    assert!(!runs(&grandchild));
    project.write("go", "");
    project.ran(again.wait_with_output().unwrap()).ok();
    assert_eq!(project.read("log"), "started\nstarted\nwent on\n");
}

#[test]
fn command_in_doubt_that_still_runs_is_reported() {
    let create = "touch began; while [ ! -e go ]; do sleep 0.05; done";
    let project = Project::in_memory(&format!(
        "import * as local from \"stead/local\";\nnew local.Command({{ create: {create:?} }}, {{ id: \"slow\" }});\n"
    ));
    let child = project.spawn(&["up", "--yes"]);
    until("the start of the command", || project.has("began"));
    kill_with_watcher(child);
    let stopped = project.stead(&["up", "--yes"]).ends(15);
    assert!(stopped.stderr.contains("Its command still runs on this machine"), "{}", stopped.stderr);
    project.write("go", "");
}

/// A command that ignores the request to terminate, and writes a line with the number of each writer that runs.
fn writer(log: &Path, idempotent: bool) -> String {
    let log = log.display();
    let create = format!(
        "trap '' TERM; echo $$ >> {log}.pids; while [ ! -e {log}.go ]; do \
         for id in $(cat {log}.pids); do grep -vq ') Z ' /proc/$id/stat 2>/dev/null && echo $id; done | wc -l >> {log}; sleep 0.05; done"
    );
    format!(
        "import * as local from \"stead/local\";\n\
         new local.Command({{ create: {create:?}, idempotent: {idempotent} }}, {{ id: \"c\", timeouts: {{ create: 600 }} }});\n"
    )
}

/// Returns the largest number of writers that ran at once.
fn writers(log: &Path) -> u32 {
    let lines = std::fs::read_to_string(log).unwrap();
    lines.lines().filter_map(|line| line.trim().parse().ok()).max().unwrap()
}

fn starts(log: &Path) -> usize {
    std::fs::read_to_string(log.with_extension("pids")).map_or(0, |pids| pids.lines().count())
}

#[test]
fn command_that_did_not_happen_has_ended_before_the_next_attempt_begins() {
    let project = Project::in_memory("");
    let log = project.path("log");
    project.write("main.ts", &writer(&log, false));
    let child = project.spawn(&["up", "--yes"]);
    until("the first start", || log.exists());
    kill_with_watcher(child);
    let refused = project.stead(&["state", "resolve", "c", "--created", "1", "--output", "stdout="]);
    assert!(refused.ends(15).stderr.contains("its command still runs on this machine"));
    project.stead(&["state", "resolve", "c", "--not-created"]).ok();
    let again = project.spawn(&["up", "--yes"]);
    until("the second start", || starts(&log) == 2);
    let lines = std::fs::read_to_string(&log).unwrap().len();
    until("the second writer", || std::fs::read_to_string(&log).unwrap().len() > lines + 10);
    std::fs::write(log.with_extension("go"), "").unwrap();
    project.ran(again.wait_with_output().unwrap()).ok();
    assert_eq!(writers(&log), 1);
}

#[test]
fn repeat_from_another_copy_of_the_project_ends_the_command_first() {
    // A secret would need the key of both.
    let (one, other) = (Project::only(""), Project::only(""));
    let log = one.path("log");
    for project in [&one, &other] {
        project
            .write("stead.toml", &format!("project = \"shop\"\n[state]\npath = {:?}\n", one.path("shared")));
        project.write("main.ts", &writer(&log, true));
    }
    let mut child = one.spawn(&["up", "--yes"]);
    until("the first start", || log.exists());
    other.stead(&["unlock", "--yes"]).ok();
    let again = other.spawn(&["up", "--yes"]);
    until("the second start", || starts(&log) == 2);
    let lines = std::fs::read_to_string(&log).unwrap().len();
    until("the second writer", || std::fs::read_to_string(&log).unwrap().len() > lines + 10);
    std::fs::write(log.with_extension("go"), "").unwrap();
    other.ran(again.wait_with_output().unwrap()).ok();
    assert_eq!(writers(&log), 1);
    assert!(!child.wait().unwrap().success(), "the first run was fenced");
}

#[test]
fn exceeded_file_size_limit_is_reported() {
    let create = "ulimit -f 1; head -c 100000 /dev/zero > big";
    let project = Project::in_memory(&format!(
        "import * as local from \"stead/local\";\nnew local.Command({{ create: {create:?} }}, {{ id: \"big\" }});\n"
    ));
    let failed = project.stead(&["up", "--yes"]);
    assert!(
        failed.stderr.contains("SIGXFSZ (it hit the limit of file size, `ulimit -f`)"),
        "{}",
        failed.stderr
    );

    // The limit holds for stead too: its own writes fail with a message, not with a signal.
    let project =
        Project::in_memory("import * as local from \"stead/local\";\nnew local.Data({ value: 1 });\n");
    let stead = env!("CARGO_BIN_EXE_stead");
    let output = Command::new("/bin/sh")
        .args(["-c", "ulimit -f 0; exec \"$0\" up --yes -C \"$1\"", stead])
        .arg(project.path(""))
        .output()
        .unwrap();
    let failed = project.ran(output).ends(1);
    assert!(failed.stderr.contains("error[ST"), "{}", failed.stderr);
}
