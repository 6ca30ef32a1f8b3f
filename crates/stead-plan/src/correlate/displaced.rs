//! Displaced names: resources whose name is recorded, but whose physical identity is that of a resource with another name.
//!
//! Two ids that were swapped in the program look so: each declaration would replace its record by the real resource of the other.

use std::collections::{HashMap, HashSet};

use stead_model::{NodeId, Resource, TypeToken, Uid};

use super::suggest::Reason;
use super::{Match, Matching};
use crate::physical::{Identities, Physical};

/// A node, and the record that has its physical identity.
#[derive(Clone, Copy)]
struct Wish<'a> {
    record: &'a Resource,
    property: &'a str,
}

/// Returns the nodes whose real resource is recorded under another name, with that record.
///
/// A record with a declaration of its own counts only if that declaration leaves it for another one.
pub(super) fn displaced<'a>(matching: &Matching<'a>) -> Vec<(NodeId, &'a Resource, Reason)> {
    let mut identities = matching.identities();
    let mut moved: Vec<NodeId> = Vec::new();
    for id in matching.provisioned().filter(|id| matching.by[id.index()] == Match::Name) {
        let node = &matching.graph.nodes[id.index()];
        let differs =
            |old: &Resource| old.ty == node.ty && identities.differ((id, &node.ty), &node.inputs, old);
        if matching.matched[id.index()].is_some_and(differs) {
            moved.push(id);
        }
    }
    if moved.is_empty() {
        return Vec::new();
    }
    let types: HashSet<&TypeToken> = moved.iter().map(|id| &matching.graph.nodes[id.index()].ty).collect();
    let records = recorded(matching, &mut identities, &types);
    let mut wishes: HashMap<NodeId, Wish<'a>> = HashMap::new();
    let mut new = matching.unmatched();
    new.retain(|id| types.contains(&matching.graph.nodes[id.index()].ty));
    for id in moved.into_iter().chain(new) {
        if let Some(physical) = matching.physical(&mut identities, id)
            && let Some(Some(record)) = records.get(&physical)
        {
            wishes.insert(id, Wish { record, property: identities.property(&physical) });
        }
    }
    let holders: HashMap<&Uid, NodeId> =
        matching.provisioned().filter_map(|id| Some((&matching.matched[id.index()]?.uid, id))).collect();
    drop_unfulfilled(matching, &holders, &mut wishes);
    let mut found: Vec<(NodeId, &'a Resource, Reason)> = Vec::new();
    for (id, Wish { record, property }) in &wishes {
        let (own, property) = (matching.matched[id.index()], (*property).to_owned());
        let partner = holders.get(&record.uid).and_then(|holder| wishes.get(holder));
        let reason = match (own, partner) {
            // The search for physical ids finds it.
            (None, None) => continue,
            (None, Some(_)) => Reason::SamePhysicalId { property },
            (Some(own), Some(partner)) if partner.record.uid == own.uid => Reason::Swapped { property },
            (Some(_), _) => Reason::NameTaken { property },
        };
        found.push((*id, record, reason));
    }
    found.sort_unstable_by_key(|(id, ..)| *id);
    found
}

/// Returns the current records of some types by physical identity, or `None` where two have the same.
fn recorded<'a>(
    matching: &Matching<'a>,
    identities: &mut Identities<'a>,
    types: &HashSet<&TypeToken>,
) -> HashMap<Physical<'a>, Option<&'a Resource>> {
    let mut records: HashMap<Physical<'a>, Option<&'a Resource>> = HashMap::new();
    let is_current = |record: &Resource| {
        matching.base.current(&record.uid).is_some_and(|current| current.copy() == record.copy())
    };
    for record in matching.base.copies().filter(|record| types.contains(&record.ty) && is_current(record)) {
        if let Some(physical) = identities.of_record(record) {
            records.entry(physical).and_modify(|entry| *entry = None).or_insert(Some(record));
        }
    }
    records
}

/// Drops the wishes for a record whose own declaration does not leave it, until all that are left can be fulfilled at once.
///
/// Two nodes that ask for one real resource are an error of the program, which no rename mends.
fn drop_unfulfilled<'a>(
    matching: &Matching<'a>,
    holders: &HashMap<&Uid, NodeId>,
    wishes: &mut HashMap<NodeId, Wish<'a>>,
) {
    let mut wanted_by: HashMap<&Uid, Vec<NodeId>> = HashMap::new();
    for (id, wish) in wishes.iter() {
        wanted_by.entry(&wish.record.uid).or_default().push(*id);
    }
    let is_stuck = |wish: &Wish<'a>| {
        let stays = holders.get(&wish.record.uid).is_some_and(|holder| !wishes.contains_key(holder));
        stays || wanted_by[&wish.record.uid].len() > 1
    };
    let mut stuck: Vec<NodeId> =
        wishes.iter().filter(|(_, wish)| is_stuck(wish)).map(|(id, _)| *id).collect();
    while let Some(id) = stuck.pop() {
        if wishes.remove(&id).is_some()
            && let Some(kept) = matching.matched[id.index()]
        {
            stuck.extend(wanted_by.get(&kept.uid).into_iter().flatten());
        }
    }
}
