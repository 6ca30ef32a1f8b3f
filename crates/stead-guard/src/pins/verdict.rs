//! Whether a pin forbids a deletion, according to the program, the pinfile and state.
//!
//! **Invariant:** a pin that state records ends only by an explicit release. An entry that is missing from the pinfile says
//! nothing: the file may belong to another branch, section or environment, or may be lost.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Lifecycle, Resource};

use super::file::{EntryStatus, Section};
use super::path::{paths_of, physical_path};
use super::section::Pins;

/// The pinfile of one run, as far as it matters for deletions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinfileStatus {
    /// The target keeps no pins.
    NotKept,
    /// The sections for the stack, the most specific first. Without any, the pins in state apply.
    Kept(Vec<Listing>),
}

/// The paths of one section with the status of their entries.
///
/// The original path of a moved pin has the status of its entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing(BTreeMap<String, EntryStatus>);

impl Default for PinfileStatus {
    /// A lost pinfile.
    fn default() -> PinfileStatus {
        PinfileStatus::Kept(Vec::new())
    }
}

impl Listing {
    fn of(section: &Section) -> Listing {
        let original = |entry: &super::file::PinEntry| Some((entry.original_path.clone()?, entry.status));
        let mut paths: BTreeMap<String, EntryStatus> = section.values().filter_map(original).collect();
        paths.extend(section.iter().map(|(path, entry)| (path.clone(), entry.status)));
        Listing(paths)
    }

    fn pins(&self, path: &str) -> bool {
        self.0.get(path) == Some(&EntryStatus::Pinned)
    }
}

impl PinfileStatus {
    pub fn of(pins: &Pins) -> PinfileStatus {
        PinfileStatus::Kept(pins.sections().map(Listing::of).collect())
    }

    /// Returns true if the pinfile has an entry for the stack.
    pub fn has_entries(&self) -> bool {
        matches!(self, PinfileStatus::Kept(sections) if sections.iter().any(|section| !section.0.is_empty()))
    }

    /// Returns true if the most specific entry for a path releases it.
    pub fn releases(&self, path: &str) -> bool {
        let PinfileStatus::Kept(sections) = self else { return false };
        let status = sections.iter().find_map(|section| section.0.get(path));
        status == Some(&EntryStatus::Released)
    }

    /// Takes back the releases of paths that the program pins.
    pub fn take_back(&mut self, pinned: &BTreeSet<String>) {
        let PinfileStatus::Kept(sections) = self else { return };
        for (path, status) in sections.iter_mut().flat_map(|section| &mut section.0) {
            if pinned.contains(path) {
                *status = EntryStatus::Pinned;
            }
        }
    }

    /// Releases pins in the section in use, because the user asked for it.
    pub(crate) fn release(&mut self, released: &BTreeSet<String>) {
        let PinfileStatus::Kept(sections) = self else { return };
        if released.is_empty() {
            return;
        }
        if sections.is_empty() {
            sections.push(Listing::default());
        }
        if let Some(Listing(in_use)) = sections.first_mut() {
            in_use.extend(released.iter().map(|path| (path.clone(), EntryStatus::Released)));
        }
    }
}

/// Whether a pin forbids the deletion of one copy, and where the pin is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PinVerdict {
    /// No pin forbids the deletion.
    #[default]
    Free,
    /// The program pins the resource.
    Declared,
    /// The pinfile lists the resource.
    Listed,
    /// The resource is pinned in state, and the pinfile has no section for the stack.
    Lost,
    /// The resource is pinned in state, and no section for the stack has an entry for it.
    Unlisted,
}

impl PinVerdict {
    /// Returns true if state alone records the pin, so that a person must say whether it ends.
    pub fn is_in_state_only(self) -> bool {
        matches!(self, PinVerdict::Lost | PinVerdict::Unlisted)
    }
}

/// Whether the program pins a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    Pinned,
    NotPinned,
}

/// Decides whether a pin forbids the deletion of a copy.
pub fn pin_verdict(resource: &Resource, declared: Declared, status: &PinfileStatus) -> PinVerdict {
    let PinfileStatus::Kept(sections) = status else { return PinVerdict::Free };
    // A condemned copy is pinned if it was pinned while it was current.
    if resource.lifecycle == Lifecycle::Condemned && !resource.pinned {
        return PinVerdict::Free;
    }
    if declared == Declared::Pinned {
        return PinVerdict::Declared;
    }
    let entry =
        if resource.pinned { entry_of_pinned(resource, sections) } else { entry_in_use(resource, sections) };
    match entry {
        Some(EntryStatus::Released) => PinVerdict::Free,
        Some(EntryStatus::Pinned) => PinVerdict::Listed,
        None if !resource.pinned => PinVerdict::Free,
        None if sections.is_empty() => PinVerdict::Lost,
        None => PinVerdict::Unlisted,
    }
}

/// Returns true if a pin in state or in the pinfile holds a resource, where no program is evaluated.
pub fn is_held(resource: &Resource, status: &PinfileStatus) -> bool {
    pin_verdict(resource, Declared::NotPinned, status) != PinVerdict::Free
}

/// Returns the entry for a resource that is pinned in state: the most specific one with its path, or else a pin under the
/// path of a former name.
///
/// The release of a former name does not count, because another resource may have had that name since.
fn entry_of_pinned(resource: &Resource, sections: &[Listing]) -> Option<EntryStatus> {
    let path = physical_path(&resource.name, &resource.ty);
    let own = sections.iter().find_map(|section| section.0.get(&path).copied());
    own.or_else(|| {
        let listed = paths_of(resource).any(|path| sections.iter().any(|section| section.pins(&path)));
        listed.then_some(EntryStatus::Pinned)
    })
}

/// Returns the entry for a resource that is not pinned in state, from the most specific section that is not empty.
fn entry_in_use(resource: &Resource, sections: &[Listing]) -> Option<EntryStatus> {
    let in_use = sections.iter().find(|section| !section.0.is_empty())?;
    in_use.0.get(&physical_path(&resource.name, &resource.ty)).copied()
}
