//! `cargo xtask bench`: times the release binary as a user runs it, on a real disk, beside a peer on the same graph.
//!
//! Whole processes are timed, from start to exit, and their results are checked: a fast run that did nothing must never
//! count.

mod aws;
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

use crate::outside::today;
use crate::workspace::{Workspace, cargo};
use driver::{Repeats, run_course};
pub(crate) use options::{Options, Part};
use report::{Report, Subject, with_section};
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
    if let Some(part) = options.only.filter(|part| *part != Part::Scale) {
        return only(workspace, options, part, &scratch);
    }
    let mut report = Report { machine: machine(&scratch), ..Report::default() };
    let is_whole = options.only.is_none();
    if options.stead && is_whole {
        let stead = Stead { binary: build(workspace)? };
        report.evaluator = Some(evaluator::measure(&stead, &scratch)?);
        report.stead = Some(subject(&stead, &scratch, options.repeat.unwrap_or(3))?);
        report.notes = syscalls::of_an_up(&stead, &scratch)?;
        report.notes.push(sections::steps(workspace, &scratch)?);
        report.notes.push(sections::patches(workspace)?);
        report.notes.push(tests::section(&stead, &scratch)?);
        report.aws = Some(aws::measure(&stead, &scratch, options.peer)?);
    }
    if !options.scale.is_empty() {
        let stead = Stead { binary: build(workspace)? };
        report.growth = Some(scale::measure(&stead, &scratch, &options.scale)?);
        report.durability = Some(durable::measure(&stead, &scratch)?);
        report.secrets = Some(secrets::measure(&stead, &scratch)?);
    }
    if options.peer && is_whole {
        match Terraform::find() {
            Some(terraform) => {
                report.peer = Some(subject(&terraform, &scratch, options.repeat.unwrap_or(1))?);
            }
            None => report.notes.push("terraform is not on PATH: there is nothing to compare with.".into()),
        }
    }
    let page = report.page();
    print!("{page}");
    finish(workspace, options, &scratch, report.missed(), |_| page)
}

/// Measures one part, and prints its section. With `--write` the section takes the place of the one on the page.
fn only(workspace: &Workspace, options: &Options, part: Part, scratch: &Path) -> Result<ExitCode, String> {
    let stead = Stead { binary: build(workspace)? };
    let (section, missed) = match part {
        Part::Evaluator | Part::Scale => {
            let figures = evaluator::measure(&stead, scratch)?;
            (figures.section(), figures.missed())
        }
        Part::Aws => {
            let figures = aws::measure(&stead, scratch, options.peer)?;
            (figures.section(), figures.missed())
        }
        Part::Secrets => {
            let figures = secrets::measure(&stead, scratch)?;
            (figures.section(), figures.missed())
        }
    };
    let section = format!("{section}\nMeasured {}.\n", machine(scratch));
    print!("{section}");
    finish(workspace, options, scratch, missed, |page| with_section(&page, &section))
}

/// Removes the files of a measurement, and writes the page.
fn finish(
    workspace: &Workspace,
    options: &Options,
    scratch: &Path,
    missed: usize,
    written: impl FnOnce(String) -> String,
) -> Result<ExitCode, String> {
    // Only after success: the files of a failed run are evidence.
    std::fs::remove_dir_all(scratch)
        .map_err(|error| format!("cannot remove {}: {error}", scratch.display()))?;
    if options.write {
        let path = workspace.root.join("docs/benchmarks.md");
        let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
        let page = written(std::fs::read_to_string(&path).map_err(failed)?);
        std::fs::write(&path, &page).map_err(failed)?;
    }
    Ok(if options.strict && missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
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
    let date = today();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let (system, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{date}, {cores} cores, {system} {arch}, {}", disk::describe(scratch))
}
