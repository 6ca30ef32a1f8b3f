//! `cargo xtask tidy`: what taste forbids, as a program.
//!
//! Each check is a function over files in memory (the edges: over cargo's metadata), in a file of its own.
//! All findings are shown, not only the first.

mod determinism;
mod edges;
mod error_pages;
mod paths;
mod planted;
mod promises;
mod registries;
mod shape;
mod source;
mod tokens;

use std::process::ExitCode;

use crate::workspace::Workspace;
use source::{Finding, SourceFile};

type Check = fn(&[SourceFile]) -> Vec<Finding>;

const CHECKS: &[Check] = &[
    determinism::check,
    error_pages::check,
    shape::check,
    planted::check,
    promises::check,
    registries::check,
];

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode, String> {
    let files = source::load(&workspace.root)?;
    let mut findings = edges::check(workspace);
    findings.extend(CHECKS.iter().flat_map(|check| check(&files)));
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} files, {} findings", files.len(), findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
