//! A crowd of AWS resources comes up, changes and goes, while stead and the served cloud are killed and calls fail.
//!
//! Everything is a real process: `stead up -t aws` speaks over loopback with `stead cloud serve`, whose folder is its disk.
//! Identifiers of several types are made by the cloud, so that a request that is sent twice with two tokens leaves a
//! duplicate that nothing refers to.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::crowd_cloud::CrowdCloud;
use super::crowd_program::{self, Version};
use super::repeated_kills::{busy_wait, from_environment};
use crate::crashes::POINTS;
use crate::project::{Project, Ran};
use crate::random::Random;

/// Runs with faults for each of the three changes, unless one succeeds before.
const MOST_RUNS: u64 = 40;

/// Sentence about an operation in doubt that only a person can settle.
const QUESTION: &str = "stead does not repeat the operation on its own";

/// Part of the event of a create.
const CREATES: &str = "\"operation\":\"create\"";

/// Kills that a run meets.
#[derive(Debug, Default)]
struct Fate {
    /// Crash point of stead, and how often it is reached before.
    dies_at: Option<String>,
    /// Line of output after which stead is killed, and the time from then.
    killed_after: Option<(u64, Duration)>,
    /// Line of output after which the cloud is killed and started again.
    cloud_killed_after: Option<u64>,
}

impl Fate {
    /// Draws a fate in which stead dies.
    fn draw(random: &mut Random) -> Fate {
        // Later runs have less to do, so that small numbers are more frequent.
        let lines = 1 + random.below(450);
        let lines = 1 + random.below(lines);
        let cloud_killed_after = random.one_in(2).then(|| 1 + random.below(lines));
        // Release builds have no crash points.
        if cfg!(debug_assertions) && random.one_in(2) {
            let point = POINTS[random.below(POINTS.len() as u64) as usize];
            // The first and the last points of a run are reached once.
            let nth = if point.starts_with("run.") { 1 } else { 1 + random.below(lines) };
            return Fate { dies_at: Some(format!("{point}:{nth}")), killed_after: None, cloud_killed_after };
        }
        let moment = Duration::from_micros(random.below(20_000));
        Fate { dies_at: None, killed_after: Some((lines, moment)), cloud_killed_after }
    }

    fn kills_stead(&self) -> bool {
        self.dies_at.is_some() || self.killed_after.is_some()
    }
}

/// A stack of a crowd, with its cloud.
struct Crowd {
    seed: u64,
    random: Random,
    project: Project,
    cloud: CrowdCloud,
    /// Runs that were killed.
    kills: u64,
    runs: u64,
    /// Runs so far, for people.
    trace: Vec<String>,
}

impl Crowd {
    fn new(seed: u64) -> Crowd {
        let project = Project::in_memory("");
        let cloud = CrowdCloud::start(&project, seed);
        Crowd { seed, random: Random(seed), project, cloud, kills: 0, runs: 0, trace: Vec::new() }
    }

    /// Runs a command until it succeeds, which kills do not keep it from. One more run meets no faults, reads everything, and finds
    /// nothing to create.
    fn completed(&mut self, command: &str, kills: u64) {
        let wanted = self.kills + kills;
        let succeeded = (0..MOST_RUNS).any(|_| {
            let fate = if self.kills < wanted { Fate::draw(&mut self.random) } else { Fate::default() };
            let refresh = self.random.one_in(3);
            self.run(command, &fate, refresh).0 == Some(0)
        });
        assert!(succeeded, "{}: {MOST_RUNS} runs do not finish", self.when(command, &Fate::default()));
        self.cloud.set_faults(None);
        let (code, output) = self.run(command, &Fate::default(), command == "up");
        let when = self.when(command, &Fate::default());
        assert!(code == Some(0) && !output.contains(CREATES), "{when}: {code:?}\n{output}");
        self.cloud.set_faults(Some(self.random.draw()));
    }

    fn when(&self, command: &str, fate: &Fate) -> String {
        let trace = self.trace.join("\n");
        format!("crowd {}:\n{trace}\nrun {}, {command}, {fate:?}", self.seed, self.runs)
    }

