//! `cargo xtask mutants`: changes the code of the crates that must not lose anything, one place at a time, and wants a
//! test to notice. A change that no test can notice is explained in `docs/mutants.md`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::workspace::Workspace;

const PAGE: &str = "docs/mutants.md";

/// What is changed, unless something else is asked for.
const CRATES: [&str; 3] = ["stead-guard", "stead-journal", "stead-state"];

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode, String> {
    let output = workspace.target.join("mutants");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["mutants", "--jobs", "1", "--timeout", "120", "--build-timeout", "600", "--output"])
        .arg(&output);
    if !arguments.iter().any(|argument| argument == "-p" || argument == "--package") {
        cargo.args(CRATES.iter().flat_map(|name| ["-p", *name]));
    }
    let status =
        cargo.args(arguments).current_dir(&workspace.root).env("CARGO_PROFILE_DEV_DEBUG", "0").status();
    let status = status.map_err(|error| format!("cannot run cargo: {error}"))?;
    // 2 and 3: something survived, or ran out of time. Anything else but success is no result at all.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(
            "cargo mutants failed; it is installed with `cargo install cargo-mutants --locked`".to_owned()
        );
    }
    let found = output.join("mutants.out");
    let survivors = read(&found.join("missed.txt"))?;
    let page = read(&workspace.root.join(PAGE))?;
    let unexplained = unexplained(&survivors, &page);
    for survivor in &unexplained {
        println!("no test notices, and {PAGE} does not say why: {survivor}");
    }
    println!("mutants: {} survive, {} of them unexplained", survivors.lines().count(), unexplained.len());
    Ok(if unexplained.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
}
