//! Suites that need programs from outside, and therefore do not belong in `cargo test`.
//!
//! A suite installs its tools into the cache that `outside` describes. To add one, write a function and put it into `SUITES`.
//! `--write` records the results of all suites in `docs/conformance.md`.

mod cloud;
mod programs;
mod secrets;

use std::process::ExitCode;

use crate::outside::today;
use crate::workspace::Workspace;

/// Page with the results of the last whole run.
const PAGE: &str = "docs/conformance.md";

/// Part of a suite that a run covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// As much as fits into ten minutes for all suites, on a machine with an empty cache.
    Quick,
    Whole,
}

/// A suite, which returns a sentence about the things that it compared.
struct Suite {
    name: &'static str,
    /// Program from outside, with its version.
    peer: &'static str,
    run: fn(&Workspace, Extent) -> Result<String, String>,
}

const SUITES: &[Suite] = &[
    Suite { name: "schemas", peer: crate::schemas::PEER, run: crate::schemas::conforms },
    Suite { name: "packages", peer: crate::packages::PEER, run: crate::packages::conforms },
    Suite { name: "secrets", peer: secrets::PYTHON, run: secrets::conforms },
    Suite { name: "cloud", peer: cloud::BOTO3, run: cloud::conforms },
    Suite { name: "programs", peer: programs::PEER, run: programs::conforms },
];

/// Arguments of the command.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    names: Vec<String>,
    extent: Extent,
    write: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options { names: Vec::new(), extent: Extent::Whole, write: false };
        for argument in arguments {
            match argument.as_str() {
                "--quick" => options.extent = Extent::Quick,
                "--write" => options.write = true,
                flag if flag.starts_with('-') => return Err(format!("conformance does not know `{flag}`")),
                name => options.names.push(name.to_owned()),
            }
        }
        if options.write && (options.extent == Extent::Quick || !options.names.is_empty()) {
            return Err("--write needs a run of all suites, without --quick".to_owned());
        }
        Ok(options)
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode, String> {
    let options = Options::parse(arguments)?;
    run_suites(SUITES, workspace, &options)
}

fn run_suites(suites: &[Suite], workspace: &Workspace, options: &Options) -> Result<ExitCode, String> {
    let names = &options.names;
    if let Some(unknown) = names.iter().find(|name| !suites.iter().any(|suite| suite.name == **name)) {
        return Err(format!("unknown conformance suite `{unknown}`"));
    }
    let mut rows = Vec::new();
    let mut failed = 0;
    for suite in suites {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == suite.name) {
            continue;
        }
        match (suite.run)(workspace, options.extent) {
            Ok(result) => {
                println!("conformance: {}: passed: {result}", suite.name);
                rows.push((suite, result));
            }
            Err(problem) => {
                failed += 1;
                println!("conformance: {}: FAILED: {problem}", suite.name);
            }
        }
    }
    if failed > 0 {
        return Ok(ExitCode::FAILURE);
    }
    if options.write {
        let page = workspace.root.join(PAGE);
        std::fs::write(&page, table(&today(), &rows)).map_err(|error| format!("{PAGE}: {error}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the page with the results.
fn table(date: &str, rows: &[(&Suite, String)]) -> String {
    let rows: String = rows
        .iter()
        .map(|(suite, result)| format!("| {} | {} | {result} |\n", suite.name, suite.peer))
        .collect();
    format!(
        "# Conformance\n\n\
         Programs that share no code with Stead, and what they agree on. Made by `cargo xtask conformance --write` on {date}, which\n\
         installs them from their registries into a cache; `.ci/run` runs the suites with `--quick`.\n\n\
         | suite | peer | result |\n|---|---|---|\n{rows}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[Suite] = &[
        Suite { name: "good", peer: "one 1.0", run: |_, _| Ok("3 of 3".to_owned()) },
        Suite { name: "bad", peer: "two 2.0", run: |_, _| Err("it broke".to_owned()) },
    ];

    fn parsed(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>())
    }

    fn outcome(names: &[&str]) -> Result<bool, String> {
        let workspace = Workspace { root: ".".into(), target: "target".into(), packages: Vec::new() };
        run_suites(TWO, &workspace, &parsed(names)?).map(|code| code == ExitCode::SUCCESS)
    }

    #[test]
    fn a_failing_suite_fails_the_run_unless_it_is_not_selected() {
        assert_eq!(outcome(&[]), Ok(false));
        assert_eq!(outcome(&["good"]), Ok(true));
    }

    #[test]
    fn an_unknown_suite_or_flag_is_an_error() {
        assert!(outcome(&["goood"]).is_err());
        assert!(parsed(&["--quik"]).is_err());
    }

    #[test]
    fn only_a_whole_run_is_recorded() {
        assert!(parsed(&["--write"]).is_ok_and(|options| options.write && options.extent == Extent::Whole));
        assert!(parsed(&["--write", "--quick"]).is_err() && parsed(&["--write", "good"]).is_err());
        let page = table("2026-01-02", &[(&TWO[0], "3 of 3".to_owned())]);
        assert!(page.contains("on 2026-01-02") && page.ends_with("| good | one 1.0 | 3 of 3 |\n"), "{page}");
    }
}