    /// Runs a command, and returns its exit code, `None` if it was killed, and its output.
    fn run(&mut self, command: &str, fate: &Fate, refresh: bool) -> (Option<i32>, String) {
        self.runs += 1;
        let when = self.when(command, fate);
        let mut arguments = vec![command, "--yes", "--json", "-t", "aws"];
        if command == "up" {
            arguments.push("--no-moves");
            arguments.extend(refresh.then_some("--refresh"));
        }
        let mut stead = self.project.command(&arguments);
        stead.envs(self.cloud.account()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(point) = &fate.dies_at {
            stead.env("STEAD_CRASH_AT", point);
        }
        let mut child = stead.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (mut text, mut lines) = (String::new(), 0);
        while output.read_line(&mut text).unwrap() > 0 {
            lines += 1;
            if fate.cloud_killed_after == Some(lines) {
                self.cloud.restart(&self.project, self.random.draw());
            }
            if let Some((_, moment)) = fate.killed_after.filter(|(last, _)| *last == lines) {
                busy_wait(moment);
                child.kill().unwrap();
            }
        }
        let ended = self.project.ran(child.wait_with_output().unwrap());
        let code = Some(ended.code).filter(|code| *code >= 0);
        self.kills += u64::from(code.is_none() && fate.kills_stead());
        assert!(
            !text.contains(QUESTION) && !ended.stderr.contains(QUESTION),
            "{when} asks:\n{text}\n{}",
            ended.stderr
        );
        assert!(matches!(code, None | Some(0 | 1 | 15)), "{when}: {code:?}\n{text}\n{}", ended.stderr);
        let calls = self.cloud.calls();
        self.trace
            .push(format!("run {}, {command}, {fate:?}: {code:?}, {lines} lines, {calls} calls", self.runs));
        let verified = self.stead(&["state", "verify"]);
        // Before the first write there is no stack.
        let is_sound = verified.code == 0 || verified.stderr.contains("there is no stack");
        assert!(is_sound, "{when}: {}", verified.stderr);
        (code, text)
    }

    fn stead(&self, arguments: &[&str]) -> Ran {
        self.project.stead(&[arguments, &["-t", "aws"]].concat())
    }

    /// Asserts that the cloud has exactly the resources that the state has, each once, and that nothing is left to do.
    fn assert_applied(&self, resources: usize) {
        let recorded = self.stead(&["state", "ls", "--json"]).ok();
        let recorded: Vec<(String, String)> = recorded
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter_map(|resource| crowd_program::identity(&resource))
            .collect();
        let real: BTreeSet<(String, String)> = self.cloud.resources().into_iter().collect();
        let lost: Vec<_> = recorded.iter().filter(|resource| !real.contains(resource)).collect();
        let orphans: Vec<_> = real.iter().filter(|resource| !recorded.contains(resource)).collect();
        assert_eq!((lost, orphans), (Vec::new(), Vec::new()), "seed {}", self.seed);
        assert_eq!((recorded.len(), real.len()), (resources, resources), "seed {}", self.seed);
    }
}

#[test]
fn crowd_on_a_faulty_cloud_survives_kills_of_both_without_loss_duplicate_or_question() {
    let (crowds, seed) = (from_environment("STEAD_TRIAL_CROWDS", 1), from_environment("STEAD_TRIAL_SEED", 1));
    // The longer trial kills more often, too.
    let kills = if crowds == 1 { 4 } else { 12 };
    for seed in seed..seed + crowds {
        let mut crowd = Crowd::new(seed);
        for version in [Version::First, Version::Changed] {
            crowd.project.write("main.ts", &crowd_program::text(version));
            crowd.completed("up", kills);
            crowd.assert_applied(crowd_program::RESOURCES);
        }
        crowd.completed("destroy", kills);
        assert_eq!(crowd.cloud.resources(), [], "seed {seed}");
        assert_eq!(crowd.stead(&["state", "ls"]).ok(), "", "seed {seed}");
        assert!(crowd.kills >= 6, "{} of {} runs were killed", crowd.kills, crowd.runs);
    }
}
