//! The property `path`: checks, and comparison of different spellings.

use std::path::Path;

use stead_model::Value;
use stead_provider::Refusal;
use stead_schema::{Change, Problem};
use stead_world::FileKind;

use crate::inputs::{InputView, nul_problem, problem};
use crate::machine::Machine;

pub(crate) const PATH: &str = "path";

/// Returns the problem with the path of a file or folder, if there is one.
pub(crate) fn path_problem(inputs: InputView<'_>) -> Option<Problem> {
    let text = inputs.text(PATH)?;
    if text.is_empty() {
        return Some(problem(PATH, "`path` is empty", "give a path, absolute or relative to the project"));
    }
    nul_problem(inputs, PATH)
}

/// Returns the problem with the path of a file, if there is one.
pub(crate) fn file_path_problem(inputs: InputView<'_>) -> Option<Problem> {
    let of_folder = || {
        let text = inputs.text(PATH)?;
        let last = text.rsplit('/').next().unwrap_or_default();
        let message = format!("`path` {text:?} names a folder");
        matches!(last, "" | "." | "..").then(|| problem(PATH, message, "end it with the name of the file"))
    };
    path_problem(inputs).or_else(of_folder)
}

/// Drops a change of `path` to another spelling of the same path. A replacement would delete the file that it
/// just created.
pub(crate) fn without_respelling(machine: &Machine, mut changes: Vec<Change>) -> Vec<Change> {
    changes.retain(|change| change.path.root() != Some(PATH) || !is_respelling(machine, change));
    changes
}

fn is_respelling(machine: &Machine, change: &Change) -> bool {
    let old = change.old.as_ref().and_then(Value::as_str);
    let new = change.new.as_ref().and_then(|input| input.as_known()).and_then(Value::as_str);
    match (old, new) {
        (Some(old), Some(new)) => machine.locate(old) == machine.locate(new),
        _ => false,
    }
}

/// Refuses a path at which there is an object of another kind; `wanted` completes the message.
pub(crate) fn wrong_kind(path: &Path, found: FileKind, wanted: &str) -> Refusal {
    let found = match found {
        FileKind::File => "a file",
        FileKind::Directory => "a folder",
        FileKind::Other => "neither a file nor a folder",
    };
    Refusal::new(format!("{} is {found}, but {wanted}", path.display()))
        .at(PATH)
        .help("move it away, or choose another `path`")
}

/// Refuses to create an object at a path that exists.
pub(crate) fn already_exists(path: &Path, help: &str) -> Refusal {
    Refusal::new(format!("{} already exists, and this stack does not manage it", path.display()))
        .at(PATH)
        .help(help)
}

/// Refuses to delete a path at which there is an object of another kind.
pub(crate) fn wrong_kind_to_delete(path: &Path, found: FileKind, thing: &str) -> Refusal {
    wrong_kind(path, found, &format!("the {thing} to delete no longer exists"))
        .help("move it away, then try again")
}
