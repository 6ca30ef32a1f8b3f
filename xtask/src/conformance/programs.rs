//! Compares generated programs with Node: each gives the same values in both, or the evaluator refuses it.
//!
//! A seed names a program: `cargo xtask conformance programs` runs a fixed range of them, the same on every machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::conformance::Extent;
use crate::outside::{cache_folder, output, script};
use crate::workspace::Workspace;

/// Version of the compiler that strips types for Node. Its decorators, enums and namespaces are the reference.
const TYPESCRIPT: &str = "typescript@5.9.2";
pub(crate) const PEER: &str = "Node.js, typescript 5.9.2";
const GENERATOR: &[(&str, &str)] = &[
    ("generate.mjs", include_str!("programs/generate.mjs")),
    ("values.mjs", include_str!("programs/values.mjs")),
    ("snippets.mjs", include_str!("programs/snippets.mjs")),
    ("run.mjs", include_str!("programs/run.mjs")),
    ("show.ts", include_str!("programs/show.ts")),
];
const ALL: u32 = 10_000;
const QUICK: u32 = 400;
/// Programs that one process of Node runs.
const BATCH: u32 = 1_000;

/// Runs all programs, in a release build because they are many, or the first ones in the build that the tests have.
pub(crate) fn conforms(workspace: &Workspace, extent: Extent) -> Result<String, String> {
    match extent {
        Extent::Whole => compare(workspace, ALL, Build::Release),
        Extent::Quick => compare(workspace, QUICK, Build::Debug),
    }
}

/// Build of the evaluator that runs the programs.
#[derive(Clone, Copy)]
enum Build {
    Debug,
    Release,
}

impl Build {
    /// Builds the evaluator and returns its path.
    fn evaluator(self, workspace: &Workspace) -> Result<PathBuf, String> {
        let (folder, flag) = match self {
            Build::Debug => ("debug", None),
            Build::Release => ("release", Some("--release")),
        };
        let mut cargo = Command::new(crate::workspace::cargo());
        cargo.args(["build", "--quiet", "-p", "stead-eval", "--example", "evaluate"]).args(flag);
        output(cargo.current_dir(&workspace.root), "")?;
        Ok(workspace.target.join(folder).join("examples").join("evaluate"))
    }
}

/// Result of one program.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Same,
    /// Node does not accept the program.
    Invalid,
    Refused(String),
    /// Texts of the first value that differs: Node's and ours.
    Different(String, String),
}

#[derive(Default)]
struct Report {
    same: u32,
    invalid: u32,
    refused: BTreeMap<String, u32>,
    different: Vec<String>,
}

fn compare(workspace: &Workspace, count: u32, build: Build) -> Result<String, String> {
    let folder = cache_folder("programs")?;
    for (name, text) in GENERATOR {
        script("programs", name, text)?;
    }
    install(&folder)?;
    let evaluator = build.evaluator(workspace)?;
    let mut report = Report::default();
    for first in (1..=count).step_by(BATCH as usize) {
        batch(&evaluator, &folder, first, BATCH.min(count + 1 - first), &mut report)?;
    }
    report.finish()
}

fn install(folder: &Path) -> Result<(), String> {
    if folder.join("node_modules/typescript").exists() {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]).arg(folder).arg(TYPESCRIPT);
    output(npm.current_dir(folder), "").map(drop)
}

fn batch(evaluator: &Path, folder: &Path, first: u32, count: u32, report: &mut Report) -> Result<(), String> {
    let mut node = Command::new("node");
    node.args(["--experimental-vm-modules", "--no-warnings"]).arg(folder.join("run.mjs"));
    node.args([first.to_string(), count.to_string()]).arg(folder);
    let expected = output(node.env("TZ", "UTC").env("LC_ALL", "en_US.UTF-8"), "")?;
    let expected: Vec<Value> = lines(&expected)?;
    let programs: String = expected.iter().map(|line| format!("{}\n", line["files"])).collect();
    let mut evaluate = Command::new(evaluator);
    let found: Vec<Value> = lines(&output(&mut evaluate, &programs)?)?;
    if expected.len() != found.len() {
        return Err(format!("{} of {} programs were evaluated", found.len(), expected.len()));
    }
    for (seed, (expected, found)) in (first..).zip(expected.iter().zip(&found)) {
        report.add(seed, verdict(expected, found));
    }
    Ok(())
}

fn verdict(expected: &Value, found: &Value) -> Verdict {
    let Some(wanted) = expected["out"].as_array() else { return Verdict::Invalid };
    if let Some(refused) = found["refused"].as_str() {
        return Verdict::Refused(refused.to_owned());
    }
    let found = found["out"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    let different = (0..wanted.len().max(found.len())).find(|at| wanted.get(*at) != found.get(*at));
    match different {
        None => Verdict::Same,
        Some(at) => Verdict::Different(text(wanted.get(at)), text(found.get(at))),
    }
}

impl Report {
    fn add(&mut self, seed: u32, verdict: Verdict) {
        match verdict {
            Verdict::Same => self.same += 1,
            Verdict::Invalid => self.invalid += 1,
            Verdict::Refused(why) => {
                // The place and the details after it differ in every program.
                let why = why.split(" at main.ts").next().unwrap_or_default().to_owned();
                *self.refused.entry(why).or_default() += 1;
            }
            Verdict::Different(node, ours) => {
                self.different.push(format!("program {seed}:\n  node  {node}\n  stead {ours}"));
            }
        }
    }

    fn finish(self) -> Result<String, String> {
        let refused: u32 = self.refused.values().sum();
        let Report { same, invalid, different, .. } = self;
        for (why, count) in &self.refused {
            println!("conformance: programs: refused {count}: {why}");
        }
        // A refusal of half of them would prove nothing.
        if same < 4 * (refused + invalid) {
            return Err(format!("only {same} programs were compared"));
        }
        if !different.is_empty() {
            return Err(different.join("\n"));
        }
        Ok(format!("{same} have the same values, {refused} are refused, {invalid} not valid, 0 differ"))
    }
}

fn lines(text: &str) -> Result<Vec<Value>, String> {
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_program_is_the_same_refused_or_different() {
        let node = json!({ "out": ["1", "-0"] });
        assert_eq!(verdict(&node, &json!({ "out": ["1", "-0"] })), Verdict::Same);
        assert_eq!(verdict(&node, &json!({ "refused": "ST0103" })), Verdict::Refused("ST0103".into()));
        let different = verdict(&node, &json!({ "out": ["1", "0"] }));
        assert_eq!(different, Verdict::Different("\"-0\"".into(), "\"0\"".into()));
        assert!(matches!(verdict(&node, &json!({ "out": ["1"] })), Verdict::Different(..)));
        assert_eq!(verdict(&json!({ "failed": "x" }), &json!({ "out": [] })), Verdict::Invalid);
    }

    #[test]
    fn one_difference_or_too_many_refusals_fail_the_run() {
        let mut report = Report { same: 100, ..Report::default() };
        report.add(1, Verdict::Refused("ST0103 x at main.ts:1:1".into()));
        assert_eq!(report.refused.keys().collect::<Vec<_>>(), ["ST0103 x"]);
        assert!(
            report.finish().is_ok_and(|said| said.starts_with("100 have the same values, 1 are refused"))
        );
        let mut report = Report { same: 100, ..Report::default() };
        report.add(1, Verdict::Different("1".into(), "2".into()));
        assert!(report.finish().is_err());
        assert!(Report { same: 3, invalid: 1, ..Report::default() }.finish().is_err());
    }
}
