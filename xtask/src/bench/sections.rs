//! Sections of the page that are measured inside a process, by examples that print their own tables.

use std::path::Path;
use std::process::Command;

use crate::workspace::{Workspace, cargo};

/// Measures the cost of one step by the size of the state, without loading and closing.
pub(crate) fn steps(workspace: &Workspace, scratch: &Path) -> Result<String, String> {
    let folder = scratch.join("steps");
    let table = table(workspace, "stead-trial", "steps", Some(&folder))?;
    Ok(format!(
        "## What a step costs\n\nA `Begin` and an `End` in the journal, each durable before the next: one update of \
         each of 100 resources,\nin 20 rounds, of which the best counts. Loading the state and closing the run are not \
         in it. It must not depend\non the size of the state.\n\n{table}"
    ))
}

/// Measures the cost of a patch for every AWS type that can be updated.
pub(crate) fn patches(workspace: &Workspace) -> Result<String, String> {
    let table = table(workspace, "stead-cloud", "patches", None)?;
    Ok(format!(
        "## Patches for AWS types\n\nEvery type that can be updated, with every property set that can be; the best of \
         five runs each.\n\n{table}"
    ))
}

fn table(
    workspace: &Workspace,
    package: &str,
    example: &str,
    argument: Option<&Path>,
) -> Result<String, String> {
    let mut command = Command::new(cargo());
    command
        .args(["run", "--quiet", "--release", "--package", package, "--example", example, "--"])
        .args(argument)
        .current_dir(&workspace.root);
    let output = command.output().map_err(|error| format!("cannot run the example {example}: {error}"))?;
    if !output.status.success() {
        return Err(format!("the example {example} failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
