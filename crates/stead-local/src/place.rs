//! The property `path`: what may stand in it, and when two spellings mean one place.

use std::path::Path;

use stead_model::Value;
use stead_provider::Refusal;
use stead_schema::{Change, Problem};
use stead_world::FileKind;

use crate::given::{Given, has_nul, problem};
use crate::machine::Machine;

pub(crate) const PATH: &str = "path";

/// What is wrong with a path to anything.
pub(crate) fn path_problem(inputs: Given<'_>) -> Option<Problem> {
    let text = inputs.text(PATH)?;
    if text.is_empty() {
        return Some(problem(PATH, "`path` is empty", "give a path, absolute or relative to the project"));
    }
    has_nul(inputs, PATH)
}

/// What is wrong with a path to a file.
pub(crate) fn file_path_problem(inputs: Given<'_>) -> Option<Problem> {
    let of_folder = || {
        let text = inputs.text(PATH)?;
        let last = text.rsplit('/').next().unwrap_or_default();
        let message = format!("`path` {text:?} names a folder");
        matches!(last, "" | "." | "..").then(|| problem(PATH, message, "end it with the name of the file"))
    };
    path_problem(inputs).or_else(of_folder)
}

/// Drops a change of `path` that leads to the same place. To replace there would be to delete what was
/// just made.
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

/// Something is where something else should be.
pub(crate) fn in_the_way(path: &Path, found: FileKind, wanted: &str) -> Refusal {
    let found = match found {
        FileKind::File => "a file",
        FileKind::Directory => "a folder",
        FileKind::Other => "neither a file nor a folder",
    };
    Refusal::new(format!("{} is {found}, and {wanted}", path.display()))
        .at(PATH)
        .help("move it away, or choose another `path`")
}

/// Something is at a path that is to be made anew. `help` says what to do about it.
pub(crate) fn taken(path: &Path, help: &str) -> Refusal {
    Refusal::new(format!("{} is there already, and it is not ours", path.display())).at(PATH).help(help)
}

/// Something else is at a path whose thing is to be deleted.
pub(crate) fn not_ours_to_delete(path: &Path, found: FileKind, thing: &str) -> Refusal {
    in_the_way(path, found, &format!("the {thing} to delete is no longer there"))
        .help("see what it is; once it is out of the way, try again")
}
