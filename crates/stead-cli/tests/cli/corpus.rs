//! Corpus: states, journals, pinfiles, exports and saved plans of earlier versions.
//!
//! Every version reads all of them and keeps their records. `tests/corpus/README.md` describes the cases. Each test
//! works on a copy of a case, so that the files of the corpus never change.

mod plans;
mod recovery;
mod stacks;
mod states;

use std::path::PathBuf;

use crate::project::{Project, Ran};

/// Program that declares no resource.
const NO_RESOURCES: &str = "export {};\n";

const PINFILE: &str = "main.ts.pin.json";

/// Copies a case into a temporary folder.
fn case(name: &str) -> Project {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    assert!(folder.is_dir(), "{} is not in the corpus", folder.display());
    Project::copy_of(&folder)
}

/// Runs a command on the stack of an environment, written `environment` or `environment:namespace`.
fn on(project: &Project, environment: &str, arguments: &[&str]) -> Ran {
    let (name, namespace) = environment.split_once(':').unwrap_or((environment, ""));
    let stack = ["-e", name, "--namespace", namespace];
    let used = if namespace.is_empty() { 2 } else { 4 };
    project.stead(&[arguments, &stack[..used]].concat())
}

/// Declares an environment in `stead.toml`, for a command that makes its stack.
fn declare(project: &Project, environment: &str) {
    let (name, _) = environment.split_once(':').unwrap_or((environment, ""));
    assert!([0, 1].contains(&project.stead(&["env", "new", name]).code), "{name}");
}

/// Asserts that a guard refuses a command, and that the command changes no file.
fn assert_refused(project: &Project, environment: &str, arguments: &[&str]) -> Ran {
    let before = project.all_files();
    let refused = on(project, environment, arguments).ends(13);
    assert_eq!(project.all_files(), before, "{environment}: {arguments:?} changed a file");
    refused
}
