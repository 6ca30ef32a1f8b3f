//! Copies whose real resource another one takes over, as a whole or in part: the plan deletes the one and creates the other.

use std::collections::{BTreeMap, HashMap, HashSet};

use stead_model::{Inputs, Lifecycle, NodeId, Resource, TypeToken, Uid};

use crate::decide::{Decision, Planner};
use crate::physical::{Identities, Part, Physical};
use crate::plan::Certainty;

/// Returns, for each node that is created, the copies of other resources that have a part of its real resource and that the plan
/// deletes.
pub(super) fn in_the_way<'a>(
    planner: &Planner<'a>,
    inputs: &[Inputs],
) -> BTreeMap<NodeId, Vec<&'a Resource>> {
    let created: Vec<NodeId> = planner.graph.ids().filter(|id| is_created(planner, *id)).collect();
    let mut found: BTreeMap<NodeId, Vec<&'a Resource>> = BTreeMap::new();
    if created.is_empty() || planner.base.is_empty() {
        return found;
    }
    let mut identities = Identities::new(planner.catalog, planner.canonical);
    let deleted = deleted(planner, &created, &mut identities);
    if deleted.is_empty() {
        return found;
    }
    for id in created {
        let own = planner.old(id).map(Resource::copy);
        let copies = physical(planner, &mut identities, id, &inputs[id.index()])
            .into_iter()
            .flat_map(Physical::parts)
            .filter_map(|part| deleted.get(&part))
            .flatten()
            .filter(|copy| Some(copy.copy()) != own);
        let mut copies: Vec<&'a Resource> = copies.copied().collect();
        copies.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        copies.dedup_by_key(|copy| copy.copy());
        if !copies.is_empty() {
            found.insert(id, copies);
        }
    }
    found
}

fn is_created(planner: &Planner<'_>, id: NodeId) -> bool {
    let decided = planner.decided[id.index()].as_ref().map(|decided| &decided.decision);
    matches!(decided, Some(Decision::Create | Decision::Replace(_)))
}

fn physical<'b, 'a: 'b>(
    planner: &'b Planner<'a>,
    identities: &mut Identities<'a>,
    id: NodeId,
    inputs: &Inputs,
) -> Option<Physical<'b>> {
    let node = &planner.graph.nodes[id.index()];
    let provider = match node.options.provider {
        Some(provider) => Some(&planner.old(provider)?.uid),
        None => None,
    };
    let told = planner.decided[id.index()].as_ref().map_or(&[][..], |decided| &decided.identity);
    identities.of_declared((id, &node.ty), provider, inputs, told)
}

/// Returns the copies that the plan deletes for certain, by the parts of their real resources.
fn deleted<'a>(
    planner: &Planner<'a>,
    created: &[NodeId],
    identities: &mut Identities<'a>,
) -> HashMap<Part<'a>, Vec<&'a Resource>> {
    let mut deleted: HashMap<Part<'a>, Vec<&'a Resource>> = HashMap::new();
    let types: HashSet<&TypeToken> = created.iter().map(|id| &planner.graph.nodes[id.index()].ty).collect();
    if types.into_iter().all(|ty| identities.properties(ty).is_empty()) {
        return deleted;
    }
    let declared: HashMap<&Uid, NodeId> =
        planner.graph.ids().filter_map(|id| Some((&planner.old(id)?.uid, id))).collect();
    for copy in planner.base.copies() {
        if !is_deleted(planner, copy, declared.get(&copy.uid).copied()) {
            continue;
        }
        for part in identities.of_record(copy).into_iter().flat_map(Physical::parts) {
            deleted.entry(part).or_default().push(copy);
        }
    }
    deleted
}

fn is_deleted(planner: &Planner<'_>, copy: &Resource, node: Option<NodeId>) -> bool {
    let goes = match (copy.lifecycle, node) {
        (Lifecycle::Replacing, _) => false,
        (Lifecycle::Condemned, Some(id)) => planner.selected.touches(id),
        (Lifecycle::Condemned, None) => planner.selected.touches_removed(&copy.uid),
        (Lifecycle::Live, None) => planner.selected.touches_removed(&copy.uid) && !planner.keeps_import(copy),
        (Lifecycle::Live, Some(id)) => {
            planner.replacement(id).is_some_and(|replacement| replacement.certainty == Certainty::Certain)
        }
    };
    goes && !planner.retains(node, copy)
}
