//! Lives many lives and says how it went: `cargo xtask trial [--lives N] [--seed S] [--ops K]`.
//!
//! With `--seed` alone, or with `--lives 1`, it lives that one life and prints everything that happened in it.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool for developers")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use stead_trial::{MARKS, Script, as_test, perform, shrink};

/// From so many lives on, a mark that was never reached is a failure.
const LONG: u64 = 10_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let operations = number("--ops");
    match (number("--seed"), number("--lives")) {
        (Some(seed), None | Some(1)) => one(seed, operations),
        (seed, lives) => many(seed.unwrap_or(0), lives.unwrap_or(LONG), operations),
    }
}

fn one(seed: u64, operations: Option<u64>) -> ExitCode {
    let script = Script::draw(seed, operations);
    match perform(&script) {
        Ok(life) => {
            println!("{}", life.trace.join("\n"));
            ExitCode::SUCCESS
        }
        Err(broken) => {
            println!("seed {seed}: {broken}");
            tell(&script, seed, operations);
            ExitCode::FAILURE
        }
    }
}

/// The life made as short as it can be, as a test, and how to see the whole of it again.
fn tell(script: &Script, seed: u64, operations: Option<u64>) {
    if let Some((shortest, end)) = shrink(script) {
        println!(
            "\nthe shortest life that ends so:\n{end}\n\n{}",
            as_test(&shortest, &format!("seed_{seed}"))
        );
    }
    let operations = operations.map(|count| format!(" --ops {count}")).unwrap_or_default();
    println!("\nreplay it with: cargo xtask trial --seed {seed} --lives 1{operations}");
}

/// What is counted over many lives.
#[derive(Default)]
struct Tally {
    lost: Vec<u64>,
    reached: BTreeMap<String, u64>,
    operations: Vec<usize>,
    faults: Vec<usize>,
    resources: Vec<usize>,
    /// How long one core was at it.
    seconds: f64,
}

impl Tally {
    /// Lives the lives whose seeds come out of `seeds`, one after the other, on this thread.
    fn of(seeds: &AtomicU64, end: u64, operations: Option<u64>) -> Tally {
        let (mut tally, start) = (Tally::default(), Instant::now());
        loop {
            let seed = seeds.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                break;
            }
            match perform(&Script::draw(seed, operations)) {
                Ok(life) => {
                    tally.operations.push(life.operations);
                    tally.faults.push(life.faults);
                    tally.resources.push(life.most_resources);
                    life.reached.into_iter().for_each(|mark| *tally.reached.entry(mark).or_default() += 1);
                }
                Err(broken) => {
                    eprintln!("seed {seed}: {}: {}", broken.loss.oracle, broken.loss.what);
                    tally.lost.push(seed);
                }
            }
        }
        tally.seconds = start.elapsed().as_secs_f64();
        tally
    }

    fn add(&mut self, other: Tally) {
        self.lost.extend(other.lost);
        other.reached.into_iter().for_each(|(mark, times)| *self.reached.entry(mark).or_default() += times);
        self.operations.extend(other.operations);
        self.faults.extend(other.faults);
        self.resources.extend(other.resources);
        self.seconds += other.seconds;
    }
}

/// Each core lives lives of its own; a life is on one thread from its beginning to its end.
fn on_all_cores(first: u64, lives: u64, operations: Option<u64>) -> Tally {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (seeds, mut all) = (AtomicU64::new(first), Tally::default());
    std::thread::scope(|scope| {
        let tally = || Tally::of(&seeds, first + lives, operations);
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(tally)).collect();
        for worker in workers {
            match worker.join() {
                Ok(tally) => all.add(tally),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all.lost.sort_unstable();
    all
}

fn many(first: u64, lives: u64, operations: Option<u64>) -> ExitCode {
    let start = Instant::now();
    let mut all = on_all_cores(first, lives, operations);
    let seconds = start.elapsed().as_secs_f64();
    for (mark, times) in &all.reached {
        println!("{times:>8}  {mark}");
    }
    let missed: Vec<&&str> = MARKS.iter().filter(|mark| !all.reached.contains_key(**mark)).collect();
    println!(
        "\n{lives} lives in {seconds:.1} s ({:.0} a second and core); the median has {} resources, {} operations, {} faults",
        lives as f64 / all.seconds,
        median(&mut all.resources),
        median(&mut all.operations),
        median(&mut all.faults),
    );
    println!("{} of {} marks reached", MARKS.len() - missed.len(), MARKS.len());
    missed.iter().for_each(|mark| println!("never reached: {mark}"));
    if let Some(lost) = all.lost.first() {
        println!("{} lives lost something; the first: seed {lost}", all.lost.len());
        tell(&Script::draw(*lost, operations), *lost, operations);
        return ExitCode::FAILURE;
    }
    println!("nothing was lost");
    if !missed.is_empty() && lives >= LONG { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn median(numbers: &mut [usize]) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
