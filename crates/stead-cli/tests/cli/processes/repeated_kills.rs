//! Runs on one stack are killed repeatedly: at crash points, between two events, at random times, during recovery.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::random_program::{Program, wait_for_orphans};
use crate::crashes::POINTS;
use crate::project::Project;
use crate::random::Random;

/// Crash point that only a run after a dead run reaches.
const AFTER_DEAD_RUN: &str = "run.open.after_seal";

/// Moment at which a run is killed.
#[derive(Clone, Debug)]
enum Kill {
    /// At a crash point, the n-th time that the run reaches it.
    AtPoint(String),
    /// This time after the n-th line of output.
    AfterLine(u64, Duration),
    /// This time after the start.
    After(Duration),
}

impl Kill {
    fn draw(random: &mut Random) -> Kill {
        // Release builds have no crash points.
        let kinds = if cfg!(debug_assertions) { 3 } else { 2 };
        match random.below(kinds) {
            0 => Kill::AfterLine(1 + random.below(14), Duration::from_micros(random.below(2_000))),
            1 => Kill::After(Duration::from_micros(random.below(60_000))),
            _ => {
                let at = random.below(POINTS.len() as u64 + 1) as usize;
                let point = POINTS.get(at).copied().unwrap_or(AFTER_DEAD_RUN);
                Kill::AtPoint(format!("{point}:{}", 1 + random.below(4)))
            }
        }
    }
}

/// Returns the arguments of a command. Removed and new resources are never one moved resource here.
fn arguments(command: &str) -> Vec<&str> {
    if command == "up" { vec!["up", "--yes", "--no-moves"] } else { vec![command, "--yes"] }
}

pub(super) fn busy_wait(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::thread::yield_now();
    }
}

/// Runs a command until it is killed. Returns false if the command succeeded before that.
fn run_until_killed(project: &Project, command: &str, kill: &Kill) -> bool {
    let mut stead = project.command(&[&arguments(command)[..], &["--json", "--parallel", "4"]].concat());
    stead.current_dir(project.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Kill::AtPoint(point) = kill {
        stead.env("STEAD_CRASH_AT", point);
    }
    let mut child = stead.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    match kill {
        Kill::AtPoint(_) => {}
        Kill::AfterLine(lines, then) => {
            for _ in 0..*lines {
                output.read_line(&mut text).unwrap();
            }
            busy_wait(*then);
            child.kill().unwrap();
        }
        Kill::After(time) => {
            busy_wait(*time);
            child.kill().unwrap();
        }
    }
    output.read_to_string(&mut text).unwrap();
    let ended = child.wait_with_output().unwrap();
    project.printed(text.as_bytes());
    project.printed(&ended.stderr);
    wait_for_orphans(project);
    match ended.status.code() {
        None => true,
        Some(0) => false,
        Some(code) => {
            panic!("exit {code} before {kill:?}\n{text}\n{}", String::from_utf8_lossy(&ended.stderr))
        }
    }
}

pub(super) fn from_environment(key: &str, default: u64) -> u64 {
    std::env::var(key).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn two_hundred_kills_lose_and_duplicate_no_resource() {
    let (rounds, seed) =
        (from_environment("STEAD_TRIAL_ROUNDS", 200), from_environment("STEAD_TRIAL_SEED", 1));
    let mut random = Random(seed);
    let mut program = Program::default();
    let project = Project::in_memory("");
    let mut kills = 0;
    for round in 0..rounds {
        program.edit(&mut random);
        project.write("main.ts", &program.text());
        let command = if random.one_in(8) { "destroy" } else { "up" };
        for _ in 0..1 + random.below(2) {
            let kill = Kill::draw(&mut random);
            kills += u64::from(run_until_killed(&project, command, &kill));
            let when = format!("seed {seed}, round {round}, {command}, {kill:?}");
            let verified = project.stead(&["state", "verify"]);
            // Before the first write there is no stack.
            assert!(
                verified.code == 0 || verified.stderr.contains("there is no stack"),
                "{when}: {}",
                verified.stderr
            );
        }
        let when = format!("seed {seed}, round {round}, {command}");
        let finished = project.stead(&arguments(command));
        assert_eq!(finished.code, 0, "{when}:\n{}\n{}", finished.stdout, finished.stderr);
        let empty = Program::default();
        let left = if command == "destroy" { &empty } else { &program };
        left.assert_applied(&project, &when);
        if project.path(".stead/state").exists() {
            // A destroy leaves nothing, an `up` the canary too.
            let expected = left.len() + usize::from(command == "up");
            assert_eq!(project.stead(&["state", "ls"]).ok().lines().count(), expected, "{when}");
        }
        if command == "up" {
            assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{when}");
        }
    }
    assert!(kills > rounds / 4, "{kills} of {rounds}");
    project.stead(&["destroy", "--yes"]).ok();
    let left: Vec<_> = project.all_files().into_iter().map(|(path, _)| path).collect();
    let half_written = |path: &&std::path::PathBuf| path.to_string_lossy().contains("/.tmp-");
    assert_eq!(left.iter().find(half_written), None, "temporary files of dead runs were deleted");
}
