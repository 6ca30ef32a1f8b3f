//! Metadata of this workspace from cargo: its folder, its crates and their dependencies. Its files, from git.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// Part of `cargo metadata --no-deps` that the tasks need.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    /// Name of the crate, even if the manifest renames it.
    pub(crate) name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

impl Workspace {
    pub(crate) fn load() -> Result<Workspace, String> {
        let output = Command::new(cargo())
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .output()
            .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        Workspace::parse(&output.stdout)
    }

    pub(crate) fn parse(json: &[u8]) -> Result<Workspace, String> {
        serde_json::from_slice(json).map_err(|error| format!("cannot read cargo metadata: {error}"))
    }
}

/// Returns the paths of all files of the repository: those that git tracks, and new files that it does not ignore.
///
/// A new file counts, so that a finding about it shows before the commit. A deleted file is listed until the commit.
pub(crate) fn files(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git to list the files: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let listing = String::from_utf8_lossy(&output.stdout);
    Ok(listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// Returns the cargo that runs this program, so that the same toolchain does all the work.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
