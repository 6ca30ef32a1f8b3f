//! The property `path`: checks, and comparison of different spellings.

use std::path::Path;

use stead_model::{Hint, NextStep, Value};
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

/// Drops a change of `path` to another spelling of the same place. Returns true if there was one.
///
/// The place counts, not the text: a replacement would delete the file that it just created.
pub(crate) async fn drop_respelling(machine: &Machine, changes: &mut Vec<Change>) -> bool {
    let Some(at) = changes.iter().position(|change| change.path.root() == Some(PATH)) else { return false };
    let same = match paths(&changes[at]) {
        Some((old, new)) => machine.is_same_place(old, new).await,
        None => false,
    };
    if same {
        changes.remove(at);
    }
    same
}

/// Returns the old and the new path, if both are known.
fn paths(change: &Change) -> Option<(&str, &str)> {
    let old = change.old.as_ref().and_then(Value::as_str)?;
    let new = change.new.as_ref().and_then(|input| input.as_known()).and_then(Value::as_str)?;
    Some((old, new))
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

/// Refuses to delete a file that is not the one that this stack wrote; `how` completes the message.
pub(crate) fn changed_outside(path: &Path, how: &str) -> Refusal {
    Refusal::new(format!("{} {how}, so that it was not deleted", path.display())).at(PATH).help(
        Hint::text("keep a copy if it matters; then ")
            .then(NextStep::Refresh)
            .and(" shows the difference and records it, and the next run deletes the file"),
    )
}

/// Refuses to overwrite a file that is not as recorded; `how` completes the message.
pub(crate) fn not_overwritten(path: &Path, how: &str) -> Refusal {
    Refusal::new(format!("{} {how}. Nothing was overwritten", path.display())).at(PATH).help(
        Hint::from(NextStep::PlanRefreshed)
            .and(" shows the difference; to keep it, declare it in the program; to overwrite it, ")
            .then(NextStep::ApplyRefreshed),
    )
}

/// Refuses to delete a path at which there is an object of another kind.
pub(crate) fn wrong_kind_to_delete(path: &Path, found: FileKind, thing: &str) -> Refusal {
    wrong_kind(path, found, &format!("the {thing} to delete no longer exists"))
        .help("move it away, then try again")
}
