//! Whether a pin stands against a deletion: what the program says, what the pinfile says, what state remembers.

use std::collections::BTreeSet;

use stead_model::{Lifecycle, Resource};

use super::path::paths_of;
use super::section::Pins;

/// What the pinfile says in one run, for those who decide on deletions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// The target keeps no pins.
    NotKept,
    /// There is no such section: what state remembers holds.
    #[default]
    Lost,
    /// These paths are pinned, or what was pinned came from them. What state remembers besides was taken out of the
    /// file by somebody, and is free.
    Listed(BTreeSet<String>),
}

impl Standing {
    pub fn of(pins: &Pins) -> Standing {
        if !pins.is_there() {
            return Standing::Lost;
        }
        let saved = pins.deciding();
        let originals = saved.values().filter_map(|entry| entry.original_path.as_ref());
        Standing::Listed(saved.keys().chain(originals).cloned().collect())
    }

    /// These are not pinned any more, and that was said on purpose.
    pub(crate) fn release(&mut self, paths: &BTreeSet<String>) {
        if let Standing::Listed(listed) = self {
            listed.retain(|path| !paths.contains(path));
        }
    }
}

/// What a pin says to the deletion of one copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    #[default]
    Free,
    /// The program pins it.
    Declared,
    /// The pinfile has it.
    Listed,
    /// State remembers it, and the pinfile is gone.
    Lost,
}

/// Whether the program says now that a resource is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    Pinned,
    NotPinned,
}

pub fn hold(resource: &Resource, declared: Declared, standing: &Standing) -> Hold {
    let listed = match standing {
        Standing::NotKept => return Hold::Free,
        Standing::Lost => None,
        Standing::Listed(paths) => Some(paths),
    };
    // An old copy is pinned if it was when it was the current one.
    if resource.lifecycle == Lifecycle::Condemned && !resource.pinned {
        return Hold::Free;
    }
    match listed {
        _ if declared == Declared::Pinned => Hold::Declared,
        Some(paths) if is_listed(resource, paths) => Hold::Listed,
        None if resource.pinned => Hold::Lost,
        _ => Hold::Free,
    }
}

/// Under its own path; or, if it was pinned, under one that it had before.
fn is_listed(resource: &Resource, paths: &BTreeSet<String>) -> bool {
    let names = if resource.pinned { usize::MAX } else { 1 };
    !paths.is_empty() && paths_of(resource).take(names).any(|path| paths.contains(&path))
}
