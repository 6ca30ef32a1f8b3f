//! The same resources under another environment's names. Uids, ids and everything real stay.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Environment, Lifecycle, Resource, Uid};

use crate::{Intent, Snapshot, State};

/// A resource's record, named as the environment names it.
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
    /// The whole state in another environment, with what is pending in it.
    #[must_use]
    pub fn in_environment(mut self, environment: &Environment) -> Snapshot {
        for pending in &mut self.pending {
            if let Intent::Create { resource, .. } | Intent::Update { resource, .. } = &mut pending.intent {
                **resource = relocated(resource, environment);
            }
        }
        for resource in &mut self.resources {
            *resource = relocated(resource, environment).into();
        }
        self.resources.sort_by(|a, b| a.place().cmp(&b.place()));
        for retained in &mut self.retained {
            retained.name = retained.name.in_environment(environment);
        }
        self
    }
}

/// Everything that a resource's records name: values, order, and what else binds it.
fn needs(resource: &Resource) -> impl Iterator<Item = &Uid> {
    let ties = &resource.ties;
    let copies = resource.dependencies.iter().chain(&ties.provider).map(|copy| &copy.uid);
    copies.chain(&ties.parent).chain(&ties.deleted_with).chain(&ties.replace_with)
}

/// What binds chosen resources to the others of their stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bonds {
    /// Those that the chosen ones need, over any number of steps, and that are not chosen.
    pub needed: BTreeSet<Uid>,
    /// Those that are not chosen and need a chosen one.
    pub needing: BTreeSet<Uid>,
}

impl State {
    /// Looks at all copies: a condemned one needs what it needs until it is gone.
    pub fn bonds(&self, chosen: &BTreeSet<Uid>) -> Bonds {
        let mut needs_of: BTreeMap<&Uid, BTreeSet<&Uid>> = BTreeMap::new();
        for resource in self.copies() {
            let own = needs(resource).filter(|uid| **uid != resource.uid);
            needs_of.entry(&resource.uid).or_default().extend(own);
        }
        let mut bonds = Bonds::default();
        let mut todo: Vec<&Uid> = chosen.iter().collect();
        while let Some(uid) = todo.pop() {
            for need in needs_of.get(uid).into_iter().flatten().copied() {
                if !chosen.contains(need) && self.has(need) && bonds.needed.insert(need.clone()) {
                    todo.push(need);
                }
            }
        }
        bonds.needing = needs_of
            .iter()
            .filter(|(uid, needs)| !chosen.contains(uid) && needs.iter().any(|need| chosen.contains(*need)))
            .map(|(uid, _)| (*uid).clone())
            .collect();
        bonds
    }

    /// A name to show for a uid: of the current copy, or of an old one.
    pub fn name_of(&self, uid: &Uid) -> Option<&stead_model::Name> {
        let copies = self.copies.get(uid)?;
        let current = copies.values().find(|copy| copy.lifecycle != Lifecycle::Condemned);
        current.or_else(|| copies.values().next_back()).map(|resource| &resource.name)
    }

    fn has(&self, uid: &Uid) -> bool {
        self.copies.contains_key(uid)
    }
}
