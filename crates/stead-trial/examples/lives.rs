//! Lives many lives and says how it went: `cargo xtask trial [--lives N] [--seed S] [--ops K]`.
//!
//! With `--seed` alone, or with `--lives 1`, it lives that one life and prints everything that happened in it.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::collections::BTreeMap;
use std::process::ExitCode;
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

fn many(first: u64, lives: u64, operations: Option<u64>) -> ExitCode {
    let start = Instant::now();
    let (mut lost, mut reached) = (Vec::new(), BTreeMap::<String, u64>::new());
    let (mut counts, mut faults, mut resources) = (Vec::new(), Vec::new(), Vec::new());
    for seed in first..first + lives {
        match perform(&Script::draw(seed, operations)) {
            Ok(life) => {
                counts.push(life.operations);
                faults.push(life.faults);
                resources.push(life.most_resources);
                life.reached.into_iter().for_each(|mark| *reached.entry(mark).or_default() += 1);
            }
            Err(broken) => {
                eprintln!("seed {seed}: {}: {}", broken.loss.oracle, broken.loss.what);
                lost.push(seed);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    for (mark, times) in &reached {
        println!("{times:>8}  {mark}");
    }
    let missed: Vec<&&str> = MARKS.iter().filter(|mark| !reached.contains_key(**mark)).collect();
    println!(
        "\n{lives} lives in {seconds:.1} s ({:.0} a second); the median has {} resources, {} operations, {} faults",
        lives as f64 / seconds,
        median(&mut resources),
        median(&mut counts),
        median(&mut faults),
    );
    println!("{} of {} marks reached", MARKS.len() - missed.len(), MARKS.len());
    missed.iter().for_each(|mark| println!("never reached: {mark}"));
    if !lost.is_empty() {
        println!("{} lives lost something; the first: seed {}", lost.len(), lost[0]);
        tell(&Script::draw(lost[0], operations), lost[0], operations);
        return ExitCode::FAILURE;
    }
    println!("nothing was lost");
    if !missed.is_empty() && lives >= LONG { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn median(numbers: &mut [usize]) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}
