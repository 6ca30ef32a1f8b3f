//! Runs many lives and reports failures and coverage: `cargo xtask trial [--lives N] [--seed S] [--ops K] [--log FILE]`.
//!
//! The lives have the seeds `S` to `S + N - 1`. With `--log` the result of this range is appended to a file as one line of
//! JSON, so that long simulations add up from many ranges. With `--seed` alone, or with `--lives 1`, one life runs and prints
//! its trace.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool for developers")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use stead_trial::{MARKS, Script, as_test, run_script, shrink};

/// Number of lives from which an unreached mark is a failure.
const LONG: u64 = 10_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)
    };
    let number = |flag: &str| value(flag)?.parse::<u64>().ok();
    let rounds = number("--ops");
    let log = value("--log").map(String::as_str);
    match (number("--seed"), number("--lives")) {
        (Some(seed), None | Some(1)) if log.is_none() => one(seed, rounds),
        (seed, lives) => many(seed.unwrap_or(0), lives.unwrap_or(LONG), rounds, log),
    }
}

fn one(seed: u64, rounds: Option<u64>) -> ExitCode {
    let script = Script::draw(seed, rounds);
    match run_script(&script) {
        Ok(life) => {
            println!("{}", life.trace.join("\n"));
            ExitCode::SUCCESS
        }
        Err(failed) => {
            println!("seed {seed}: {failed}");
            report_failure(&script, seed, rounds);
            ExitCode::FAILURE
        }
    }
}

/// Prints the minimized script as a test, and the command that replays the life.
fn report_failure(script: &Script, seed: u64, rounds: Option<u64>) {
    if let Some((shortest, failure)) = shrink(script) {
        let test = as_test(&shortest, &format!("seed_{seed}"));
        println!("\nthe minimized life:\n{failure}\n\n{test}");
    }
    let rounds = rounds.map(|count| format!(" --ops {count}")).unwrap_or_default();
    println!("\nreplay it with: cargo xtask trial --seed {seed} --lives 1{rounds}");
}

/// Counts over many lives.
#[derive(Default)]
struct Tally {
    failed: Vec<u64>,
    reached: BTreeMap<String, u64>,
    operations: Vec<usize>,
    faults: Vec<usize>,
    resources: Vec<usize>,
    /// Core seconds.
    seconds: f64,
}

impl Tally {
    /// Runs lives with seeds taken from `seeds` until `end`, on this thread.
    fn of(seeds: &AtomicU64, end: u64, rounds: Option<u64>) -> Tally {
        let (mut tally, start) = (Tally::default(), Instant::now());
        loop {
            let seed = seeds.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                break;
            }
            match run_script(&Script::draw(seed, rounds)) {
                Ok(life) => {
                    tally.operations.push(life.operations);
                    tally.faults.push(life.faults);
                    tally.resources.push(life.most_resources);
                    life.reached.into_iter().for_each(|mark| *tally.reached.entry(mark).or_default() += 1);
                }
                Err(failed) => {
                    eprintln!("seed {seed}: {}: {}", failed.violation.oracle, failed.violation.detail);
                    tally.failed.push(seed);
                }
            }
        }
        tally.seconds = start.elapsed().as_secs_f64();
        tally
    }

    fn add(&mut self, other: Tally) {
        self.failed.extend(other.failed);
        other.reached.into_iter().for_each(|(mark, times)| *self.reached.entry(mark).or_default() += times);
        self.operations.extend(other.operations);
        self.faults.extend(other.faults);
        self.resources.extend(other.resources);
        self.seconds += other.seconds;
    }

    /// Returns the marks that no life reached.
    fn missed(&self) -> Vec<&'static str> {
        MARKS.iter().copied().filter(|mark| !self.reached.contains_key(*mark)).collect()
    }
}

/// Runs the lives on all cores. A life stays on one thread.
fn on_all_cores(first: u64, end: u64, rounds: Option<u64>) -> Tally {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (seeds, mut all) = (AtomicU64::new(first), Tally::default());
    std::thread::scope(|scope| {
        let tally = || Tally::of(&seeds, end, rounds);
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(tally)).collect();
        for worker in workers {
            match worker.join() {
                Ok(tally) => all.add(tally),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all.failed.sort_unstable();
    all
}

fn many(first: u64, lives: u64, rounds: Option<u64>, log: Option<&str>) -> ExitCode {
    let start = Instant::now();
    let end = first.saturating_add(lives);
    let mut all = on_all_cores(first, end, rounds);
    let seconds = start.elapsed().as_secs_f64();
    for (mark, times) in &all.reached {
        println!("{times:>8}  {mark}");
    }
    println!(
        "\n{lives} lives in {seconds:.1} s ({:.0} a second and core); the median has {} resources, {} operations, {} faults",
        lives as f64 / all.seconds,
        median(&mut all.resources),
        median(&mut all.operations),
        median(&mut all.faults),
    );
    let missed = all.missed();
    println!("{} of {} marks reached", MARKS.len() - missed.len(), MARKS.len());
    missed.iter().for_each(|mark| println!("never reached: {mark}"));
    if let Some(file) = log
        && let Err(error) = append(file, &summary(first, end, rounds, &all, seconds))
    {
        eprintln!("cannot write {file}: {error}");
        return ExitCode::FAILURE;
    }
    if let Some(seed) = all.failed.first() {
        println!("{} lives failed, the first with seed {seed}", all.failed.len());
        report_failure(&Script::draw(*seed, rounds), *seed, rounds);
        return ExitCode::FAILURE;
    }
    println!("no life failed");
    if !missed.is_empty() && lives >= LONG { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns the result of a range of seeds; `end` is exclusive.
fn summary(first: u64, end: u64, rounds: Option<u64>, all: &Tally, seconds: f64) -> serde_json::Value {
    serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "first": first,
        "end": end,
        "ops": rounds,
        "lives": end - first,
        "failed": &all.failed,
        "seconds": (seconds * 10.0).round() / 10.0,
        "missed": all.missed(),
        "reached": &all.reached,
    })
}

fn append(file: &str, line: &serde_json::Value) -> std::io::Result<()> {
    let mut log = OpenOptions::new().create(true).append(true).open(file)?;
    writeln!(log, "{line}")
}

fn median(numbers: &mut [usize]) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
