//! `cargo xtask mutants`: changes the code of the crates that must not lose anything, one place at a time, and wants a
//! test to notice. A change that no test can notice is explained in `docs/mutants.md`.
//!
//! One build and one test run for each mutant decide the duration. The crates are therefore built without optimisation
//! (the profile `mutants`), properties are tried on fewer cases without shrinking, and unit tests run first: only a mutant
//! that they let pass meets the integration tests.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::workspace::Workspace;

const PAGE: &str = "docs/mutants.md";

/// Where most of a crate's tests are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tests {
    /// Unit tests: built and run much faster than integration tests.
    Inside,
    Outside,
}

/// The crates that are mutated by default.
const CRATES: [(&str, Tests); 3] =
    [("stead-guard", Tests::Inside), ("stead-journal", Tests::Outside), ("stead-state", Tests::Inside)];

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode, String> {
    let (asked_for, arguments) = asked_for(arguments)?;
    let page = read(&workspace.root.join(PAGE))?;
    let mut complete = true;
    for (name, tests) in CRATES.into_iter().filter(|(name, _)| asked_for.is_none_or(|asked| asked == *name)) {
        let output = workspace.target.join("mutants").join(name);
        if tests == Tests::Inside {
            mutate(workspace, name, &output, &[&["--cargo-arg", "--lib"], &arguments[..]].concat())?;
            // What was noticed already is not tried again.
            mutate(workspace, name, &output, &[&["--iterate"], &arguments[..]].concat())?;
        } else {
            mutate(workspace, name, &output, &arguments)?;
        }
        complete &= report(name, &output.join("mutants.out"), &page)?;
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The requested crate, and the arguments that cargo-mutants gets.
fn asked_for(arguments: &[String]) -> Result<(Option<&str>, Vec<&str>), String> {
    let mut rest: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(at) = rest.iter().position(|argument| *argument == "-p" || *argument == "--package") else {
        return Ok((None, rest));
    };
    let known = CRATES.map(|(name, _)| name);
    match rest.get(at + 1).copied() {
        Some(name) if known.contains(&name) => {
            rest.drain(at..at + 2);
            Ok((Some(name), rest))
        }
        _ => Err(format!("-p takes one of {}", known.join(", "))),
    }
}

fn mutate(workspace: &Workspace, name: &str, output: &Path, arguments: &[&str]) -> Result<(), String> {
    std::fs::create_dir_all(output).map_err(|error| format!("{}: {error}", output.display()))?;
    let status = Command::new(env!("CARGO"))
        .args([
            "mutants",
            "--jobs",
            "1",
            "--timeout",
            "120",
            "--build-timeout",
            "600",
            "--profile",
            "mutants",
        ])
        .args(["-p", name, "--output"])
        .arg(output)
        .args(arguments)
        .current_dir(&workspace.root)
        // What does not change is built once for all runs.
        .env("CARGO_TARGET_DIR", workspace.target.join("mutants").join("build"))
        .env("PROPTEST_CASES", "24")
        .env("PROPTEST_MAX_SHRINK_ITERS", "0")
        .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true")
        .env("INSTA_UPDATE", "no")
        .status();
    let status = status.map_err(|error| format!("cannot run cargo: {error}"))?;
    // 2 and 3: something survived, or ran out of time. Anything else but success is no result at all.
    if matches!(status.code(), Some(0 | 2 | 3)) {
        return Ok(());
    }
    Err("cargo mutants failed; it is installed with `cargo install cargo-mutants --locked`".to_owned())
}

/// Tells how it went; whether every survivor is explained.
fn report(name: &str, found: &Path, page: &str) -> Result<bool, String> {
    let survivors = read(&found.join("missed.txt"))?;
    let unexplained = unexplained(&survivors, page);
    for survivor in &unexplained {
        println!("no test notices, and {PAGE} does not say why: {survivor}");
    }
    let (survive, unexplained) = (survivors.lines().count(), unexplained.len());
    println!("{name}: {survive} mutants survive, {unexplained} of them unexplained");
    Ok(unexplained == 0)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// A survivor is `file:line:column: what was changed`; the page names it as `file: what was changed`, in backticks,
/// since lines move.
fn unexplained<'a>(survivors: &'a str, page: &str) -> Vec<&'a str> {
    let explained: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let is_explained = |survivor: &&str| {
        let mut parts = survivor.splitn(4, ':');
        let (Some(file), Some(change)) = (parts.next(), parts.nth(2)) else { return false };
        explained.contains(format!("{file}:{change}").as_str())
    };
    survivors.lines().filter(|survivor| !is_explained(survivor)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survivor_that_the_page_does_not_name_is_unexplained() {
        let survivors =
            "crates/a/src/x.rs:3:9: replace + with - in f\ncrates/a/src/x.rs:8:1: delete ! in g\n";
        let page = "| `crates/a/src/x.rs: replace + with - in f` | nobody counts |\n";
        assert_eq!(unexplained(survivors, page), ["crates/a/src/x.rs:8:1: delete ! in g"]);
        assert_eq!(unexplained("", page), Vec::<&str>::new());
    }

    #[test]
    fn one_crate_can_be_asked_for_and_the_rest_goes_on() {
        let asked = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        assert_eq!(asked_for(&asked("-f x.rs")), Ok((None, vec!["-f", "x.rs"])));
        assert_eq!(
            asked_for(&asked("-p stead-state --shard 1/4")),
            Ok((Some("stead-state"), vec!["--shard", "1/4"]))
        );
        assert!(asked_for(&asked("-p stead-cli")).is_err() && asked_for(&asked("--package")).is_err());
    }
}
