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
    /// These paths are pinned, or what was pinned came from them. What state remembers besides is free if it once was
    /// in the file, for then somebody took it out.
    Listed { paths: BTreeSet<String>, unlisted: Unlisted },
}

/// What becomes of pins that never got into the file, because the run that made them did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    Held,
    /// `--update-pins` lets them go, as it does with entries that nothing has any more.
    Released,
}

impl Standing {
    pub fn of(pins: &Pins) -> Standing {
        if !pins.is_there() {
            return Standing::Lost;
        }
        let saved = pins.deciding();
        let originals = saved.values().filter_map(|entry| entry.original_path.as_ref());
        let paths = saved.keys().chain(originals).cloned().collect();
        Standing::Listed { paths, unlisted: Unlisted::Held }
    }

    /// These are not pinned any more, and that was said on purpose.
    pub(crate) fn release(&mut self, paths: &BTreeSet<String>) {
        if let Standing::Listed { paths: listed, .. } = self {
            listed.retain(|path| !paths.contains(path));
        }
    }

    pub(crate) fn release_unlisted(&mut self) {
        if let Standing::Listed { unlisted, .. } = self {
            *unlisted = Unlisted::Released;
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
    /// State remembers it, and no run has written it into the file so far.
    Unlisted,
}

/// Whether the program says now that a resource is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    Pinned,
    NotPinned,
}

/// `once` is what the file had at the end of the last run that went well; `None`: nobody wrote that down.
pub fn hold(
    resource: &Resource,
    declared: Declared,
    standing: &Standing,
    once: Option<&BTreeSet<String>>,
) -> Hold {
    if *standing == Standing::NotKept {
        return Hold::Free;
    }
    // An old copy is pinned if it was when it was the current one.
    if resource.lifecycle == Lifecycle::Condemned && !resource.pinned {
        return Hold::Free;
    }
    // Where nobody wrote down what the file had, only an empty section says that something was taken out.
    let taken_out = |now: &BTreeSet<String>| match once {
        Some(once) => is_listed(resource, once),
        None => now.is_empty(),
    };
    match standing {
        _ if declared == Declared::Pinned => Hold::Declared,
        Standing::Listed { paths, .. } if is_listed(resource, paths) => Hold::Listed,
        Standing::Lost if resource.pinned => Hold::Lost,
        Standing::Listed { paths, unlisted: Unlisted::Held } if resource.pinned && !taken_out(paths) => {
            Hold::Unlisted
        }
        _ => Hold::Free,
    }
}

/// Under its own path; or, if it was pinned, under one that it had before.
fn is_listed(resource: &Resource, paths: &BTreeSet<String>) -> bool {
    let names = if resource.pinned { usize::MAX } else { 1 };
    !paths.is_empty() && paths_of(resource).take(names).any(|path| paths.contains(&path))
}
