//! Moved places: a module or an instance of a class of which every resource is gone, and another one that has the same
//! resources.
//!
//! Two places have the same resources if the types, the ids and the instances inside them are equal. Each move of a place
//! stands for one rename of all its resources. Works by sorting, never by comparing each place with each.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;
use stead_model::{CopyRef, Name, NameParts, NodeId, Place, Resource, ScopePart, TypeToken};

use super::suggest::{Confidence, Search, given_id};

/// Instances inside instances are compared up to this depth, so that the time stays linear.
const MAX_DEPTH: usize = 16;

/// A removed and a new place that may be the same: one rename would keep all real resources.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MovedPlace {
    pub from: Place,
    pub to: Place,
    #[serde(rename = "sureness")]
    pub confidence: Confidence,
    /// Number of resources whose inputs and sources are the recorded ones.
    pub equal: usize,
    pub resources: Vec<MovedResource>,
}

/// A resource of a moved place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MovedResource {
    pub from: Name,
    pub to: Name,
    pub node: NodeId,
    pub copy: CopyRef,
}

impl MovedPlace {
    /// Returns true if the move is likely enough that deletions should wait for a decision.
    pub fn blocks_deletions(&self) -> bool {
        self.confidence >= Confidence::Likely
    }
}

/// A resource, as seen from a place around it.
type Row<'a> = (&'a [ScopePart], &'a TypeToken, Option<&'a str>);

/// The rows of each place, sorted, with the resource of each row.
type Places<'a, T> = BTreeMap<Place, Vec<(Row<'a>, T)>>;

/// Suggests the moves of whole places, those with the most resources first.
pub(super) fn moved_places(search: &mut Search<'_, '_>) -> Vec<MovedPlace> {
    if search.nodes.len() < 2 || search.records.len() < 2 {
        return Vec::new();
    }
    let (old, new) = (gone(search), added(search));
    let mut groups: BTreeMap<Vec<Row<'_>>, (Vec<&Place>, Vec<&Place>)> = BTreeMap::new();
    for (place, all) in old.iter().filter(|(_, all)| all.len() > 1) {
        groups.entry(all.iter().map(|(row, _)| *row).collect()).or_default().0.push(place);
    }
    for (place, all) in new.iter().filter(|(_, all)| all.len() > 1) {
        groups.entry(all.iter().map(|(row, _)| *row).collect()).or_default().1.push(place);
    }
    let mut pairs: Vec<(usize, &Place, &Place)> = Vec::new();
    for (rows, (old, new)) in &groups {
        pairs.extend(unique_places(old, new).into_iter().map(|(old, new)| (rows.len(), old, new)));
    }
    // A whole module comes before the instances in it.
    pairs.sort_by(|a, b| (b.0, a.1.scope.len(), a.1, a.2).cmp(&(a.0, b.1.scope.len(), b.1, b.2)));
    let mut found = Vec::new();
    for (_, from, to) in pairs {
        let resources: Vec<(NodeId, &Resource)> =
            new[to].iter().zip(&old[from]).map(|((_, node), (_, record))| (*node, *record)).collect();
        let free = |(id, record): &(NodeId, &Resource)| {
            search.nodes.contains(id) && search.records.contains_key(&record.uid)
        };
        if resources.iter().all(free)
            && let Some(moved) = judged(search, from, to, &resources)
        {
            resources.iter().for_each(|(id, record)| search.drop_pair(*id, record));
            found.push(moved);
        }
    }
    found.sort_by(|a, b| a.from.cmp(&b.from));
    found
}

/// Returns the places without a declared resource, with their recorded resources.
fn gone<'a>(search: &Search<'_, 'a>) -> Places<'a, &'a Resource> {
    let graph = search.matching.graph;
    let declared: HashSet<Place> = graph.nodes.iter().flat_map(|node| places_of(&node.name)).collect();
    let mut gone: Places<'a, &'a Resource> = BTreeMap::new();
    for record in search.records.values() {
        for place in places_of(&record.name).filter(|place| !declared.contains(place)) {
            let row = row_of(&record.name, place.scope.len());
            gone.entry(place).or_default().extend(row.map(|row| (row, *record)));
        }
    }
    gone.values_mut().for_each(|all| all.sort_by_key(|(row, _)| *row));
    gone
}

