//! What a recorded resource is bound to, over all kinds of ties.

use std::collections::{BTreeSet, HashMap};

use stead_model::{NodeId, Resource, Uid};
use stead_state::State;

use crate::correlate::Correlation;
use crate::select::Selected;

/// Everything that a recorded copy needs to be there: dependencies, provider, parent, and what it goes or is
/// replaced with. Each is the copy that is meant now.
pub(crate) fn needs<'a>(base: &'a State, resource: &'a Resource) -> impl Iterator<Item = &'a Resource> {
    let copies = resource.dependencies.iter().chain(&resource.ties.provider);
    let current = bound(resource).filter_map(|uid| base.current(uid));
    copies.filter_map(|copy| base.resolve(copy)).chain(current)
}

fn bound(resource: &Resource) -> impl Iterator<Item = &Uid> {
    let ties = &resource.ties;
    ties.parent.iter().chain(&ties.deleted_with).chain(&ties.replace_with)
}

/// The edges of a partial plan: what is not selected keeps the ties that are on record, so that whoever gets a new one to
/// it waits for what it really needs. `None`: everything is selected.
pub(crate) fn kept(
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
