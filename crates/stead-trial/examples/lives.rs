//! Lives many lives and says how it went: `cargo xtask trial [--lives N] [--seed S]`.
//!
//! With `--seed` alone it lives that one life and prints everything that happened in it.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use stead_trial::live;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    match (number("--seed"), number("--lives")) {
        (Some(seed), None) => one(seed),
        (seed, lives) => many(seed.unwrap_or(0), lives.unwrap_or(10_000)),
    }
}

fn one(seed: u64) -> ExitCode {
    match live(seed) {
        Ok(life) => {
            println!("{}", life.trace.join("\n"));
            ExitCode::SUCCESS
        }
        Err(lost) => {
            println!("{lost}");
            ExitCode::FAILURE
        }
    }
}

fn many(first: u64, lives: u64) -> ExitCode {
    let start = Instant::now();
    let (mut lost, mut reached) = (Vec::new(), BTreeMap::<String, u64>::new());
    let (mut operations, mut faults, mut resources) = (Vec::new(), Vec::new(), Vec::new());
    for seed in first..first + lives {
        match live(seed) {
            Ok(life) => {
                operations.push(life.operations);
                faults.push(life.faults);
                resources.push(life.most_resources);
                life.reached.into_iter().for_each(|mark| *reached.entry(mark).or_default() += 1);
            }
            Err(report) => lost.push(report),
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    for (mark, times) in &reached {
        println!("{times:>8}  {mark}");
    }
    println!(
        "\n{lives} lives in {seconds:.1} s ({:.0} a second); the median has {} resources, {} operations, {} faults",
        lives as f64 / seconds,
        median(&mut resources),
        median(&mut operations),
        median(&mut faults),
    );
    if let Some(first) = lost.first() {
        println!("{} lives lost something; the first:\n{first}", lost.len());
        println!("replay it with: cargo xtask trial --seed N");
        return ExitCode::FAILURE;
    }
    println!("nothing was lost");
    ExitCode::SUCCESS
}

fn median(numbers: &mut [usize]) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
