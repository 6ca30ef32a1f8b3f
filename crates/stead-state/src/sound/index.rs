//! Who refers to whom, by small numbers: a slot for each copy, a kin number for each resource.

use std::collections::BTreeSet;

use stead_model::{CopyRef, Generation, Lifecycle, Resource, Uid};

use crate::State;
use crate::hash::HashMap;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub copy: CopyRef,
    /// What needs what comes after it; the order in which everything can be made.
    pub rank: u64,
    refers_to: Vec<u32>,
}

/// What others see of a resource; while it stays the same, they need not be asked again.
type Shape = Vec<(Generation, Lifecycle, bool)>;

#[derive(Clone, Debug, Default)]
struct Kin {
    slots: BTreeSet<u32>,
    /// The slots that refer to it in any way.
    users: BTreeSet<u32>,
    shape: Shape,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    numbers: HashMap<Uid, u32>,
    kin: Vec<Kin>,
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
            index.kin[number as usize].shape = shape(state, &resource.uid);
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

    pub(super) fn users(&self, uid: &Uid) -> impl Iterator<Item = u32> {
        let kin = self.numbers.get(uid).map(|number| &self.kin[*number as usize]);
        kin.into_iter().flat_map(|kin| kin.users.iter().copied())
    }

    /// Follows a change of a resource, and tells which copies must be looked at because of it.
    pub(super) fn update(&mut self, state: &State, uid: &Uid) -> BTreeSet<u32> {
        let number = self.number(uid) as usize;
        let mut gone = self.kin[number].slots.clone();
        let mut affected = BTreeSet::new();
        for resource in state.copies_of(uid) {
            let slot = match self.slot(resource) {
                Some(slot) => {
                    self.refer(slot, resource);
                    slot
                }
                None => self.add(resource),
            };
            gone.remove(&slot);
            affected.insert(slot);
        }
        gone.into_iter().for_each(|slot| self.remove(slot));
        let shape = shape(state, uid);
        if shape != self.kin[number].shape {
            self.kin[number].shape = shape;
            affected.extend(&self.kin[number].users);
        }
        affected
    }

    fn number(&mut self, uid: &Uid) -> u32 {
        if let Some(number) = self.numbers.get(uid) {
            return *number;
        }
        let number = self.kin.len() as u32;
        self.kin.push(Kin::default());
        self.numbers.insert(uid.clone(), number);
        number
    }

    /// A new copy comes last in the order: nothing can need it yet.
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
        self.kin[number as usize].slots.insert(slot);
        self.refer(slot, resource);
        slot
    }

    fn refer(&mut self, slot: u32, resource: &Resource) {
        let ties = &resource.ties;
        let copies = resource.dependencies.iter().chain(&ties.provider).map(|copy| &copy.uid);
        let uids = ties.parent.iter().chain(&ties.deleted_with).chain(&ties.replace_with);
        let mut refers_to: Vec<u32> = copies.chain(uids).map(|uid| self.number(uid)).collect();
        refers_to.sort_unstable();
        refers_to.dedup();
        let before = std::mem::take(&mut self.nodes[slot as usize].refers_to);
        for number in before {
            self.kin[number as usize].users.remove(&slot);
        }
        for number in &refers_to {
            self.kin[*number as usize].users.insert(slot);
        }
        self.nodes[slot as usize].refers_to = refers_to;
    }

    fn remove(&mut self, slot: u32) {
        let Node { copy, refers_to, .. } = self.nodes[slot as usize].clone();
        for number in refers_to {
            self.kin[number as usize].users.remove(&slot);
        }
        self.nodes[slot as usize].refers_to.clear();
        self.slots.remove(&copy);
        if let Some(number) = self.numbers.get(&copy.uid) {
            self.kin[*number as usize].slots.remove(&slot);
        }
        self.free.push(slot);
    }

    /// For how many copies there is room.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        self.nodes.len()
    }
}

fn shape(state: &State, uid: &Uid) -> Shape {
    let seen = |copy: &Resource| (copy.generation, copy.lifecycle, copy.ty.as_str().ends_with(".Provider"));
    state.copies_of(uid).map(seen).collect()
}
