//! `cargo xtask trial`: simulated lives, or real processes that are killed.

use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::planted;
use crate::workspace::Workspace;

/// The requested simulation.
#[derive(Debug, PartialEq, Eq)]
enum Trial {
    /// The simulator reads its own arguments.
    Lives,
    Processes {
        rounds: u64,
        seed: Option<u64>,
    },
    Crowds {
        crowds: u64,
        seed: Option<u64>,
    },
    /// All planted bugs, or the named ones.
    Planted(Vec<String>),
}

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    match parse(arguments)? {
        Trial::Lives => lives(arguments),
        Trial::Planted(bugs) => planted(&bugs),
        Trial::Processes { rounds, seed } => {
            let seed = seed.unwrap_or_else(fresh);
            killed("processes::", "rounds", ("STEAD_TRIAL_ROUNDS", rounds), seed)
        }
        Trial::Crowds { crowds, seed } => {
            let seed = seed.unwrap_or_else(fresh);
            killed("processes::crowd::", "crowds", ("STEAD_TRIAL_CROWDS", crowds), seed)
        }
    }
}

fn parse(arguments: &[String]) -> Result<Trial, String> {
    let number = |name: &str| -> Result<Option<u64>, String> {
        let Some(at) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
        let value = arguments.get(at + 1).and_then(|value| value.parse().ok());
        value.map(Some).ok_or(format!("{name} needs a number"))
    };
    if let Some(("--planted" | "--teeth", bugs)) =
        arguments.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        return Ok(Trial::Planted(bugs.to_vec()));
    }
    let seed = number("--seed")?;
    Ok(match (number("--processes")?, number("--crowds")?) {
        (Some(rounds), _) => Trial::Processes { rounds, seed },
        (None, Some(crowds)) => Trial::Crowds { crowds, seed },
        (None, None) => Trial::Lives,
    })
}

/// Any number will do, as long as it is shown.
fn fresh() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs())
}

/// The simulator is a program of its own, so that this one stays small; optimised, because speed is coverage.
fn lives(arguments: &[String]) -> Result<ExitCode, String> {
    let asked = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let examples = [("--plays", "plays"), ("--canaries", "canaries"), ("--clouds", "clouds")];
    let example = examples.iter().find(|(flag, _)| asked(flag)).map_or("lives", |(_, example)| *example);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--profile", "trial", "-p", "stead-trial", "--example", example, "--"]);
    finish(cargo.args(arguments))
}

/// First the build for tests, which can be told to die at a named point, then the binary that ships.
fn killed(tests: &str, counted: &str, (variable, count): (&str, u64), seed: u64) -> Result<ExitCode, String> {
    for profile in ["test", "release"] {
        println!("{count} {counted} with the {profile} build, seed {seed}");
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["test", "--quiet", "--profile", profile, "-p", "stead-cli", "--test", "cli", tests])
            .env(variable, count.to_string())
            .env("STEAD_TRIAL_SEED", seed.to_string());
        let code = finish(&mut cargo)?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds a copy of the tree that has all planted bugs, in folders of its own. One build serves all bugs.
fn planted(bugs: &[String]) -> Result<ExitCode, String> {
    let workspace = Workspace::load()?;
    let folder = workspace.target.join("planted");
    let tree = planted::copy(&workspace.root, &folder)?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--release", "-p", "stead-trial", "--example", "planted"]);
    cargo.arg("--manifest-path").arg(tree.join("Cargo.toml")).arg("--target-dir").arg(folder.join("build"));
    finish(cargo.arg("--").args(bugs))
}

fn finish(cargo: &mut Command) -> Result<ExitCode, String> {
    let status = cargo.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Trial, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn lives_unless_processes_are_asked_for() {
        assert_eq!(parsed("--lives 10 --seed 3"), Ok(Trial::Lives));
        assert_eq!(parsed("--processes 500"), Ok(Trial::Processes { rounds: 500, seed: None }));
        assert_eq!(parsed("--seed 7 --processes 5"), Ok(Trial::Processes { rounds: 5, seed: Some(7) }));
        assert_eq!(parsed("--planted seal-skipped"), Ok(Trial::Planted(vec!["seal-skipped".to_owned()])));
        assert_eq!(parsed("--crowds 3 --seed 2"), Ok(Trial::Crowds { crowds: 3, seed: Some(2) }));
        assert!(parsed("--crowds").is_err());
        assert!(parsed("--processes").is_err() && parsed("--processes many").is_err());
    }
}
