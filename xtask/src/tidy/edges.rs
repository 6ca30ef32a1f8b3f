//! Dependencies between the crates of this workspace, which must match the table in ARCHITECTURE.md exactly.
//!
//! A new edge is a decision, made and explained in that table. An edge that the table lacks is an error, and so is an
//! edge in the table that no manifest has, or a dependency that the code does not use.

use crate::workspace::{Dependency, Package, Workspace};

use super::source::{Finding, SourceFile};
use super::tokens::tokens;

const PAGE: &str = "ARCHITECTURE.md";

/// Crates that the tests of any crate may use in addition: real components are better than mocks of them.
const FOR_TESTS: &[&str] = &["stead-cloud", "stead-guard", "stead-journal", "stead-state", "stead-store"];

/// Row of the table: a crate and the crates that it uses.
struct Row<'a> {
    name: &'a str,
    uses: Vec<String>,
    line: usize,
}

pub(crate) fn check(workspace: &Workspace, files: &[SourceFile]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![Finding::whole(PAGE, "the page with the table of crates is missing")];
    };
    let rows = rows_of(&page.text);
    let names: Vec<&str> = workspace.packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let manifest = manifest_of(workspace, package);
        findings.extend(misplaced(package, &manifest));
        let Some(row) = rows.iter().find(|row| row.name == package.name) else {
            findings
                .push(Finding::whole(manifest, format!("`{}` is not in the table of {PAGE}", package.name)));
            continue;
        };
        let inside = package.dependencies.iter().filter(|used| names.contains(&used.name.as_str()));
        for used in inside {
            if !allowed(row, used) {
                findings.push(Finding::whole(&*manifest, forbidden(package, used)));
            } else if !is_mentioned(package, used, files) {
                let message = format!("`{}` depends on `{}` and does not use it", package.name, used.name);
                findings.push(Finding::whole(&*manifest, message));
            }
        }
        let unused = row.uses.iter().filter(|name| !has_edge(package, name));
        findings.extend(unused.map(|name| {
            page.finding(row.line, format!("`{}` does not use `{name}`: remove the permission", package.name))
        }));
    }
    let unknown = rows.iter().filter(|row| !names.contains(&row.name));
    findings.extend(unknown.map(|row| page.finding(row.line, format!("there is no crate `{}`", row.name))));
    findings.extend(unused_for_tests(workspace));
    findings
}

/// Reads the rows of the table: the crate in backticks, its responsibility, and the crates that it uses, without `stead-`.
fn rows_of(text: &str) -> Vec<Row<'_>> {
    let row = |(number, line): (usize, &'_ str)| -> Option<(usize, Vec<String>)> {
        let cells: Vec<&str> = line.strip_prefix("| `")?.trim_end().strip_suffix('|')?.split(" | ").collect();
        let [_, _, uses] = cells.as_slice() else { return None };
        let names = uses.split(',').map(|name| name.split('(').next().unwrap_or_default().trim());
        Some((number + 1, names.filter(|name| *name != "–").map(full_name).collect()))
    };
    let name = |line: &'_ str| -> usize { line["| `".len()..].find('`').unwrap_or(0) };
    let lines = text.lines().enumerate().skip_while(|(_, line)| !line.starts_with("| crate |"));
    lines
        .take_while(|(_, line)| line.starts_with('|'))
        .filter_map(|(number, line)| {
            let (line_number, uses) = row((number, line))?;
            Some(Row { name: &line["| `".len()..][..name(line)], uses, line: line_number })
        })
        .collect()
}

fn full_name(short: &str) -> String {
    if short == "stead" { short.to_owned() } else { format!("stead-{short}") }
}

fn manifest_of(workspace: &Workspace, package: &Package) -> String {
    let manifest = package.manifest_path.strip_prefix(&workspace.root).unwrap_or(&package.manifest_path);
    manifest.to_string_lossy().replace('\\', "/")
}

fn folder_of(package: &Package) -> String {
    if package.name == "xtask" { "xtask/".to_owned() } else { format!("crates/{}/", package.name) }
}

/// Checks that crates lie flat in `crates/`, in folders of their names.
fn misplaced(package: &Package, manifest: &str) -> Option<Finding> {
    let home = format!("{}Cargo.toml", folder_of(package));
    let message = format!("the crate `{}` belongs in {home}", package.name);
    (manifest != home).then(|| Finding::whole(manifest, message))
}

fn is_dev(used: &Dependency) -> bool {
    used.kind.as_deref() == Some("dev")
}

fn allowed(row: &Row<'_>, used: &Dependency) -> bool {
    row.uses.contains(&used.name) || (is_dev(used) && FOR_TESTS.contains(&used.name.as_str()))
}

fn has_edge(package: &Package, name: &str) -> bool {
    package.dependencies.iter().any(|used| used.name == name && !is_dev(used))
}

/// Returns true if the code of a package mentions a dependency; for a normal one, code outside its tests must.
fn is_mentioned(package: &Package, used: &Dependency, files: &[SourceFile]) -> bool {
    let (folder, word) = (folder_of(package), used.name.replace('-', "_"));
    let mut own = files
        .iter()
        .filter(|file| file.is_rust() && file.path.starts_with(&folder))
        .filter(|file| is_dev(used) || !file.is_test());
    own.any(|file| file.text.contains(&word) && tokens(&file.text).iter().any(|token| token.is_word(&word)))
}

fn forbidden(package: &Package, used: &Dependency) -> String {
    let how = match used.kind.as_deref() {
        Some("dev") => " in its tests",
        Some("build") => " in its build script",
        _ => "",
    };
    format!("`{}` may not use `{}`{how}: the edge is not in the table of {PAGE}", package.name, used.name)
}

/// Returns a finding for each crate of `FOR_TESTS` that no crate uses in its tests alone.
fn unused_for_tests(workspace: &Workspace) -> impl Iterator<Item = Finding> {
    let present = |name: &str| workspace.packages.iter().any(|package| package.name == name);
    let used = |name: &str| {
        let mut all = workspace.packages.iter().flat_map(|package| &package.dependencies);
        all.any(|used| used.name == name && is_dev(used))
    };
    FOR_TESTS.iter().filter(move |name| present(name) && !used(name)).map(|name| {
        Finding::whole("xtask/src/tidy/edges.rs", format!("no test uses `{name}`: remove it from FOR_TESTS"))
    })
}

#[cfg(test)]
mod tests;
