//! Tasks of this repository, as one program: `cargo xtask tidy | bench | conformance | fuzz | mutants | schemas | trial`.
//!
//! It does not ship. It checks, measures and reports; only `schemas`, `bench --write`, `conformance --write` and `conformance packages` with `STEAD_WRITE=1`
//! change a file.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a developer tool works on the real machine"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its user")]

mod bench;
mod conformance;
mod fuzz;
mod mutants;
mod outside;
mod packages;
mod planted;
mod schemas;
mod tidy;
mod trial;
mod workspace;

use std::process::ExitCode;

use workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy           check crate edges, plain English, command-line syntax in libraries, error pages, shape of files
  bench          time the release binary, and terraform on the same graph if it is installed
                   --repeat N   runs per row; the median counts (stead 3, terraform 1)
                   --no-peer    leave terraform out
                   --only-peer  leave stead out
                   --only-evaluator  measure only the evaluation of programs, beside node if it is installed
                   --only-aws, --only-secrets  measure only this section; with --write it replaces the one on the page
                   --strict     exit 1 when a row misses its bar
                   --write      write docs/benchmarks.md too
  conformance    run the suites that need programs from outside; names select suites
                   --quick      compare 400 generated programs with Node instead of 10,000
                   --write      write the results of all suites to docs/conformance.md
  fuzz           build the fuzz targets and run each for a few seconds; names select targets
                   --seconds N  how long each runs (10)
  schemas        generate the bundle of AWS types from the cfn-lint package
  mutants        change the crates that keep state, one place at a time, and want a test to notice
                   (arguments go to cargo-mutants, which must be installed)
  trial          run many simulated lives and check the oracles
                   --lives N    number of lives (10,000)
                   --seed S     first seed; alone: run this one life and print its trace
                   --ops K      number of rounds in each life, instead of a random one
                   --log FILE   append the range of seeds, the failed lives and the coverage as a line of JSON
                   --plays N    run short lives with rivals, targeted runs, renames, imports and unreliable providers and stores
                   --canaries N  run stacks with secrets whose provider gives them away, and search for them
                   --clouds N   run stacks of AWS types on the embedded cloud, with its faults, kills and changes from outside
                   --planted [BUG …]  enable the planted bugs one by one and count the lives until each is detected
                   --processes N  kill real processes instead, in N rounds with each build
                   --crowds N   bring up, change and remove 500 AWS resources N times with each build, while stead and the served
                                cloud are killed and calls fail";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<ExitCode, String> {
    let Some((command, rest)) = arguments.split_first() else {
        eprintln!("{USAGE}");
        return Ok(ExitCode::from(2));
    };
    match command.as_str() {
        "tidy" if rest.is_empty() => tidy::run(&Workspace::load()?),
        "bench" => bench::run(&Workspace::load()?, &bench::Options::parse(rest)?),
        "conformance" => conformance::run(&Workspace::load()?, rest),
        "fuzz" => fuzz::run(&Workspace::load()?, rest),
        "schemas" if rest.is_empty() => schemas::run(&Workspace::load()?),
        "mutants" => mutants::run(&Workspace::load()?, rest),
        "trial" => trial::run(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprintln!("xtask: cannot understand `{}`\n\n{USAGE}", arguments.join(" "));
            Ok(ExitCode::from(2))
        }
    }
}
