//! One section of a pinfile, opened for one evaluation of the program: the pins of the program against those of the file.
//!
//! Usage: [`add_pin`](Pins::add_pin) for each pinned leaf, then [`orphaned_pins`](Pins::orphaned_pins), then
//! [`update`](Pins::update), which returns the new content of the file.

use std::collections::BTreeSet;

use stead_model::{Code, Diagnostic, Environment, Hint, NextStep, TypeToken, Value};

use super::apply::PinfileChange;
use super::file::{EntryStatus, PinEntry, Pinfile, PinfileUpdate, Section, print};
use super::path::split_path;

/// The pins of one evaluation of the program.
#[derive(Clone, Debug)]
pub struct Pins {
    pub file: Pinfile,
    pub environment: Environment,
    /// Whether the section in use is for this environment alone.
    scope: SectionScope,
    /// The key of the section in use.
    pub key: String,
    /// The keys of the more general sections, the most specific first.
    general: Vec<String>,
    /// The pins of the program.
    current: Section,
    /// The paths whose entries a `move` of the program gives another path.
    moved: BTreeSet<String>,
    /// Entries that stay although the program does not pin their resources: releases, and pins that the user keeps.
    retained: Section,
}

/// The environments that a section is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SectionScope {
    /// All environments of the target, or all namespaces of an environment.
    Shared,
    OneEnvironment,
}

/// How an update treats a section that is empty in the file, which a person adds to give an environment its own section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptySection {
    /// Used by a compilation, which may not be the first of the environment.
    Keep,
    /// Used after a successful run.
    Remove,
}

/// Returns true if pins are kept for a target: for all but `sim`, whose resources end with the process.
pub fn keeps_pins(target: &str) -> bool {
    target != "sim"
}

impl Pins {
    /// Opens the most specific section of a target and environment that the file has.
    pub fn open(file: Pinfile, target: &str, environment: &Environment) -> Pins {
        let mut keys = vec![target.to_owned(), format!("{target}:{}", environment.name)];
        keys.extend(
            environment.namespace.iter().map(|space| format!("{target}:{}:{space}", environment.name)),
        );
        let own = keys.last().cloned().unwrap_or_default();
        let mut existing = keys.into_iter().rev().filter(|key| file.sections.contains_key(key));
        let key = existing.next().unwrap_or_else(|| target.to_owned());
        let general = existing.collect();
        let scope = if key == own { SectionScope::OneEnvironment } else { SectionScope::Shared };
        let environment = environment.clone();
        let (current, retained) = (Section::new(), Section::new());
        let moved = BTreeSet::new();
        let mut pins = Pins { file, environment, scope, key, general, current, moved, retained };
        let released = |(_, entry): &(&String, &PinEntry)| entry.status == EntryStatus::Released;
        let releases = pins.saved().iter().filter(released);
        pins.retained = releases.map(|(path, entry)| (path.clone(), entry.clone())).collect();
        pins
    }

    /// Returns the sections for the environment that the file has, the most specific first.
    pub(crate) fn sections(&self) -> impl Iterator<Item = &Section> {
        std::iter::once(&self.key).chain(&self.general).filter_map(|key| self.file.sections.get(key))
    }

    /// Returns the key of the most specific section that has a path.
    pub fn section_with(&self, path: &str) -> Option<&str> {
        let has =
            |key: &&String| self.file.sections.get(*key).is_some_and(|section| section.contains_key(path));
        std::iter::once(&self.key).chain(&self.general).find(has).map(String::as_str)
    }

    /// Returns the section as it is in the file; empty if the file does not have it.
    pub fn saved(&self) -> &Section {
        static NONE: Section = Section::new();
        self.file.sections.get(&self.key).unwrap_or(&NONE)
    }

    /// Returns true if the file has the section, empty or not.
    pub fn exists(&self) -> bool {
        self.file.sections.contains_key(&self.key)
    }

