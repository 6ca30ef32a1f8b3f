//! `cargo xtask tidy`: rules of this repository that no compiler checks.
//!
//! Each check is a function over the files in memory (`edges` also reads cargo's metadata, `planted` asks git whether
//! patches apply), in its own file. All findings are reported, not only the first.

mod command_line;
mod doors;
mod edges;
mod error_pages;
mod key_comparisons;
mod plain_english;
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
    command_line::check,
    doors::check,
    error_pages::check,
    key_comparisons::check,
    plain_english::check,
    shape::check,
    promises::check,
    registries::check,
];

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode, String> {
    let files = source::load(&workspace.root)?;
    let mut findings = edges::check(workspace, &files);
    findings.extend(planted::check(&workspace.root, &files));
    findings.extend(CHECKS.iter().flat_map(|check| check(&files)));
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} files, {} findings", files.len(), findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
