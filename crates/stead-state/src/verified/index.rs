//! The references between copies, by small numbers: a slot for each copy, an entry for each resource.

use std::collections::BTreeSet;

use stead_model::{CopyRef, Generation, Lifecycle, Resource, Uid};

use crate::State;
use crate::hash::HashMap;

/// One copy.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub copy: CopyRef,
    /// The position in a topological order: higher than the ranks of all copies that this one needs.
    pub rank: u64,
    /// The entries of the resources that this copy refers to.
    refers_to: Vec<u32>,
}

/// The part of a resource that the rules of its referrers depend on. While it stays the same, they are not checked again.
type Shape = Vec<(Generation, Lifecycle, bool)>;

/// One resource.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// The slots of its copies.
    slots: BTreeSet<u32>,
    /// The slots of the copies that refer to it.
    referrers: BTreeSet<u32>,
    shape: Shape,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    numbers: HashMap<Uid, u32>,
    entries: Vec<Entry>,
    slots: HashMap<CopyRef, u32>,
    nodes: Vec<Node>,
    free: Vec<u32>,
    next_rank: u64,
}

impl Index {
    pub(super) fn of(state: &State) -> Index {
        let mut index = Index::default();
        for resource in state.resources() {
            index.add(resource);
        }
        for resource in state.resources() {
            let number = index.number(&resource.uid);
            index.entries[number as usize].shape = shape(state, &resource.uid);
        }
        index
    }

    pub(super) fn node(&self, slot: u32) -> &Node {
        &self.nodes[slot as usize]
    }

    pub(super) fn set_rank(&mut self, slot: u32, rank: u64) {
        self.nodes[slot as usize].rank = rank;
    }

    pub(super) fn slot(&self, resource: &Resource) -> Option<u32> {
        self.slots.get(&resource.copy()).copied()
    }

    pub(super) fn referrers(&self, uid: &Uid) -> impl Iterator<Item = u32> {
        let entry = self.numbers.get(uid).map(|number| &self.entries[*number as usize]);
        entry.into_iter().flat_map(|entry| entry.referrers.iter().copied())
    }

    /// Updates the index after a change of a resource, and returns the slots of the copies to check because of it.
    pub(super) fn update(&mut self, state: &State, uid: &Uid) -> BTreeSet<u32> {
        let number = self.number(uid) as usize;
        let mut gone = self.entries[number].slots.clone();
        let mut affected = BTreeSet::new();
        for resource in state.copies_of(uid) {
            let slot = match self.slot(resource) {
                Some(slot) => {
                    self.set_references(slot, resource);
                    slot
                }
                None => self.add(resource),
            };
            gone.remove(&slot);
            affected.insert(slot);
        }
        gone.into_iter().for_each(|slot| self.remove(slot));
        let shape = shape(state, uid);
        if shape != self.entries[number].shape {
            self.entries[number].shape = shape;
            affected.extend(&self.entries[number].referrers);
        }
        affected
    }

    fn number(&mut self, uid: &Uid) -> u32 {
        if let Some(number) = self.numbers.get(uid) {
            return *number;
        }
        let number = self.entries.len() as u32;
        self.entries.push(Entry::default());
        self.numbers.insert(uid.clone(), number);
        number
    }

    /// Adds a copy with the highest rank, because no other copy needs it yet.
    fn add(&mut self, resource: &Resource) -> u32 {
        let (copy, rank) = (resource.copy(), self.next_rank);
        self.next_rank += 1;
        let node = Node { copy: copy.clone(), rank, refers_to: Vec::new() };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.nodes[slot as usize] = node;
                slot
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        self.slots.insert(copy, slot);
        let number = self.number(&resource.uid);
        self.entries[number as usize].slots.insert(slot);
        self.set_references(slot, resource);
        slot
    }

    fn set_references(&mut self, slot: u32, resource: &Resource) {
        let ties = &resource.ties;
        let copies = resource.dependencies.iter().chain(&ties.provider).map(|copy| &copy.uid);
        let uids = ties.parent.iter().chain(&ties.deleted_with).chain(&ties.replace_with);
        let mut refers_to: Vec<u32> = copies.chain(uids).map(|uid| self.number(uid)).collect();
        refers_to.sort_unstable();
        refers_to.dedup();
        let before = std::mem::take(&mut self.nodes[slot as usize].refers_to);
        for number in before {
            self.entries[number as usize].referrers.remove(&slot);
        }
        for number in &refers_to {
            self.entries[*number as usize].referrers.insert(slot);
        }
        self.nodes[slot as usize].refers_to = refers_to;
    }

    fn remove(&mut self, slot: u32) {
        let Node { copy, refers_to, .. } = self.nodes[slot as usize].clone();
        for number in refers_to {
            self.entries[number as usize].referrers.remove(&slot);
        }
        self.nodes[slot as usize].refers_to.clear();
        self.slots.remove(&copy);
        if let Some(number) = self.numbers.get(&copy.uid) {
            self.entries[*number as usize].slots.remove(&slot);
        }
        self.free.push(slot);
    }

    /// Returns the number of allocated slots, used and free.
    #[cfg(test)]
    pub(super) fn slot_count(&self) -> usize {
        self.nodes.len()
    }
}

fn shape(state: &State, uid: &Uid) -> Shape {
    let of_copy =
        |copy: &Resource| (copy.generation, copy.lifecycle, copy.ty.as_str().ends_with(".Provider"));
    state.copies_of(uid).map(of_copy).collect()
}
