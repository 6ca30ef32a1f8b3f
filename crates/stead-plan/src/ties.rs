//! Recorded relations of a resource to others, of all kinds.

use std::collections::{BTreeSet, HashMap};

use stead_model::{NodeId, Resource, Uid};
use stead_state::State;

use crate::correlate::Correlation;
use crate::select::Selected;

/// Returns all recorded resources that a copy needs: dependencies, provider, parent, container, and the resources that it is
/// replaced with.
///
/// A reference to a resource, or to a deleted copy of one, gives the current copy.
pub(crate) fn needs<'a>(base: &'a State, resource: &'a Resource) -> impl Iterator<Item = &'a Resource> {
    let copies = resource.dependencies.iter().chain(&resource.ties.provider);
    let current = bound(resource).filter_map(|uid| base.current(uid));
    copies.filter_map(|copy| base.resolve(copy)).chain(current)
}

fn bound(resource: &Resource) -> impl Iterator<Item = &Uid> {
    let ties = &resource.ties;
    ties.parent.iter().chain(&ties.deleted_with).chain(&ties.replace_with)
}

/// Returns the edges of a partial plan, or `None` if all resources are selected.
///
/// Unselected resources keep their recorded relations, so that a new dependent of one waits for its recorded dependencies.
pub(crate) fn partial_edges(
    base: &State,
    edges: &[BTreeSet<NodeId>],
    correlation: &Correlation<'_>,
    selected: &Selected,
) -> Option<Vec<BTreeSet<NodeId>>> {
    if selected.is_everything() {
        return None;
    }
    let matched = || correlation.matched.iter().zip((0..).map(NodeId));
    let nodes: HashMap<&Uid, NodeId> = matched().filter_map(|(old, id)| Some((&(*old)?.uid, id))).collect();
    let node_of = |need: &Resource| nodes.get(&need.uid).copied();
    let kept = |(declared, (old, id)): (&BTreeSet<NodeId>, (&Option<&Resource>, NodeId))| match old {
        Some(old) if !selected.touches(id) => needs(base, old).filter_map(node_of).collect(),
        _ => declared.clone(),
    };
    Some(edges.iter().zip(matched()).map(kept).collect())
}