/// Returns the places without a recorded resource, with their declared resources.
fn added<'a>(search: &Search<'_, 'a>) -> Places<'a, NodeId> {
    let matching = search.matching;
    let recorded: HashSet<Place> = matching.base.copies().flat_map(|copy| places_of(&copy.name)).collect();
    let mut added: Places<'a, NodeId> = BTreeMap::new();
    for id in &search.nodes {
        let name = &matching.graph.nodes[id.index()].name;
        for place in places_of(name).filter(|place| !recorded.contains(place)) {
            let row = row_of(name, place.scope.len());
            added.entry(place).or_default().extend(row.map(|row| (row, *id)));
        }
    }
    added.values_mut().for_each(|all| all.sort_by_key(|(row, _)| *row));
    added
}

/// Returns the places around a resource, the module first.
fn places_of(name: &Name) -> impl Iterator<Item = Place> + use<> {
    let place = name.place();
    let depth = place.as_ref().map_or(0, |place| place.scope.len().min(MAX_DEPTH) + 1);
    (0..depth).filter_map(move |depth| {
        let place = place.as_ref()?;
        Some(Place { scope: place.scope[..depth].to_vec(), ..place.clone() })
    })
}

fn row_of(name: &Name, depth: usize) -> Option<Row<'_>> {
    match &**name {
        NameParts::Global { .. } => None,
        NameParts::Placed { scope, ty, id, .. } => Some((&scope[depth..], ty, id.as_deref())),
    }
}

/// Pairs places with equal rows: by the name of the file or instance, then the only one with the only other one.
fn unique_places<'p>(old: &[&'p Place], new: &[&'p Place]) -> Vec<(&'p Place, &'p Place)> {
    let mut named: BTreeMap<String, (Vec<&Place>, Vec<&Place>)> = BTreeMap::new();
    old.iter().for_each(|place| named.entry(own_name(place)).or_default().0.push(place));
    new.iter().for_each(|place| named.entry(own_name(place)).or_default().1.push(place));
    let mut pairs = Vec::new();
    for (old, new) in named.values() {
        if let ([old], [new]) = (old.as_slice(), new.as_slice()) {
            pairs.push((*old, *new));
        }
    }
    let taken: BTreeSet<&Place> = pairs.iter().flat_map(|(old, new)| [*old, *new]).collect();
    let left = |all: &[&'p Place]| all.iter().copied().filter(|place| !taken.contains(place)).collect();
    let (old, new): (Vec<&Place>, Vec<&Place>) = (left(old), left(new));
    if let ([old], [new]) = (old.as_slice(), new.as_slice()) {
        pairs.push((*old, *new));
    }
    pairs
}

/// Returns the instance, or the name of the file without its folders.
fn own_name(place: &Place) -> String {
    match place.instance() {
        Some(part) => part.to_string(),
        None => place.module.0.rsplit('/').next().unwrap_or_default().to_owned(),
    }
}

/// Returns the move with its confidence; `None` if the resources are not the same, but have the same structure.
///
/// Equal contents are certain. So is a place that keeps its own name, if each resource has equal content or an id of the
/// program. Two tenants of one class have the same structure, too: without equal contents, that is no evidence.
fn judged(
    search: &Search<'_, '_>,
    from: &Place,
    to: &Place,
    resources: &[(NodeId, &Resource)],
) -> Option<MovedPlace> {
    let matching = search.matching;
    let mut identities = matching.identities();
    let (mut equal, mut known) = (0, 0);
    for (id, record) in resources {
        let node = &matching.graph.nodes[id.index()];
        let record = *search.records.get(&record.uid)?;
        if identities.differ((*id, &node.ty), &node.inputs, record) {
            return None;
        }
        let same = search.contents.equal(*id, record);
        equal += usize::from(same);
        known += usize::from(same || given_id(&node.name).is_some());
    }
    let all = resources.len();
    let confidence = match () {
        () if equal == all => Confidence::Certain,
        () if own_name(from) == own_name(to) && known == all => Confidence::Certain,
        () if 2 * equal >= all => Confidence::Likely,
        () => return None,
    };
    let moved = |(id, record): &(NodeId, &Resource)| MovedResource {
        from: record.name.clone(),
        to: matching.graph.nodes[id.index()].name.clone(),
        node: *id,
        copy: record.copy(),
    };
    let resources = resources.iter().map(moved).collect();
    Some(MovedPlace { from: from.clone(), to: to.clone(), confidence, equal, resources })
}
