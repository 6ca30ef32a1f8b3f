//! Runs many simulations of one kind on all cores, for the programs beside this folder.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// One simulation: its trace, or the failure with its trace.
type Simulation = fn(u64) -> Result<Vec<String>, String>;

/// Reads `--KIND N [--seed S] [--log FILE]`, and runs the seeds `S` to `S + N - 1`.
///
/// With `--log` the result is appended to a file as one line of JSON. One simulation (`--KIND 1`) prints its trace.
pub(crate) fn run(kind: &str, simulation: Simulation) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)
    };
    let number = |flag: &str| value(flag)?.parse::<u64>().ok();
    let flag = format!("--{kind}");
    let (first, count) = (number("--seed").unwrap_or(0), number(&flag).unwrap_or(10_000));
    if count == 1 {
        let (text, code) = match simulation(first) {
            Ok(trace) => (trace.join("\n"), ExitCode::SUCCESS),
            Err(lost) => (lost, ExitCode::FAILURE),
        };
        println!("{text}");
        return code;
    }
    let started = Instant::now();
    let (failed, core_seconds) = on_all_cores(simulation, first, first.saturating_add(count));
    let seconds = started.elapsed().as_secs_f64();
    let rate = count as f64 / core_seconds;
    println!("{count} {kind} in {seconds:.1} s ({rate:.0} a second and core), {} failed", failed.len());
    if let Some(file) = value("--log") {
        let seeds: Vec<u64> = failed.iter().map(|(seed, _)| *seed).collect();
        let line = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "first": first,
            kind: count,
            "failed": seeds,
            "seconds": (seconds * 10.0).round() / 10.0,
        });
        let log = OpenOptions::new().create(true).append(true).open(file);
        if let Err(error) = log.and_then(|mut log| writeln!(log, "{line}")) {
            eprintln!("cannot write {file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    match failed.first() {
        Some((seed, lost)) => {
            println!("the first:\n{lost}\n\nreplay it with: cargo xtask trial {flag} 1 --seed {seed}");
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}

/// Returns the failed simulations by seed, and the seconds of all cores together.
fn on_all_cores(simulation: Simulation, first: u64, end: u64) -> (Vec<(u64, String)>, f64) {
    let seeds = AtomicU64::new(first);
    let work = || {
        let (mut failed, started) = (Vec::new(), Instant::now());
        loop {
            let seed = seeds.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return (failed, started.elapsed().as_secs_f64());
            }
            if let Err(lost) = simulation(seed) {
                eprintln!("seed {seed}: {}", lost.lines().next().unwrap_or_default());
                failed.push((seed, lost));
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = (Vec::new(), 0.0);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok((failed, seconds)) => {
                    all.0.extend(failed);
                    all.1 += seconds;
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all.0.sort();
    all
}
