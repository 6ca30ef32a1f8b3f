//! One section of a pinfile, opened for one compilation: what is pinned now, against what was.
//!
//! This is the interface for whoever makes something of a graph: [`add_pin`](Pins::add_pin) for each pinned leaf, then
//! [`orphaned_pins`](Pins::orphaned_pins), then [`write`](Pins::write). Nothing here touches a disk.

use std::collections::BTreeSet;

use stead_model::{Code, Diagnostic, Environment};

use super::file::{Content, Entry, Pinfile, Section, print};
use super::path::split_path;

/// The pins of one compilation.
#[derive(Clone, Debug)]
pub struct Pins {
    pub file: Pinfile,
    /// The key of the section in use.
    pub key: String,
    /// The other sections that could have been, the more special ones first.
    behind: Vec<String>,
    current: Section,
    writing: Writing,
}

/// Whether the file may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    Allowed,
    /// It would look as if somebody had taken pins out that were lost with it.
    Withheld,
}

/// What becomes of a section that was read empty: somebody left it so to say that its pins are gone on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptied {
    /// State may still have what was pinned.
    Kept,
    /// Everything is applied: nothing is left to say.
    Removed,
}

/// The targets for which pins are kept: all but the one that is gone with its process.
pub fn keeps_pins(target: &str) -> bool {
    target != "sim"
}

impl Pins {
    pub fn open(file: Pinfile, target: &str, environment: &Environment) -> Pins {
        let mut keys = vec![target.to_owned(), format!("{target}:{}", environment.name)];
        keys.extend(
            environment.namespace.iter().map(|space| format!("{target}:{}:{space}", environment.name)),
        );
        let mut there = keys.into_iter().rev().filter(|key| file.sections.contains_key(key));
        let key = there.next().unwrap_or_else(|| target.to_owned());
        let behind = there.collect();
        Pins { file, key, behind, current: Section::new(), writing: Writing::Allowed }
    }

    /// The section that says what may be deleted. One that is empty was just made, or says that its pins are gone; so
    /// that the first does not unprotect anything, the one behind it is asked, if there is one.
    pub(crate) fn deciding(&self) -> &Section {
        let behind = self.behind.iter().filter_map(|key| self.file.sections.get(key));
        std::iter::once(self.saved())
            .chain(behind)
            .find(|section| !section.is_empty())
            .unwrap_or(self.saved())
    }

    /// The section, of those that could be in use, that has a path.
    pub fn section_with(&self, path: &str) -> Option<&str> {
        let has =
            |key: &&String| self.file.sections.get(*key).is_some_and(|section| section.contains_key(path));
        std::iter::once(&self.key).chain(&self.behind).find(has).map(String::as_str)
    }

    /// What the file says; empty if it says nothing.
    pub fn saved(&self) -> &Section {
        static NONE: Section = Section::new();
        self.file.sections.get(&self.key).unwrap_or(&NONE)
    }

    /// The section is in the file, be it empty.
    pub fn is_there(&self) -> bool {
        self.file.sections.contains_key(&self.key)
    }

    /// The section is of one environment, not of a whole target.
    pub fn is_special(&self) -> bool {
        self.key.contains(':')
    }

    /// A leaf that is pinned now. One that was pinned before keeps its entry as it is.
    pub fn add_pin(&mut self, path: &str, entry: Entry) {
        let entry = self.saved().get(path).cloned().unwrap_or(entry);
        self.current.insert(path.to_owned(), entry);
    }

    /// What is pinned now, under a path that the file does not have.
    pub fn new_pins(&self) -> Vec<&str> {
        self.current.keys().map(String::as_str).filter(|path| !self.saved().contains_key(*path)).collect()
    }

    /// Paths in the file that nothing has any more, and that nothing came from.
    pub fn orphaned_pins(&self) -> Vec<&str> {
        let saved = self.saved();
        let gone = saved.keys().map(String::as_str).filter(|path| !self.current.contains_key(*path));
        let moved: BTreeSet<&str> =
            self.current.values().filter_map(|entry| entry.original_path.as_deref()).collect();
        gone.filter(|path| !moved.contains(path)).collect()
    }

    /// A pin that was added now, to be completed.
    pub(crate) fn entry_mut(&mut self, path: &str) -> Option<&mut Entry> {
        self.current.get_mut(path)
    }

    /// The section is gone, and what was in it is not known to the program alone: whoever writes it now without those
    /// pins would let them go.
    pub(crate) fn withhold(&mut self) {
        self.writing = Writing::Withheld;
    }

    pub fn is_withheld(&self) -> bool {
        self.writing == Writing::Withheld
    }

    /// What is pinned now: the paths that the file has once it is written.
    pub fn paths(&self) -> BTreeSet<String> {
        self.current.keys().cloned().collect()
    }

