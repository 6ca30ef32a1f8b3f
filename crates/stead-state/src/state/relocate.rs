//! Records under the names of another environment, and the links between chosen resources and the rest of a stack.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Environment, Lifecycle, Resource, Uid};

use super::State;
use crate::{Intent, Snapshot};

/// Returns a resource's record with its name and aliases in another environment. All else stays the same.
#[must_use]
pub fn relocated(resource: &Resource, environment: &Environment) -> Resource {
    let mut resource = resource.clone();
    resource.name = resource.name.in_environment(environment);
    for alias in &mut resource.ties.aliases {
        *alias = alias.in_environment(environment);
    }
    resource.ties.aliases.sort_unstable();
    resource
}

impl Snapshot {
    /// Returns the snapshot with all names in another environment, including those of pending operations. Every record
    /// counts as changed.
    #[must_use]
    pub fn in_environment(mut self, environment: &Environment) -> Snapshot {
        self.serial = self.serial.saturating_add(1);
        for pending in &mut self.pending {
            if let Intent::Create { resource, .. } | Intent::Update { resource, .. } = &mut pending.intent {
                **resource = relocated(resource, environment);
            }
        }
        for resource in &mut self.resources {
            *resource = Resource { version: self.serial, ..relocated(resource, environment) }.into();
        }
        self.resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        for retained in &mut self.retained {
            retained.name = retained.name.in_environment(environment);
        }
        self
    }
}

impl Snapshot {
    /// Returns the snapshot as the successor of `before`: its serial is higher, and so are the versions of all records
    /// that differ. Other records keep the version that they have in `before`.
    ///
    /// An import and a repair put a snapshot in the place of a state. Without new versions, a saved plan could take a
    /// record of the new state for the one that it read.
    #[must_use]
    pub fn succeeding(mut self, before: Option<&Snapshot>) -> Snapshot {
        let last = before.map_or(0, |before| before.serial);
        self.serial = self.serial.max(last).saturating_add(1);
        let known: BTreeMap<_, _> = before
            .into_iter()
            .flat_map(|before| &before.resources)
            .map(|resource| (resource.copy(), resource))
            .collect();
        for resource in &mut self.resources {
            let same = known
                .get(&resource.copy())
                .map(|old| Resource { version: old.version, ..resource.as_ref().clone() });
            *resource = match same.filter(|same| known.get(&same.copy()).is_some_and(|old| ***old == *same)) {
                Some(same) => same.into(),
                None => Resource { version: self.serial, ..resource.as_ref().clone() }.into(),
            };
        }
        self
    }
}

/// Returns the uids that a copy refers to: dependencies, provider and ties.
fn references(resource: &Resource) -> impl Iterator<Item = &Uid> {
    let ties = &resource.ties;
    let copies = resource.dependencies.iter().chain(&ties.provider).map(|copy| &copy.uid);
    copies.chain(&ties.parent).chain(&ties.deleted_with).chain(&ties.replace_with)
}

/// The links between chosen resources and the other resources of their stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutsideLinks {
    /// Unchosen resources that the chosen ones depend on, directly or transitively.
    pub dependencies: BTreeSet<Uid>,
    /// Unchosen resources that depend directly on a chosen one.
    pub dependents: BTreeSet<Uid>,
}

impl State {
    /// Returns the links between the chosen resources and all others. Condemned copies count, too.
    pub fn outside_links(&self, chosen: &BTreeSet<Uid>) -> OutsideLinks {
        let mut references_of: BTreeMap<&Uid, BTreeSet<&Uid>> = BTreeMap::new();
        for resource in self.copies() {
            let others = references(resource).filter(|uid| **uid != resource.uid);
            references_of.entry(&resource.uid).or_default().extend(others);
        }
        let mut links = OutsideLinks::default();
        let mut todo: Vec<&Uid> = chosen.iter().collect();
        while let Some(uid) = todo.pop() {
            for other in references_of.get(uid).into_iter().flatten().copied() {
                if !chosen.contains(other) && self.has(other) && links.dependencies.insert(other.clone()) {
                    todo.push(other);
                }
            }
        }
        let refers_to_chosen = |others: &BTreeSet<&Uid>| others.iter().any(|other| chosen.contains(*other));
        links.dependents = references_of
            .iter()
            .filter(|(uid, others)| !chosen.contains(uid) && refers_to_chosen(others))
            .map(|(uid, _)| (*uid).clone())
            .collect();
        links
    }

    /// Returns the name of the current copy of a resource, or else of its newest copy.
    pub fn name_of(&self, uid: &Uid) -> Option<&stead_model::Name> {
        let copies = self.copies.get(uid)?;
        let current = copies.values().find(|copy| copy.lifecycle != Lifecycle::Condemned);
        current.or_else(|| copies.values().next_back()).map(|resource| &resource.name)
    }

    fn has(&self, uid: &Uid) -> bool {
        self.copies.contains_key(uid)
    }
}

#[cfg(test)]
mod tests {
    use stead_model::StackId;

    use super::*;
    use crate::rules::tests::{depends, resource, uid};

    fn state(resources: Vec<Resource>) -> State {
        State::from(Snapshot::empty(StackId("s".into())).with(resources))
    }

    fn condemned(name: &str, generation: u32, short: &str) -> Resource {
        let name = Resource { name: resource(short, 1).name, ..resource(name, generation) };
        Resource { lifecycle: Lifecycle::Condemned, ..name }
    }

    #[test]
    fn resource_is_named_after_its_current_copy_or_else_its_newest() {
        let copies = vec![condemned("a", 1, "first"), condemned("a", 2, "second"), resource("a", 3)];
        assert_eq!(state(copies.clone()).name_of(&uid("a")), Some(&resource("a", 3).name));
        assert_eq!(state(copies[..2].to_vec()).name_of(&uid("a")), Some(&resource("second", 1).name));
        assert_eq!(state(copies).name_of(&uid("b")), None);
    }

    #[test]
    fn reference_to_a_missing_resource_is_no_link() {
        let chosen: BTreeSet<Uid> = [uid("a")].into();
        let user = depends(depends(resource("a", 1), "b", 1), "gone", 1);
        let links =
            state(vec![user, depends(resource("b", 1), "c", 1), resource("c", 1)]).outside_links(&chosen);
        assert_eq!(links.dependencies, [uid("b"), uid("c")].into());
        assert!(links.dependents.is_empty());
    }
}
