//! Whether a pin forbids a deletion, according to the program, the pinfile and state.

use std::collections::BTreeSet;

use stead_model::{Lifecycle, Resource};

use super::path::paths_of;
use super::section::Pins;

/// The pinfile of one run, as far as it matters for deletions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PinfileStatus {
    /// The target keeps no pins.
    NotKept,
    /// The pinfile has no section for the stack. The pins in state apply.
    #[default]
    Lost,
    /// The paths of the pins, and the original paths of moved pins. A pin that is in state only was removed from the file
    /// if the file had it before; otherwise `unlisted` decides.
    Listed { paths: BTreeSet<String>, unlisted: Unlisted },
}

/// Whether pins apply that were never written to the pinfile, because the run that created them did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    Held,
    /// The user asked to update the pins, which releases them as it does orphaned pins.
    Released,
}

impl PinfileStatus {
    pub fn of(pins: &Pins) -> PinfileStatus {
        if !pins.exists() {
            return PinfileStatus::Lost;
        }
        let saved = pins.deciding();
        let originals = saved.values().filter_map(|entry| entry.original_path.as_ref());
        let paths = saved.keys().chain(originals).cloned().collect();
        PinfileStatus::Listed { paths, unlisted: Unlisted::Held }
    }

    /// Removes pins that the user released.
    pub(crate) fn release(&mut self, paths: &BTreeSet<String>) {
        if let PinfileStatus::Listed { paths: listed, .. } = self {
            listed.retain(|path| !paths.contains(path));
        }
    }

    pub(crate) fn release_unlisted(&mut self) {
        if let PinfileStatus::Listed { unlisted, .. } = self {
            *unlisted = Unlisted::Released;
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
    /// The resource is pinned in state, and the pinfile is missing.
    Lost,
    /// The resource is pinned in state, and no run has written its entry to the pinfile yet.
    Unlisted,
}

/// Whether the program pins a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    Pinned,
    NotPinned,
}

/// Decides whether a pin forbids the deletion of a copy.
///
/// `recorded` are the paths in the pinfile after the last successful run; `None` if state does not have them.
pub fn pin_verdict(
    resource: &Resource,
    declared: Declared,
    status: &PinfileStatus,
    recorded: Option<&BTreeSet<String>>,
) -> PinVerdict {
    if *status == PinfileStatus::NotKept {
        return PinVerdict::Free;
    }
    // A condemned copy is pinned if it was pinned while it was current.
    if resource.lifecycle == Lifecycle::Condemned && !resource.pinned {
        return PinVerdict::Free;
    }
    // Without recorded paths, only an empty section proves that the pin was removed from the file.
    let was_removed = |now: &BTreeSet<String>| match recorded {
        Some(recorded) => is_listed(resource, recorded),
        None => now.is_empty(),
    };
    match status {
        _ if declared == Declared::Pinned => PinVerdict::Declared,
        PinfileStatus::Listed { paths, .. } if is_listed(resource, paths) => PinVerdict::Listed,
        PinfileStatus::Lost if resource.pinned => PinVerdict::Lost,
        PinfileStatus::Listed { paths, unlisted: Unlisted::Held }
            if resource.pinned && !was_removed(paths) =>
        {
            PinVerdict::Unlisted
        }
        _ => PinVerdict::Free,
    }
}

/// Returns true if `paths` has the path of the resource, or, if it is pinned in state, a path of a former name.
fn is_listed(resource: &Resource, paths: &BTreeSet<String>) -> bool {
    let names = if resource.pinned { usize::MAX } else { 1 };
    !paths.is_empty() && paths_of(resource).take(names).any(|path| paths.contains(&path))
}