    /// Returns true if the section is for this environment alone.
    pub fn is_environment_specific(&self) -> bool {
        self.scope == SectionScope::OneEnvironment
    }

    /// Adds a frozen value of this environment to a pin of the program: to the values of the entry if the section is for this
    /// environment alone, and else to those of the environment, because another environment has another resource.
    pub(crate) fn freeze(&mut self, path: &str, property: String, value: Value) {
        let environment = self.environment.to_string();
        let specific = self.is_environment_specific();
        let Some(entry) = self.current.get_mut(path) else { return };
        let frozen = match specific {
            true => &mut entry.attributes,
            false => entry.environments.entry(environment).or_default(),
        };
        frozen.entry(property).or_insert(value);
    }

    /// Adds a pin of the program. An entry that the file already has for the path is kept unchanged, except that its release
    /// ends.
    pub fn add_pin(&mut self, path: &str, entry: PinEntry) {
        let entry = self.saved().get(path).cloned().unwrap_or(entry);
        self.current.insert(path.to_owned(), PinEntry { status: EntryStatus::Pinned, ..entry });
    }

    /// Returns the entry of a path under another path, as a move of the pin leaves it.
    pub(crate) fn move_to(&mut self, to: &str, from: &str) -> Option<PinEntry> {
        let entry = self.saved().get(from)?.clone();
        self.moved.insert(from.to_owned());
        let first = entry.original_path.clone().unwrap_or_else(|| from.to_owned());
        Some(PinEntry { original_path: Some(first).filter(|first| first != to), ..entry })
    }

    /// Returns the paths whose entries a `move` of the program gives another path.
    pub(crate) fn moved(&self) -> &BTreeSet<String> {
        &self.moved
    }

    /// Returns the original paths of the program's pins.
    pub(crate) fn original_paths(&self) -> impl Iterator<Item = String> {
        self.current.values().filter_map(|entry| entry.original_path.clone())
    }

    /// Returns true if the section in the file pins a path.
    pub(crate) fn is_pinned(&self, path: &str) -> bool {
        self.saved().get(path).is_some_and(|entry| entry.status == EntryStatus::Pinned)
    }

    /// Returns the paths of the program's pins that the file does not pin.
    pub fn new_pins(&self) -> Vec<&str> {
        self.current.keys().map(String::as_str).filter(|path| !self.is_pinned(path)).collect()
    }

    /// Returns the paths that the file pins and that no pin of the program has or was moved from.
    pub fn orphaned_pins(&self) -> Vec<&str> {
        let pinned = self.saved().keys().map(String::as_str).filter(|path| self.is_pinned(path));
        let gone = pinned.filter(|path| !self.current.contains_key(*path));
        let moved: BTreeSet<&str> =
            self.current.values().filter_map(|entry| entry.original_path.as_deref()).collect();
        gone.filter(|path| !moved.contains(path) && !self.moved.contains(*path)).collect()
    }

    pub(crate) fn entry(&self, path: &str) -> Option<&PinEntry> {
        self.current.get(path)
    }

    /// Keeps the entry of a resource that the program does not declare.
    pub(crate) fn retain(&mut self, path: &str) {
        if let Some(entry) = self.saved().get(path).cloned() {
            self.retained.insert(path.to_owned(), entry);
        }
    }

    /// Turns the entry of a path into a release, or adds one.
    pub(crate) fn release(&mut self, path: &str, resource: &TypeToken) {
        let entry = self.saved().get(path).cloned().unwrap_or_else(|| released(resource.clone()));
        self.retained.insert(path.to_owned(), PinEntry { status: EntryStatus::Released, ..entry });
    }

    /// Returns the change that removes the pin of a path, with the path that it had first.
    pub(crate) fn removal(&self, path: String) -> PinfileChange {
        match self.saved().get(&path).and_then(|entry| entry.original_path.clone()) {
            Some(original) => PinfileChange::RemovedMoved { original, path },
            None => PinfileChange::Removed(path),
        }
    }

