//! `cargo xtask bench`: times the release binary as a user runs it, on a real disk, beside a peer on the same graph.
//!
//! Whole processes are timed, from start to exit, and their results are checked: a fast run that did nothing must never
//! count.

mod disk;
mod driver;
mod durable;
mod evaluator;
mod options;
mod process;
mod report;
mod scale;
mod secrets;
mod sections;
mod stead;

mod syscalls;
mod terraform;
mod tests;
mod watched;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::workspace::{Workspace, cargo};
use driver::{Repeats, run_course};
pub(crate) use options::Options;
use report::{Report, Subject};
use stead::Stead;
use terraform::Terraform;

/// Graph that both sides apply: chains in which each resource needs the output of the one before.
pub(crate) const CHAINS: usize = 10;
pub(crate) const LENGTH: usize = 100;

/// Minimum number of runs of rows that take milliseconds, because they are noisy.
const SHORT_RUNS: usize = 5;

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode, String> {
    let scratch = workspace.target.join("bench");
    renew(&scratch)?;
    let mut report = Report { machine: machine(&scratch), ..Report::default() };
    if options.stead && !options.only_scale {
        let stead = Stead { binary: build(workspace)? };
        report.evaluator = Some(evaluator::measure(&stead, &scratch)?);
        if options.only_evaluator {
            print!("{}", report.evaluator.iter().map(evaluator::Figures::section).collect::<String>());
            return Ok(if options.strict && report.missed() > 0 {
                ExitCode::FAILURE
            } else {
                ExitCode::SUCCESS
            });
        }
        report.stead = Some(subject(&stead, &scratch, options.repeat.unwrap_or(3))?);
        report.notes = syscalls::of_an_up(&stead, &scratch)?;
        report.notes.push(sections::steps(workspace, &scratch)?);
        report.notes.push(sections::patches(workspace)?);
        report.notes.push(tests::section(&stead, &scratch)?);
    }
    if !options.scale.is_empty() {
        let stead = Stead { binary: build(workspace)? };
        report.growth = Some(scale::measure(&stead, &scratch, &options.scale)?);
        report.durability = Some(durable::measure(&stead, &scratch)?);
        report.secrets = Some(secrets::measure(&stead, &scratch)?);
    }
    if options.peer && !options.only_scale {
        match Terraform::find() {
            Some(terraform) => {
                report.peer = Some(subject(&terraform, &scratch, options.repeat.unwrap_or(1))?);
            }
            None => report.notes.push("terraform is not on PATH: there is nothing to compare with.".into()),
        }
    }
    // Only after success: the files of a failed run are evidence.
    std::fs::remove_dir_all(&scratch)
        .map_err(|error| format!("cannot remove {}: {error}", scratch.display()))?;
    let page = report.page();
    print!("{page}");
    if options.write {
        let path = workspace.root.join("docs/benchmarks.md");
        std::fs::write(&path, &page).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(if options.strict && report.missed() > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn subject(tool: &dyn driver::Tool, scratch: &Path, runs: usize) -> Result<Subject, String> {
    let version = process::run(&mut tool.start())?.stdout;
    let repeats = Repeats { short: runs.max(SHORT_RUNS), long: runs };
    Ok(Subject {
        version: version.lines().next().unwrap_or_default().trim().to_owned(),
        times: run_course(tool, scratch, repeats)?,
    })
}

fn build(workspace: &Workspace) -> Result<PathBuf, String> {
    let mut command = Command::new(cargo());
    command.args(["build", "--release", "--package", "stead-cli"]).current_dir(&workspace.root);
    let status = command.status().map_err(|error| format!("cannot run cargo build: {error}"))?;
    if !status.success() {
        return Err("the release binary does not build".to_owned());
    }
    Ok(workspace.target.join("release").join(format!("stead{}", std::env::consts::EXE_SUFFIX)))
}

pub(crate) fn renew(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)
            .map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))
}

/// Returns date and machine of the measurement in one line.
fn machine(scratch: &Path) -> String {
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    let date =
        date.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let (system, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{date}, {cores} cores, {system} {arch}, {}", disk::describe(scratch))
}
