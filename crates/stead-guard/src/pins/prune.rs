//! Entries that every environment has applied: releases, and the former paths of moved pins.
//!
//! **Invariant:** an entry goes only if the state of every environment that uses its section was read and needs it no more.
//! A frozen value never goes because a stack is missing: its state may be lost.

use std::collections::BTreeSet;

use stead_model::{Environment, Resource};
use stead_state::State;

use super::file::{EntryStatus, PinEntry, Pinfile, PinfileUpdate};
use super::path::{paths_of, physical_path};
use super::section::{Pins, changed, is_of};

/// A stack of the project on the target.
pub struct PrunedStack<'a> {
    pub environment: Environment,
    /// `None` if the state could not be read.
    pub state: Option<&'a State>,
}

/// A part of an entry that environments no longer need, or still need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedEntry {
    pub section: String,
    pub path: String,
    pub part: PrunedPart,
    /// The environments that have not applied it yet, or whose state could not be read. If there are none, the part is removed.
    pub waiting: Vec<Environment>,
}

/// The part of an entry that ends once it is applied everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrunedPart {
    /// The whole entry, which releases a pin.
    Release,
    OriginalPath(String),
}

/// Removes the entries that release a pin, and the original paths, that every environment has applied.
pub fn prune(file: &Pinfile, target: &str, stacks: &[PrunedStack<'_>]) -> (PinfileUpdate, Vec<PrunedEntry>) {
    let users: Vec<(Pins, &PrunedStack<'_>)> =
        stacks.iter().map(|stack| (Pins::open(file.clone(), target, &stack.environment), stack)).collect();
    let mut sections = file.sections.clone();
    let mut pruned = Vec::new();
    for (key, section) in sections.iter_mut().filter(|(key, _)| is_of(key, target)) {
        let mut applied = BTreeSet::new();
        for (path, entry) in section.iter_mut() {
            let Some(part) = part_of(entry) else { continue };
            let waits = |(pins, stack): &&(Pins, &PrunedStack<'_>)| {
                let uses = match part {
                    PrunedPart::Release => pins.section_with(path) == Some(key),
                    PrunedPart::OriginalPath(_) => pins.key == *key,
                };
                uses && stack.state.is_none_or(|state| needs(state, path, entry))
            };
            let waiting: Vec<Environment> =
                users.iter().filter(waits).map(|(_, stack)| stack.environment.clone()).collect();
            match (&part, waiting.is_empty()) {
                (_, false) => {}
                (PrunedPart::OriginalPath(_), true) => entry.original_path = None,
                (PrunedPart::Release, true) => {
                    applied.insert(path.clone());
                }
            }
            pruned.push(PrunedEntry { section: key.clone(), path: path.clone(), part, waiting });
        }
        section.retain(|path, _| !applied.contains(path));
    }
    sections.retain(|key, section| !section.is_empty() || file.sections[key].is_empty());
    (changed(file, sections), pruned)
}

fn part_of(entry: &PinEntry) -> Option<PrunedPart> {
    match entry.status {
        EntryStatus::Released => Some(PrunedPart::Release),
        EntryStatus::Pinned => entry.original_path.clone().map(PrunedPart::OriginalPath),
    }
}

/// Returns true if a stack has not applied the release or the move of an entry.
fn needs(state: &State, path: &str, entry: &PinEntry) -> bool {
    let is_at = |copy: &Resource, wanted: &str| physical_path(&copy.name, &copy.ty) == wanted;
    let original = entry.original_path.as_deref();
    state.copies().filter(|copy| copy.ty == entry.resource).any(|copy| match entry.status {
        EntryStatus::Released => {
            copy.pinned && (is_at(copy, path) || original.is_some_and(|original| is_at(copy, original)))
        }
        EntryStatus::Pinned => {
            !is_at(copy, path)
                && original.is_some_and(|original| paths_of(copy).any(|other| other == original))
        }
    })
}
