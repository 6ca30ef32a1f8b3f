//! The diagnostics of a pinfile that contradicts the program.

use stead_model::{Code, Diagnostic, Hint, Input, Name, NextStep, Node, SourceRef, TypeToken, nearest};

use super::apply::Override;
use super::file::PinEntry;
use super::path::split_path;
use super::section::Pins;

type Place = Option<(SourceRef, usize)>;

fn at(problem: Diagnostic, place: Place, text: &str) -> Diagnostic {
    place.into_iter().fold(problem, |problem, (place, length)| problem.at(place, length, text))
}

/// Returns `file:line:column`, or the file alone if the place is not known.
fn position(file: &str, place: &Place) -> String {
    match place {
        Some((place, _)) => format!("{file}:{}:{}", place.line, place.column),
        None => file.to_owned(),
    }
}

pub(super) fn unknown_type(file: &str, path: &str, resource: &TypeToken, place: Place) -> Diagnostic {
    let message = format!("{}: there is no type {resource}", position(file, &place));
    let hint = Hint::text("correct the type in the key and in `type`; or remove the entry: ");
    at(Diagnostic::error(Code::BAD_PINFILE, message), place, "pinned here")
        .help(hint.then(NextStep::RemovePin { path: path.to_owned() }))
}

pub(super) fn unknown_attribute(
    file: &str,
    resource: &TypeToken,
    attribute: &str,
    settable: &[String],
    place: Place,
) -> Diagnostic {
    let message = format!("{}: `{attribute}` of {resource} cannot be set", position(file, &place));
    let problem = at(Diagnostic::error(Code::BAD_PINFILE, message), place, "here");
    match nearest(attribute, settable.iter().map(String::as_str)) {
        Some(meant) => problem.help(format!("did you mean `{meant}`?")),
        None => problem.help("remove it from the file"),
    }
}

pub(super) fn original_is_declared(file: &str, path: &str, original: &str, place: Place) -> Diagnostic {
    let position = position(file, &place);
    let message = format!("{position}: {path} was moved from {original}, which the program also declares");
    at(Diagnostic::error(Code::BAD_PINFILE, message), place, "its `originalPath` is in use")
        .note(
            "In an environment where the move is not applied yet, it is ambiguous which of the two is the old one.",
        )
        .help("give the new resource another id")
        .help("if the move is applied in every environment, remove `originalPath` from the entry")
}

pub(super) fn orphaned(pins: &Pins, orphaned: &[String], added: &[&str]) -> Diagnostic {
    let several = orphaned.len() > 1;
    let (noun, verb) = if several { ("resources", "have") } else { ("resource", "has") };
    let list = orphaned.iter().map(|path| format!("\n  - {path}")).collect::<String>();
    let message = format!("the following pinned {noun} {verb} been moved or deleted:{list}");
    let mut problem = Diagnostic::error(Code::PIN_ORPHANED, message);
    for path in orphaned {
        problem = at(problem, pins.file.place(&pins.key, path), "pinned here");
    }
    let file = &pins.file.name;
    problem = problem.note("Nothing was written, and no provider was called.");
    problem = problem.help(format!(
        "if moved, update the key in {file} to reflect the new path, with the old one as \"originalPath\""
    ));
    for (from, to) in likely_moves(orphaned, added) {
        let move_pin = NextStep::MovePin { from: from.to_owned(), to: to.to_owned() };
        problem = problem.help(Hint::text("to record the move: ").then(move_pin));
    }
    let path = match orphaned {
        [path] => path.clone(),
        _ => "PATH".to_owned(),
    };
    let hint = Hint::text(format!("if deleted, release the pin in {file}: "));
    problem.help(hint.then(NextStep::RemovePin { path }))
}

/// Returns pairs of an orphaned and an added path that are the only ones of their type.
fn likely_moves<'a>(orphaned: &'a [String], added: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let kind = |path: &str| split_path(path).map(|(kind, _)| kind.to_owned());
    let alone = |path: &str, all: &mut dyn Iterator<Item = &'a str>| {
        all.filter(|other| kind(other) == kind(path)).count() == 1
    };
    let moved = orphaned.iter().map(String::as_str).filter_map(|old| {
        let new = added.iter().copied().find(|new| kind(new) == kind(old))?;
        let certain =
            alone(old, &mut orphaned.iter().map(String::as_str)) && alone(old, &mut added.iter().copied());
        certain.then_some((old, new))
    });
    moved.collect()
}

pub(super) fn unpinned_and_moved(file: &str, node: &Node, path: &str, entry: &PinEntry) -> Diagnostic {
    let original = entry.original_path.as_deref().unwrap_or_default();
    let message =
        format!("{} is no longer pinned, and the same run would move it from {original}", node.name);
    Diagnostic::error(Code::UNPINNED_AND_CHANGED, message)
        .at(node.source.clone(), 0, "declared here")
        .note(format!("{path} is in {file}. Nothing was changed."))
        .help(Hint::text("leave it pinned, ").then(NextStep::Apply).and(", then unpin it"))
}

pub(super) fn unpinned_and_changed(file: &str, node: &Node, differing: &[Override]) -> Diagnostic {
    let names: Vec<String> = differing.iter().map(|over| format!("`{}`", over.property)).collect();
    let message =
        format!("{} is no longer pinned, and {} changed in the same run", node.name, names.join(", "));
    let problem =
        Diagnostic::error(Code::UNPINNED_AND_CHANGED, message).at(node.source.clone(), 0, "declared here");
    let problem = differing.iter().fold(problem, |problem, over| problem.note(difference(file, over)));
    problem
        .note("Nothing was changed: unpinning a resource and changing its identity take two runs.")
        .help(Hint::text("undo the change, ").then(NextStep::Apply).and(" to unpin it, then change it"))
}

/// A warning that the frozen values of a moved and unpinned resource hold in this run and not in the next.
pub(super) fn last_time_frozen(file: &str, node: &Node, differing: &[Override]) -> Diagnostic {
    let message = format!("{} keeps the values of {file} for the last time", node.name);
    let problem =
        Diagnostic::warning(Code::UNPINNED_AND_CHANGED, message).at(node.source.clone(), 0, "unpinned");
    let problem = differing.iter().fold(problem, |problem, over| problem.note(difference(file, over)));
    problem
        .note("It is unpinned now. The next run follows the program, which may replace it.")
        .help("to keep it as it is, set the values of the file in the program")
}

pub(super) fn frozen_before_created(pins: &Pins, name: &Name, path: &str) -> Diagnostic {
    let (file, key) = (&pins.file.name, &pins.key);
    let (target, environment) = (key.split(':').next().unwrap_or_default(), name.environment());
    let message = format!("{name} does not exist yet, but {file} has values for it");
    at(Diagnostic::warning(Code::FROZEN_BEFORE_CREATED, message), pins.file.place(key, path), "frozen here")
        .note("That is right for a moved resource, and wrong if the values belong to another environment.")
        .help(format!(
            "if the values differ between environments, add a section to \"pinned\": \"{target}:{environment}\": {{}}"
        ))
}

/// Returns the values of a property in the file and in the program, in words.
fn difference(file: &str, over: &Override) -> String {
    let value = over.value.to_json();
    format!("`{}` is {value} in {file}, and {}", over.property, program_value(over))
}

/// Returns the program's value of a frozen property, as a clause for a message.
pub fn program_value(over: &Override) -> String {
    match &over.program {
        None => "the program does not set it".to_owned(),
        Some(Input::Known(value)) => format!("the program sets {}", value.to_json()),
        Some(_) => "the program sets a value known only after apply".to_owned(),
    }
}
