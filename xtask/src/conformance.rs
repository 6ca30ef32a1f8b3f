//! Suites that need programs from outside, and therefore do not belong in `cargo test`.
//!
//! A suite installs its tools into the target folder, or into the cache that `packages` describes. To add one, write a function and put it into `SUITES`.

mod cloud;
mod programs;
mod secrets;

use std::process::ExitCode;

use crate::workspace::Workspace;

/// Name of a suite on the command line, and its function.
type Suite = (&'static str, fn(&Workspace) -> Result<(), String>);

const SUITES: &[Suite] = &[
    ("schemas", crate::schemas::conforms),
    ("packages", crate::packages::conforms),
    ("secrets", secrets::conforms),
    ("cloud", cloud::conforms),
    ("programs-quick", programs::conforms_quickly),
    ("programs", programs::conforms),
];

/// Suites that take minutes: they run only when they are named.
const ON_REQUEST: &[&str] = &["programs"];

pub(crate) fn run(workspace: &Workspace, names: &[String]) -> Result<ExitCode, String> {
    run_suites(SUITES, workspace, names)
}

fn run_suites(suites: &[Suite], workspace: &Workspace, names: &[String]) -> Result<ExitCode, String> {
    if let Some(unknown) = names.iter().find(|name| !suites.iter().any(|(known, _)| known == name)) {
        return Err(format!("unknown conformance suite `{unknown}`"));
    }
    if suites.is_empty() {
        println!("conformance: no suites yet");
        return Ok(ExitCode::SUCCESS);
    }
    let mut failed = 0;
    for (name, suite) in suites {
        let named = names.iter().any(|wanted| wanted == name);
        if !named && (!names.is_empty() || ON_REQUEST.contains(name)) {
            continue;
        }
        match suite(workspace) {
            Ok(()) => println!("conformance: {name}: passed"),
            Err(problem) => {
                failed += 1;
                println!("conformance: {name}: FAILED: {problem}");
            }
        }
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[Suite] = &[("good", |_| Ok(())), ("bad", |_| Err("it broke".to_owned()))];

    fn outcome(suites: &[Suite], names: &[&str]) -> Result<bool, String> {
        let workspace = Workspace { root: ".".into(), target: "target".into(), packages: Vec::new() };
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        run_suites(suites, &workspace, &names).map(|code| code == ExitCode::SUCCESS)
    }

    #[test]
    fn no_suites_is_a_success() {
        assert_eq!(outcome(&[], &[]), Ok(true));
    }

    #[test]
    fn a_failing_suite_fails_the_run_unless_it_is_not_selected() {
        assert_eq!(outcome(TWO, &[]), Ok(false));
        assert_eq!(outcome(TWO, &["good"]), Ok(true));
    }

    #[test]
    fn an_unknown_suite_is_an_error() {
        assert!(outcome(TWO, &["goood"]).is_err());
    }
}
