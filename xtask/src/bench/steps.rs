//! What one step costs by the size of the state, measured inside a process: loading and closing are left out.

use std::path::Path;
use std::process::Command;

use crate::workspace::{Workspace, cargo};

/// A section of the page, with the table that the example prints.
pub(crate) fn section(workspace: &Workspace, scratch: &Path) -> Result<String, String> {
    let mut command = Command::new(cargo());
    command
        .args(["run", "--quiet", "--release", "--package", "stead-trial", "--example", "steps", "--"])
        .arg(scratch.join("steps"))
        .current_dir(&workspace.root);
    let output = command.output().map_err(|error| format!("cannot measure steps: {error}"))?;
    if !output.status.success() {
        return Err(format!("cannot measure steps:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let table = String::from_utf8_lossy(&output.stdout);
    Ok(format!(
        "## What a step costs\n\nA `Begin` and an `End` in the journal, each durable before the next: one update of \
         each of 100 resources,\nin 20 rounds, of which the best counts. Loading the state and closing the run are not \
         in it. It must not depend\non the size of the state.\n\n{}",
        table.trim_end()
    ))
}