    /// Returns the paths of the program's pins.
    pub fn paths(&self) -> BTreeSet<String> {
        self.current.keys().cloned().collect()
    }

    /// Returns the update that makes the section list the program's pins, and the entries that stay.
    pub fn update(&self, empty: EmptySection) -> PinfileUpdate {
        let mut sections = self.file.sections.clone();
        let was_empty = self.exists() && self.saved().is_empty();
        let mut section = self.retained.clone();
        section.extend(self.current.iter().map(|(path, entry)| (path.clone(), entry.clone())));
        // Without its own section, the environment would go by a general one, and take over pins that it ended.
        let stays = (was_empty && empty == EmptySection::Keep) || !self.general.is_empty();
        if section.is_empty() && !stays {
            sections.remove(&self.key);
        } else {
            sections.insert(self.key.clone(), section);
        }
        changed(&self.file, sections)
    }
}

/// Returns the release of a resource that has no entry.
fn released(resource: TypeToken) -> PinEntry {
    PinEntry::new(resource, EntryStatus::Released)
}

/// Returns the update from the sections that were read to these.
pub(super) fn changed(
    file: &Pinfile,
    sections: std::collections::BTreeMap<String, Section>,
) -> PinfileUpdate {
    match (sections.is_empty(), file.is_missing()) {
        (true, true) => PinfileUpdate::Unchanged,
        (true, false) => PinfileUpdate::Remove,
        (false, false) if sections == file.sections => PinfileUpdate::Unchanged,
        (false, _) => PinfileUpdate::Write(print(&sections)),
    }
}

/// Moves a pin to another path in all sections of a target, and records the original path in its entry.
///
/// Returns the update of the file and the keys of the changed sections.
pub fn move_pin(
    file: &Pinfile,
    target: &str,
    from: &str,
    to: &str,
) -> Result<(PinfileUpdate, Vec<String>), Diagnostic> {
    let types = (split_path(from).map(|path| path.0), split_path(to).map(|path| path.0));
    let (Some(old), Some(new)) = types else {
        let bad = if types.0.is_none() { from } else { to };
        let problem = Diagnostic::error(Code::NO_SUCH_PIN, format!("{bad:?} is not a path"));
        return Err(problem.help("a path is a type, a dot and an id: local.KeyPair.deploy"));
    };
    if old != new {
        let message = format!("cannot move {from} to {to}: the types {old} and {new} differ");
        return Err(Diagnostic::error(Code::NO_SUCH_PIN, message));
    }
    let mut sections = file.sections.clone();
    let mut moved = Vec::new();
    for (key, section) in sections.iter_mut().filter(|(key, _)| is_of(key, target)) {
        let Some(entry) = section.remove(from) else { continue };
        if section.contains_key(to) {
            let message = format!("{to} is already pinned in section {key:?} of {}", file.name);
            let hint = Hint::text("if that entry is wrong, remove it first: ");
            return Err(Diagnostic::error(Code::NO_SUCH_PIN, message)
                .help(hint.then(NextStep::RemovePin { path: to.to_owned() })));
        }
        // The first path is kept, because an environment may not have applied the first move yet.
        let first = entry.original_path.clone().unwrap_or_else(|| from.to_owned());
        let original_path = Some(first).filter(|first| first != to);
        let came_from = |(_, other): &(&String, &PinEntry)| {
            original_path.is_some() && other.original_path == original_path
        };
        if let Some((other, _)) = section.iter().find(came_from) {
            let message =
                format!("{from} was already moved to {other}, and one resource cannot have two paths");
            let hint = format!("if {from} is another resource, remove its entry and pin it again: ");
            return Err(Diagnostic::error(Code::NO_SUCH_PIN, message)
                .note(format!("See `originalPath` of {other} in section {key:?} of {}.", file.name))
                .help(Hint::text(hint).then(NextStep::RemovePin { path: from.to_owned() })));
        }
        section.insert(to.to_owned(), PinEntry { original_path, ..entry });
        moved.push(key.clone());
    }
    if moved.is_empty() {
        return Err(no_such_pin(file, from));
    }
    Ok((changed(file, sections), moved))
}

