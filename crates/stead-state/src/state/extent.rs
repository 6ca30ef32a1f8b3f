//! The size of a recorded state, in the measures that have limits.

use std::collections::BTreeSet;

use stead_model::{Extent, Generation, Lifecycle, Resource, Uid};

use super::State;
use crate::Snapshot;
use crate::hash::HashMap;

/// Counts the copies, the dependencies between them, and the length of the longest chain of dependencies.
pub fn extent(snapshot: &Snapshot) -> Extent {
    extent_of(snapshot.resources.iter().map(|resource| resource.as_ref()))
}

impl State {
    /// Counts the copies, the dependencies between them, and the length of the longest chain of dependencies.
    pub fn extent(&self) -> Extent {
        extent_of(self.copies())
    }
}

pub(crate) fn extent_of<'a>(resources: impl Iterator<Item = &'a Resource>) -> Extent {
    let resources: Vec<&Resource> = resources.collect();
    let mut copies: HashMap<(&Uid, Generation), usize> =
        HashMap::with_capacity_and_hasher(resources.len(), Default::default());
    let mut current: HashMap<&Uid, usize> =
        HashMap::with_capacity_and_hasher(resources.len(), Default::default());
    for (at, resource) in resources.iter().enumerate() {
        copies.insert((&resource.uid, resource.generation), at);
        if resource.lifecycle != Lifecycle::Condemned {
            current.insert(&resource.uid, at);
        }
    }
    let position = |uid, generation| copies.get(&(uid, generation)).or_else(|| current.get(uid)).copied();
    let dependencies: Vec<Vec<usize>> = resources
        .iter()
        .map(|resource| {
            let copies = resource.dependencies.iter();
            let positions: BTreeSet<usize> =
                copies.filter_map(|copy| position(&copy.uid, copy.generation)).collect();
            positions.into_iter().collect()
        })
        .collect();
    Extent::of(&dependencies)
}

#[cfg(test)]
mod tests {
    use stead_model::StackId;

    use super::*;
    use crate::rules::tests::{depends, resource};

    #[test]
    fn dependency_on_a_missing_copy_counts_as_one_on_the_current_copy() {
        let old = Resource { lifecycle: Lifecycle::Condemned, ..resource("a", 1) };
        let new = depends(resource("a", 2), "c", 1);
        for (generation, depth) in [(1, 2), (2, 3), (9, 3)] {
            let user = depends(resource("b", 1), "a", generation);
            let all = vec![old.clone(), new.clone(), user, resource("c", 1)];
            let snapshot = Snapshot::empty(StackId("s".into())).with(all);
            let expected = Extent { resources: 4, edges: 2, depth };
            assert_eq!(extent(&snapshot), expected, "generation {generation}");
            assert_eq!(State::from(snapshot).extent(), expected, "generation {generation}");
        }
    }
}
