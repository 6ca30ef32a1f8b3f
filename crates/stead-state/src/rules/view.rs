//! A snapshot with the look-ups that the rules need. Unlike a [`crate::State`], it can contain duplicates.

use stead_model::{CopyRef, Generation, KeyId, Name, OpId, OperationToken, Resource, Uid};

use super::{StateView, is_current};
use crate::hash::HashMap;
use crate::{Intent, Pending, Snapshot};

pub(crate) struct SnapshotView<'a> {
    snapshot: &'a Snapshot,
    copies: HashMap<&'a Uid, Vec<&'a Resource>>,
    names: HashMap<&'a Name, Vec<&'a Uid>>,
    aliases: HashMap<&'a Name, Vec<&'a Uid>>,
    pending_on: HashMap<CopyRef, usize>,
    keys: HashMap<&'a str, usize>,
    tokens: HashMap<&'a OperationToken, usize>,
    creates: HashMap<&'a Name, usize>,
}

impl<'a> SnapshotView<'a> {
    pub(crate) fn of(snapshot: &'a Snapshot) -> SnapshotView<'a> {
        let mut view = SnapshotView {
            snapshot,
            copies: HashMap::with_capacity_and_hasher(snapshot.resources.len(), Default::default()),
            names: HashMap::with_capacity_and_hasher(snapshot.resources.len(), Default::default()),
            aliases: HashMap::default(),
            pending_on: HashMap::default(),
            keys: HashMap::default(),
            tokens: HashMap::default(),
            creates: HashMap::default(),
        };
        for resource in &snapshot.resources {
            view.copies.entry(&resource.uid).or_default().push(resource);
            if is_current(resource) {
                add(&mut view.names, &resource.name, &resource.uid);
                resource.ties.aliases.iter().for_each(|alias| add(&mut view.aliases, alias, &resource.uid));
            }
        }
        view.copies.values_mut().for_each(|copies| copies.sort_by_key(|copy| copy.generation));
        for Pending { intent, token, .. } in &snapshot.pending {
            *view.pending_on.entry(intent.copy()).or_default() += 1;
            *view.keys.entry(intent.key()).or_default() += 1;
            token.iter().for_each(|token| *view.tokens.entry(token).or_default() += 1);
            if let Intent::Create { resource, .. } = intent {
                *view.creates.entry(&resource.name).or_default() += 1;
            }
        }
        view
    }

    pub(crate) fn resources(&self) -> impl Iterator<Item = &'a Resource> + use<'a> {
        self.snapshot.resources.iter().map(|resource| resource.as_ref())
    }

    /// Returns the oldest copy of each resource, in the snapshot's order.
    pub(crate) fn one_of_each(&self) -> impl Iterator<Item = &'a Resource> {
        self.resources().filter(|resource| {
            self.copies.get(&resource.uid).is_some_and(|copies| std::ptr::eq(copies[0], *resource))
        })
    }

    pub(crate) fn pending(&self) -> impl Iterator<Item = &'a Pending> + use<'a> {
        self.snapshot.pending.iter()
    }
}

fn add<'a>(holders: &mut HashMap<&'a Name, Vec<&'a Uid>>, name: &'a Name, uid: &'a Uid) {
    let holders = holders.entry(name).or_default();
    if let Err(place) = holders.binary_search(&uid) {
        holders.insert(place, uid);
    }
}

impl StateView for SnapshotView<'_> {
    fn has_key(&self, key: &KeyId) -> bool {
        self.snapshot.keyring.get(key).is_some()
    }

    fn copies(&self, uid: &Uid) -> Vec<&Resource> {
        self.copies.get(uid).cloned().unwrap_or_default()
    }

    fn copy(&self, copy: &CopyRef) -> Option<&Resource> {
        self.copies.get(&copy.uid)?.iter().copied().find(|found| found.generation == copy.generation)
    }

    fn current(&self, uid: &Uid) -> Option<&Resource> {
        self.copies.get(uid)?.iter().copied().rfind(|copy| is_current(copy))
    }

    fn newest(&self, uid: &Uid) -> Option<Generation> {
        Some(self.copies.get(uid)?.last()?.generation)
    }

    fn holders(&self, name: &Name) -> Vec<&Uid> {
        self.names.get(name).cloned().unwrap_or_default()
    }

    fn alias_holders(&self, name: &Name) -> Vec<&Uid> {
        self.aliases.get(name).cloned().unwrap_or_default()
    }

    fn pending_on(&self, copy: &CopyRef) -> usize {
        self.pending_on.get(copy).copied().unwrap_or_default()
    }

    fn pending_with_key(&self, key: &str) -> usize {
        self.keys.get(key).copied().unwrap_or_default()
    }

    fn pending_with_token(&self, token: &OperationToken) -> usize {
        self.tokens.get(token).copied().unwrap_or_default()
    }

    fn pending_creates(&self, name: &Name) -> usize {
        self.creates.get(name).copied().unwrap_or_default()
    }

    fn counters(&self) -> (usize, u64, OpId) {
        (self.copies.len(), self.snapshot.uids, self.snapshot.next_op)
    }

    fn serial(&self) -> u64 {
        self.snapshot.serial
    }
}

/// S21: resources are sorted by name, uid and generation, and operations by number, so that a state has one encoding.
pub(crate) fn resources_are_sorted(view: &SnapshotView<'_>, found: &mut Vec<(String, String)>) {
    for pair in view.snapshot.resources.windows(2).filter(|pair| pair[0].sort_key() > pair[1].sort_key()) {
        found.push((pair[1].name.to_string(), format!("it is listed after {}", pair[0].name)));
    }
    for pair in view.snapshot.pending.windows(2).filter(|pair| pair[0].op >= pair[1].op) {
        found.push((
            format!("operation {}", pair[1].op),
            format!("it is listed after operation {}", pair[0].op),
        ));
    }
}
