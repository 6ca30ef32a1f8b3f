//! What is said when pins are in the way: what, why, what now.

use stead_model::{Code, Diagnostic, Input, Name, Node, SourceRef, TypeToken, nearest};

use super::file::Entry;
use super::path::split_path;
use super::section::Pins;
use super::settle::Override;

type Place = Option<(SourceRef, usize)>;

fn at(problem: Diagnostic, place: Place, text: &str) -> Diagnostic {
    place.into_iter().fold(problem, |problem, (place, length)| problem.at(place, length, text))
}

pub(crate) fn unknown_type(file: &str, path: &str, resource: &TypeToken, place: Place) -> Diagnostic {
    let position = place.as_ref().map(|(place, _)| format!(":{}:{}", place.line, place.column));
    let message = format!("{file}{}: there is no type {resource}", position.unwrap_or_default());
    let problem = Diagnostic::error(Code::BAD_PINFILE, message);
    at(problem, place, "pinned here")
        .help(format!("correct the type in the key and in `type`; or remove the entry: stead pin rm {path}"))
}

pub(crate) fn unknown_attribute(
    file: &str,
    resource: &TypeToken,
    attribute: &str,
    settable: &[String],
    place: Place,
) -> Diagnostic {
    let position = place.as_ref().map(|(place, _)| format!(":{}:{}", place.line, place.column));
    let message =
        format!("{file}{}: nobody can set `{attribute}` of a {resource}", position.unwrap_or_default());
    let problem = at(Diagnostic::error(Code::BAD_PINFILE, message), place, "here");
    match nearest(attribute, settable.iter().map(String::as_str)) {
        Some(meant) => problem.help(format!("did you mean `{meant}`?")),
        None => problem.help("remove it from the file"),
    }
}

pub(crate) fn original_is_declared(file: &str, path: &str, original: &str, place: Place) -> Diagnostic {
    let position = place.as_ref().map(|(place, _)| format!(":{}:{}", place.line, place.column));
    let position = position.unwrap_or_default();
    let message = format!("{file}{position}: {path} came from {original}, which the program declares too");
    at(Diagnostic::error(Code::BAD_PINFILE, message), place, "its `originalPath` is in use")
        .note("In an environment that has not moved yet, nobody could tell which of the two is the old one.")
        .help("give the new resource another id")
        .help("if every environment has moved, remove `originalPath` from the entry")
}

/// The seed of all this: what was pinned is gone, and nobody said why.
pub(crate) fn orphaned(pins: &Pins, orphaned: &[String], added: &[&str]) -> Diagnostic {
    let several = orphaned.len() > 1;
    let (noun, verb) = if several { ("resources", "have") } else { ("resource", "has") };
    let list = orphaned.iter().map(|path| format!("\n  - {path}")).collect::<String>();
    let message = format!("the following pinned {noun} {verb} been moved or deleted:{list}");
    let mut problem = Diagnostic::error(Code::PIN_ORPHANED, message);
    for path in orphaned {
        problem = at(problem, pins.file.place(&pins.key, path), "pinned here");
    }
    let file = &pins.file.name;
    problem = problem.note("Nothing was written, and no provider was asked anything.");
    problem = problem.help(format!(
        "if moved, update the key in {file} to reflect the new path, with the old one as \"originalPath\""
    ));
    for (old, new) in likely_moves(orphaned, added) {
        problem = problem.help(format!("this does it: stead pin mv {old} {new}"));
    }
    let which = if several { "PATH" } else { orphaned.first().map_or("PATH", String::as_str) };
    problem.help(format!("if deleted, remove the entry from {file}: stead pin rm {which}"))
}

/// Where there is one old and one new path of a type, it is likely the same thing.
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

pub(crate) fn unpinned_and_moved(file: &str, node: &Node, path: &str, entry: &Entry) -> Diagnostic {
    let original = entry.original_path.as_deref().unwrap_or_default();
    let message =
        format!("{} is no longer pinned, and this very run would move it from {original}", node.name);
    Diagnostic::error(Code::UNPINNED_AND_CHANGED, message)
        .at(node.source.clone(), 0, "declared here")
        .note(format!("{path} is in {file}. Nothing was changed."))
        .help("leave it pinned, run `stead up`, then unpin it")
}

pub(crate) fn unpinned_and_changed(file: &str, node: &Node, differing: &[Override]) -> Diagnostic {
    let names: Vec<String> = differing.iter().map(|over| format!("`{}`", over.property)).collect();
    let message = format!("{} is no longer pinned, and {} changed with it", node.name, names.join(", "));
    let problem =
        Diagnostic::error(Code::UNPINNED_AND_CHANGED, message).at(node.source.clone(), 0, "declared here");
    let problem = differing.iter().fold(problem, |problem, over| problem.note(told(file, over)));
    problem
        .note("Nothing was changed: to unpin and to change what it is are two runs.")
        .help("undo the change, run `stead up` to unpin it, then change it")
}

pub(crate) fn last_time(file: &str, node: &Node, differing: &[Override]) -> Diagnostic {
    let message = format!("{} is what {file} made of it for the last time", node.name);
    let problem =
        Diagnostic::warning(Code::UNPINNED_AND_CHANGED, message).at(node.source.clone(), 0, "unpinned");
    let problem = differing.iter().fold(problem, |problem, over| problem.note(told(file, over)));
    problem
        .note("It is unpinned now. The next run follows the program, which may replace it.")
        .help("to keep it as it is, let the program say what the file said")
}

pub(crate) fn frozen_before_made(pins: &Pins, name: &Name, path: &str) -> Diagnostic {
    let (file, key) = (&pins.file.name, &pins.key);
    let environment = name.environment();
    let message = format!("{name} is not there yet, and {file} says what it is called");
    at(Diagnostic::warning(Code::FROZEN_BEFORE_CREATED, message), pins.file.place(key, path), "frozen here")
        .note("That is right for something that moved; it is wrong if the values are another environment's.")
        .help(format!(
            "if environments differ, add a section of its own to \"pinned\": \"{key}:{environment}\": {{}}"
        ))
}

/// `path` is "a" in main.ts.pin.json, and "b" in the program.
fn told(file: &str, over: &Override) -> String {
    let value = over.value.to_json();
    format!("`{}` is {value} in {file}, and {}", over.property, program_word(over))
}

/// What the program says, for a person.
pub fn program_word(over: &Override) -> String {
    match &over.program {
        None => "the program says nothing".to_owned(),
        Some(Input::Known(value)) => format!("the program says {}", value.to_json()),
        Some(_) => "the program says what is known only after apply".to_owned(),
    }
}