    /// What the file has to hold so that it says what is pinned now.
    pub fn write(&self, emptied: Emptied) -> Content {
        if self.is_withheld() {
            return Content::Unchanged;
        }
        let mut sections = self.file.sections.clone();
        let was_empty = self.is_there() && self.saved().is_empty();
        if self.current.is_empty() && !(was_empty && emptied == Emptied::Kept) {
            sections.remove(&self.key);
        } else {
            sections.insert(self.key.clone(), self.current.clone());
        }
        changed(&self.file, sections)
    }
}

/// What is different from what was read; sections of others stay as they are.
fn changed(file: &Pinfile, sections: std::collections::BTreeMap<String, Section>) -> Content {
    match (sections.is_empty(), file.is_missing()) {
        (true, true) => Content::Unchanged,
        (true, false) => Content::Remove,
        (false, false) if sections == file.sections => Content::Unchanged,
        (false, _) => Content::Write(print(&sections)),
    }
}

/// Gives a pin another path in all sections of a target, and remembers where it came from. The sections it was in.
pub fn move_pin(
    file: &Pinfile,
    target: &str,
    from: &str,
    to: &str,
) -> Result<(Content, Vec<String>), Diagnostic> {
    let types = (split_path(from).map(|path| path.0), split_path(to).map(|path| path.0));
    let (Some(old), Some(new)) = types else {
        let bad = if types.0.is_none() { from } else { to };
        let problem = Diagnostic::error(Code::NO_SUCH_PIN, format!("{bad:?} is no path of a leaf"));
        return Err(problem.help("a path is a type, a dot and an id: local.KeyPair.deploy"));
    };
    if old != new {
        let message = format!("{from} cannot become {to}: a {old} is no {new}");
        return Err(Diagnostic::error(Code::NO_SUCH_PIN, message));
    }
    let mut sections = file.sections.clone();
    let mut moved = Vec::new();
    for (key, section) in sections.iter_mut().filter(|(key, _)| is_of(key, target)) {
        let Some(entry) = section.remove(from) else { continue };
        if section.contains_key(to) {
            let message = format!("{to} is pinned already in section {key:?} of {}", file.name);
            return Err(Diagnostic::error(Code::NO_SUCH_PIN, message)
                .help(format!("if that entry is wrong, remove it first: stead pin rm {to}")));
        }
        // The oldest path stays: an environment may not have made the first move yet.
        let first = entry.original_path.clone().unwrap_or_else(|| from.to_owned());
        let original_path = Some(first).filter(|first| first != to);
        let came_from =
            |(_, other): &(&String, &Entry)| original_path.is_some() && other.original_path == original_path;
        if let Some((other, _)) = section.iter().find(came_from) {
            let message = format!("{from} is {other} by now, and one leaf cannot become two");
            return Err(Diagnostic::error(Code::NO_SUCH_PIN, message)
                .note(format!("The originalPath of {other} in section {key:?} of {} says so.", file.name))
                .help(format!(
                    "if {from} is something else, remove its entry and pin it anew: stead pin rm {from}"
                )));
        }
        section.insert(to.to_owned(), Entry { original_path, ..entry });
        moved.push(key.clone());
    }
    if moved.is_empty() {
        return Err(no_such_pin(file, from));
    }
    Ok((changed(file, sections), moved))
}

/// Takes a pin out of a section. The section stays, be it empty: that says that it was done on purpose.
pub fn remove_pin(file: &Pinfile, section: &str, path: &str) -> Result<Content, Diagnostic> {
    let mut sections = file.sections.clone();
    let removed = sections.get_mut(section).and_then(|entries| entries.remove(path));
    if removed.is_none() {
        return Err(no_such_pin(file, path));
    }
    Ok(changed(file, sections))
}

/// Of what state remembers, what a section does not have, be it under another path by now.
pub fn missing_entries(pins: &Pins, recorded: Section) -> Section {
    let moved: BTreeSet<&String> =
        pins.saved().values().filter_map(|entry| entry.original_path.as_ref()).collect();
    let is_there = |path: &String| pins.saved().contains_key(path) || moved.contains(path);
    recorded.into_iter().filter(|(path, _)| !is_there(path)).collect()
}

/// Adds entries that are not there yet, and the section if need be.
pub fn add_entries(file: &Pinfile, section: &str, entries: Section) -> Content {
    let mut sections = file.sections.clone();
    let known = sections.entry(section.to_owned()).or_default();
    for (path, entry) in entries {
        known.entry(path).or_insert(entry);
    }
    changed(file, sections)
}

/// A section of a target: its own, or that of one environment on it.
fn is_of(section: &str, target: &str) -> bool {
    section.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

pub fn no_such_pin(file: &Pinfile, path: &str) -> Diagnostic {
    let problem = Diagnostic::error(Code::NO_SUCH_PIN, format!("{path} is not pinned in {}", file.name));
    let known = file.sections.values().flat_map(Section::keys).map(String::as_str);
    match stead_model::nearest(path, known) {
        Some(meant) => problem.help(format!("did you mean {meant}?")),
        None => problem.help("`stead pin ls` lists the pins there are"),
    }
}
