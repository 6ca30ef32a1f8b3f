//! `cargo xtask fuzz`: builds the fuzz targets with coverage and runs each for a while.
//!
//! A stable compiler and a C++ compiler are enough: the coverage flags are stable, and no sanitizer is used.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::workspace::Workspace;

/// How long each target runs.
#[derive(Clone, Copy)]
enum Extent {
    /// New inputs every time.
    Seconds(u32),
    /// The same inputs every time, because the seed is fixed: a merge does not depend on luck.
    Inputs(u32),
}

impl Extent {
    fn arguments(self) -> Vec<String> {
        match self {
            Extent::Seconds(seconds) => vec![format!("-max_total_time={seconds}")],
            Extent::Inputs(inputs) => vec![format!("-runs={inputs}"), "-seed=1".to_owned()],
        }
    }
}

const COVERAGE: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
];

struct Options {
    extent: Extent,
    /// Empty for all targets.
    targets: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options { extent: Extent::Seconds(10), targets: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let extent: fn(u32) -> Extent = match argument.as_str() {
                "--seconds" => Extent::Seconds,
                "--inputs" => Extent::Inputs,
                _ => {
                    options.targets.push(argument.clone());
                    continue;
                }
            };
            let value = rest.next().and_then(|value| value.parse().ok());
            options.extent = extent(value.ok_or_else(|| format!("{argument} needs a number"))?);
        }
        Ok(options)
    }
}

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode, String> {
    let options = Options::parse(arguments)?;
    let (root, folder) = (&workspace.root, &workspace.target.join("fuzz"));
    let targets = targets(root, &options.targets)?;
    let host = host()?;
    build(root, folder, &host)?;
    let mut crashed = Vec::new();
    for target in &targets {
        println!("fuzz {target}");
        if !fuzz(root, folder, &host, (target, options.extent))? {
            crashed.push(target.as_str());
        }
    }
    println!("fuzz: {} targets, {} crashed {}", targets.len(), crashed.len(), crashed.join(" "));
    Ok(if crashed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The targets to run, in order of their names.
fn targets(root: &Path, wanted: &[String]) -> Result<Vec<String>, String> {
    let folder = root.join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut all: Vec<String> = files
        .filter_map(|file| Some(file.ok()?.path().file_stem()?.to_string_lossy().into_owned()))
        .collect();
    all.sort();
    match wanted.iter().find(|name| !all.contains(name)) {
        Some(unknown) => Err(format!("there is no fuzz target {unknown}; there are {}", all.join(", "))),
        None if wanted.is_empty() => Ok(all),
        None => Ok(wanted.to_vec()),
    }
}

/// The target triple of this machine. Flags for an explicit target do not reach build scripts.
fn host() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not name its host".to_owned())
}

/// Builds the targets with the versions that the workspace has locked.
fn build(root: &Path, folder: &Path, host: &str) -> Result<(), String> {
    let copied = std::fs::copy(root.join("Cargo.lock"), root.join("fuzz/Cargo.lock"));
    copied.map_err(|error| format!("fuzz/Cargo.lock: {error}"))?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--manifest-path", "fuzz/Cargo.toml", "--target", host]);
    cargo.current_dir(root).env("RUSTFLAGS", COVERAGE.join(" ")).env("CARGO_TARGET_DIR", folder);
    match cargo.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("the fuzz targets do not build".to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// Returns false if the target crashed. New inputs are kept below the target folder.
fn fuzz(root: &Path, folder: &Path, host: &str, (target, extent): (&str, Extent)) -> Result<bool, String> {
    let (found, artifacts) = (folder.join("corpus").join(target), folder.join("artifacts"));
    for folder in [&found, &artifacts] {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut command = Command::new(folder.join(host).join("debug").join(target));
    command.args(extent.arguments()).arg("-verbosity=0");
    command.arg(format!("-artifact_prefix={}/{target}-", artifacts.display()));
    command.arg(&found).arg(root.join("fuzz/corpus").join(target)).current_dir(root);
    let status = command.status().map_err(|error| format!("{target}: {error}"))?;
    Ok(status.success())
}