/// Releases a pin: its entry stays and says that the resource may be deleted, in every environment that uses the section.
///
/// A pin that is recorded in state only gets an entry.
pub fn release_pin(file: &Pinfile, section: &str, path: &str) -> Result<PinfileUpdate, Diagnostic> {
    let Some((resource, _)) = split_path(path) else { return Err(no_such_pin(file, path)) };
    let mut sections = file.sections.clone();
    let entries = sections.entry(section.to_owned()).or_default();
    let entry = entries.entry(path.to_owned()).or_insert_with(|| PinEntry {
        status: EntryStatus::Pinned,
        ..released(TypeToken(resource.to_owned()))
    });
    if std::mem::replace(&mut entry.status, EntryStatus::Released) == EntryStatus::Released {
        let message = format!("{path} is released in section {section:?} of {} already", file.name);
        return Err(Diagnostic::error(Code::NO_SUCH_PIN, message)
            .note("The entry stays until the release was applied in every environment that uses the section.")
            .help(Hint::from(NextStep::PrunePins).and(" removes it then")));
    }
    Ok(changed(file, sections))
}

/// Gives the frozen values of one environment to another, because the resources with these paths now belong to it.
///
/// The first environment must not keep them: a new resource there would get the name of the old one.
pub fn carry_frozen(
    file: &Pinfile,
    target: &str,
    (from, to): (&Environment, &Environment),
    paths: &BTreeSet<String>,
) -> PinfileUpdate {
    let mut sections = file.sections.clone();
    for (_, section) in sections.iter_mut().filter(|(key, _)| is_of(key, target)) {
        for (path, entry) in section.iter_mut() {
            let original = entry.original_path.as_ref();
            let is_meant = paths.contains(path) || original.is_some_and(|original| paths.contains(original));
            let frozen = if is_meant { entry.environments.remove(&from.to_string()) } else { None };
            if let Some(frozen) = frozen {
                entry.environments.insert(to.to_string(), frozen);
            }
        }
    }
    changed(file, sections)
}

/// Returns the recorded entries that the section does not have, neither under their path nor as an `originalPath`.
pub fn missing_entries(pins: &Pins, recorded: Section) -> Section {
    let moved: BTreeSet<&String> =
        pins.saved().values().filter_map(|entry| entry.original_path.as_ref()).collect();
    let is_known = |path: &String| pins.saved().contains_key(path) || moved.contains(path);
    recorded.into_iter().filter(|(path, _)| !is_known(path)).collect()
}

/// Adds missing entries to a section, which is created if it does not exist.
pub fn add_entries(file: &Pinfile, section: &str, entries: Section) -> PinfileUpdate {
    let mut sections = file.sections.clone();
    let known = sections.entry(section.to_owned()).or_default();
    for (path, entry) in entries {
        known.entry(path).or_insert(entry);
    }
    changed(file, sections)
}

/// Returns true for the section of a target and for those of its environments.
pub(super) fn is_of(section: &str, target: &str) -> bool {
    section.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

pub fn no_such_pin(file: &Pinfile, path: &str) -> Diagnostic {
    let problem = Diagnostic::error(Code::NO_SUCH_PIN, format!("{path} is not pinned in {}", file.name));
    let known = file.sections.values().flat_map(Section::keys).map(String::as_str);
    match stead_model::nearest(path, known) {
        Some(meant) => problem.help(format!("did you mean {meant}?")),
        None => problem.help(Hint::text("to see the pins: ").then(NextStep::ListPins)),
    }
}
