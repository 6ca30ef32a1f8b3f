//! Runs many plays: `cargo xtask trial --plays N [--seed S]`. With `--seed` alone, one play runs and prints its trace.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a tool for developers")]
#![allow(clippy::print_stdout, reason = "a command-line tool")]

use std::process::ExitCode;
use std::time::Instant;

use stead_trial::play;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let (first, plays) = match (number("--seed"), number("--plays")) {
        (Some(seed), None) => {
            let (text, code) = match play(seed) {
                Ok(trace) => (trace.join("\n"), ExitCode::SUCCESS),
                Err(failed) => (failed, ExitCode::FAILURE),
            };
            println!("{text}");
            return code;
        }
        (seed, plays) => (seed.unwrap_or(0), plays.unwrap_or(10_000)),
    };
    let start = Instant::now();
    let failed: Vec<String> = (first..first + plays).filter_map(|seed| play(seed).err()).collect();
    let seconds = start.elapsed().as_secs_f64();
    println!("{plays} plays in {seconds:.1} s ({:.0} a second)", plays as f64 / seconds);
    for report in &failed {
        println!("{}", report.lines().next().unwrap_or_default());
    }
    match failed.first() {
        Some(report) => {
            println!("\n{} plays failed, the first:\n{report}", failed.len());
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}
