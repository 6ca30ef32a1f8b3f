//! One stack, killed again and again: at named points, between two events, at any time, and while it recovers.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::cloud::{Chance, Program, wait_for_orphans};
use crate::crashes::POINTS;
use crate::project::Project;

/// Only who comes after a dead one gets here.
const AFTER_ANOTHER: &str = "run.open.after_seal";

#[derive(Clone, Debug)]
enum Blow {
    /// At a named point, the n-th time it is passed.
    Named(String),
    /// So long after the n-th line of output.
    AfterLine(u64, Duration),
    /// So long after it was started.
    After(Duration),
}

impl Blow {
    fn draw(chance: &mut Chance) -> Blow {
        // The binary that ships has no way to be told to die.
        let kinds = if cfg!(debug_assertions) { 3 } else { 2 };
        match chance.below(kinds) {
            0 => Blow::AfterLine(1 + chance.below(14), Duration::from_micros(chance.below(2_000))),
            1 => Blow::After(Duration::from_micros(chance.below(60_000))),
            _ => {
                let at = chance.below(POINTS.len() as u64 + 1) as usize;
                let point = POINTS.get(at).copied().unwrap_or(AFTER_ANOTHER);
                Blow::Named(format!("{point}:{}", 1 + chance.below(4)))
            }
        }
    }
}

/// What is removed and what is new are different things, however alike they look.
fn asked(command: &str) -> Vec<&str> {
    if command == "up" { vec!["up", "--yes", "--no-moves"] } else { vec![command, "--yes"] }
}

fn pass(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::thread::yield_now();
    }
}

/// Runs the command until the blow falls. `false`: it ended before that, and then it did what it was asked.
fn strike(project: &Project, command: &str, blow: &Blow) -> bool {
    let mut stead = project.command(&[&asked(command)[..], &["--json", "--parallel", "4"]].concat());
    stead.current_dir(project.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Blow::Named(point) = blow {
        stead.env("STEAD_CRASH_AT", point);
    }
    let mut child = stead.spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    match blow {
        Blow::Named(_) => {}
        Blow::AfterLine(lines, then) => {
            for _ in 0..*lines {
                output.read_line(&mut said).unwrap();
            }
            pass(*then);
            child.kill().unwrap();
        }
        Blow::After(time) => {
            pass(*time);
            child.kill().unwrap();
        }
    }
    output.read_to_string(&mut said).unwrap();
    let ended = child.wait_with_output().unwrap();
    wait_for_orphans(project);
    match ended.status.code() {
        None => true,
        Some(0) => false,
        Some(code) => {
            panic!("exit {code} before {blow:?}\n{said}\n{}", String::from_utf8_lossy(&ended.stderr))
        }
    }
}

fn from_environment(key: &str, default: u64) -> u64 {
    std::env::var(key).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn killed_two_hundred_times_nothing_is_lost_or_doubled() {
    let (rounds, seed) =
        (from_environment("STEAD_TRIAL_ROUNDS", 200), from_environment("STEAD_TRIAL_SEED", 1));
    let mut chance = Chance(seed);
    let mut program = Program::default();
    let project = Project::in_memory("");
    let mut deaths = 0;
    for round in 0..rounds {
        program.edit(&mut chance);
        project.write("main.ts", &program.text());
        let command = if chance.one_in(8) { "destroy" } else { "up" };
        for _ in 0..1 + chance.below(2) {
            let blow = Blow::draw(&mut chance);
            deaths += u64::from(strike(&project, command, &blow));
            let when = format!("seed {seed}, round {round}, {command}, {blow:?}");
            let verified = project.stead(&["state", "verify"]);
            // Before the first write there is no stack.
            assert!(
                verified.code == 0 || verified.stderr.contains("there is no stack"),
                "{when}: {}",
                verified.stderr
            );
        }
        let when = format!("seed {seed}, round {round}, {command}");
        let finished = project.stead(&asked(command));
        assert_eq!(finished.code, 0, "{when}:\n{}\n{}", finished.stdout, finished.stderr);
        let nothing = Program::default();
        let left = if command == "destroy" { &nothing } else { &program };
        left.must_be_in(&project, &when);
        if project.path(".stead/state").exists() {
            assert_eq!(project.stead(&["state", "ls"]).ok().lines().count(), left.len(), "{when}");
        }
        if command == "up" {
            assert_eq!(project.stead(&["plan", "--exit-code"]).code, 0, "{when}");
        }
    }
    assert!(deaths > rounds / 4, "{deaths} of {rounds}");
    project.stead(&["destroy", "--yes"]).ok();
    let left: Vec<_> = project.everything().into_iter().map(|(path, _)| path).collect();
    let half_written = |path: &&std::path::PathBuf| path.to_string_lossy().contains("/.tmp-");
    assert_eq!(left.iter().find(half_written), None, "what the dead left was swept");
}
