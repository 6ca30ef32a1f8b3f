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
        self.resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
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
    fn a_uid_has_the_name_of_its_current_copy_or_else_of_its_newest() {
        let copies = vec![condemned("a", 1, "first"), condemned("a", 2, "second"), resource("a", 3)];
        assert_eq!(state(copies.clone()).name_of(&uid("a")), Some(&resource("a", 3).name));
        assert_eq!(state(copies[..2].to_vec()).name_of(&uid("a")), Some(&resource("second", 1).name));
        assert_eq!(state(copies).name_of(&uid("b")), None);
    }

    #[test]
    fn what_is_not_there_binds_nothing() {
        let chosen: BTreeSet<Uid> = [uid("a")].into();
        let user = depends(depends(resource("a", 1), "b", 1), "gone", 1);
        let bonds = state(vec![user, depends(resource("b", 1), "c", 1), resource("c", 1)]).bonds(&chosen);
        assert_eq!(bonds.needed, [uid("b"), uid("c")].into());
        assert!(bonds.needing.is_empty());
    }
}
