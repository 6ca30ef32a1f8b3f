//! Evaluates programs without resources: one JSON object of files on each line of stdin, one JSON object of results on stdout.
//!
//! `cargo xtask conformance programs` compares the results with those of Node.

#![allow(clippy::print_stdout, reason = "a command-line tool talks to its caller")]

use std::collections::BTreeMap;
use std::io::{BufRead, Write as _};

use stead_eval::config::Config;
use stead_eval::{Entry, Program, Sources, StackRef, UnknownBranches, evaluate};
use stead_model::{Environment, Input, Limits, Map, TypeToken};
use stead_schema::Catalog;

struct Files(BTreeMap<String, String>);

impl Sources for Files {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        Ok(self.0.get(path).cloned())
    }

    fn read_bytes(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.get(path).map(|text| text.clone().into_bytes()))
    }

    fn list(&self, _: &str) -> Result<Option<Vec<Entry>>, String> {
        Ok(None)
    }

    fn look_up(
        &self,
        _: &TypeToken,
        _: &str,
        _: Option<&stead_eval::LookUpProvider>,
    ) -> Result<Option<Map>, String> {
        Ok(None)
    }

    fn outputs(&self, _: &StackRef) -> Result<Option<Map>, String> {
        Ok(None)
    }
}

/// Returns the stack outputs as JSON, or the errors as one line of text.
fn run(files: BTreeMap<String, String>) -> Result<String, String> {
    let config = Map::new();
    let program = Program {
        entry: "main.ts",
        environment: Environment::new("dev"),
        project: "programs",
        target: "local",
        config: &Config::from(config),
        branches: UnknownBranches::Refuse,
    };
    let limits = Limits::default();
    match evaluate(&program, &Catalog::default(), &Files(files), &limits) {
        Ok(evaluation) => match evaluation.graph.outputs.get("out") {
            Some(Input::Known(value)) => Ok(value.to_json()),
            _ => Err("the program has no export `out`".to_owned()),
        },
        Err(failure) => {
            let problems = failure.diagnostics.iter().map(|problem| {
                let place = problem.labels.first().map(|label| format!(" at {}", label.place));
                format!("{} {}{}", problem.code, problem.message, place.unwrap_or_default())
            });
            Err(problems.collect::<Vec<_>>().join("; "))
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut stdout = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        match run(serde_json::from_str(&line?)?) {
            Ok(json) => writeln!(stdout, "{{\"out\":{json}}}")?,
            Err(refused) => writeln!(stdout, "{}", serde_json::json!({ "refused": refused }))?,
        }
        stdout.flush()?;
    }
    Ok(())
}
