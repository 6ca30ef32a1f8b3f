//! Unnamed siblings: resources of one type in one scope whose names differ in a counter only.
//!
//! Inserting or removing one in the middle shifts the counters behind it. A group whose members do not match name by name is
//! therefore matched by content first, and by counter only where contents do not decide.

use std::collections::{BTreeMap, HashMap, HashSet};

use stead_model::{Digest, Name, NameParts, NodeId, Resource, Uid};

use super::content::Contents;
use super::{Ambiguity, Match, Matching};

#[derive(Default)]
struct Group<'a> {
    nodes: Vec<NodeId>,
    records: Vec<&'a Resource>,
}

/// Members of a group with the same content.
#[derive(Default)]
struct Class<'a> {
    nodes: Vec<NodeId>,
    records: Vec<&'a Resource>,
}

/// Matches the groups whose counters shifted, and returns the ambiguous ones.
pub(crate) fn regroup(matching: &mut Matching<'_>) -> Vec<Ambiguity> {
    let mut ambiguities = Vec::new();
    for group in groups(matching).into_values() {
        if group.nodes.len() + group.records.len() > 2 && !matches_by_name(matching, &group) {
            ambiguities.extend(rematch(matching, &group));
        }
    }
    ambiguities
}

fn groups<'a>(matching: &Matching<'a>) -> BTreeMap<Name, Group<'a>> {
    let mut groups: BTreeMap<Name, Group<'a>> = BTreeMap::new();
    let graph = matching.graph;
    let name = |id: &NodeId| &graph.nodes[id.index()].name;
    let nodes: Vec<NodeId> =
        matching.provisioned().filter(|id| matching.by[id.index()] == Match::Name).collect();
    // Records that were matched by pinfile, alias or rename keep their match.
    let matched_otherwise: HashSet<&Uid> = matching
        .provisioned()
        .filter(|id| matching.by[id.index()] != Match::Name)
        .filter_map(|id| Some(&matching.matched[id.index()]?.uid))
        .collect();
    let is_candidate = |record: &&'a Resource| {
        let current = matching.base.current(&record.uid);
        !matched_otherwise.contains(&record.uid)
            && current.is_some_and(|current| current.copy() == record.copy())
    };
    let records: Vec<&'a Resource> = matching.base.copies().filter(is_candidate).collect();
    // Only names with a counter can have siblings, so most names are skipped here.
    let families: HashSet<Name> =
        nodes.iter().map(name).chain(records.iter().map(|record| &record.name)).filter_map(counted).collect();
    if families.is_empty() {
        return groups;
    }
    let of = |name: &Name| family(name).filter(|family| families.contains(family));
    for id in nodes {
        if let Some(family) = of(name(&id)) {
            groups.entry(family).or_default().nodes.push(id);
        }
    }
    for record in records {
        if let Some(family) = of(&record.name) {
            groups.entry(family).or_default().records.push(record);
        }
    }
    for group in groups.values_mut() {
        group.records.sort_by_key(|record| counter(&record.name));
    }
    groups
}

/// Returns the name without its counter, which siblings share.
fn family(name: &Name) -> Option<Name> {
    match &**name {
        NameParts::Placed { id: None, .. } => Some(name.clone()),
        NameParts::Placed { id: Some(id), .. } if is_counter(id) => {
            let mut family = name.clone();
            if let NameParts::Placed { id, .. } = family.parts_mut() {
                *id = None;
            }
            Some(family)
        }
        _ => None,
    }
}

/// Returns the family of a name with a counter.
fn counted(name: &Name) -> Option<Name> {
    match &**name {
        NameParts::Placed { id: Some(_), .. } => family(name),
        _ => None,
    }
}

fn counter(name: &Name) -> u64 {
    match &**name {
        NameParts::Placed { id: Some(id), .. } => id.parse().unwrap_or(u64::MAX),
        _ => 1,
    }
}

fn is_counter(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true if every member has a match by name with the same content.
fn matches_by_name(matching: &Matching<'_>, group: &Group<'_>) -> bool {
    let contents = Contents::new(matching);
    group.nodes.len() == group.records.len()
        && group.nodes.iter().all(|id| {
            let old = matching.matched[id.index()];
            old.is_some_and(|old| contents.of_node(*id) == contents.of_record(old))
        })
}

/// Matches the members of a group again, or returns an ambiguity and leaves them as they are.
fn rematch<'a>(matching: &mut Matching<'a>, group: &Group<'a>) -> Option<Ambiguity> {
    let classes = classes(matching, group);
    if classes.values().any(|class| is_ambiguous(matching, class)) {
        return Some(Ambiguity {
            from: group.records.iter().map(|record| record.name.clone()).collect(),
            to: group.nodes.iter().map(|id| matching.graph.nodes[id.index()].name.clone()).collect(),
        });
    }
    for id in &group.nodes {
        matching.release(*id);
    }
    for class in classes.values() {
        pair(matching, class);
    }
    // The others are matched by counter.
    for &id in &group.nodes {
        let name = &matching.graph.nodes[id.index()].name;
        if matching.matched[id.index()].is_none()
            && let Some(old) = matching.base.by_name(name)
            && !matching.claimed.contains(&old.uid)
        {
            matching.bind(id, old, Match::Name);
        }
    }
    None
}

fn classes<'a>(matching: &Matching<'a>, group: &Group<'a>) -> BTreeMap<Digest, Class<'a>> {
    let mut contents = Contents::new(matching);
    contents.nodes(&group.nodes);
    contents.records(&group.records);
    let mut classes: BTreeMap<Digest, Class<'a>> = BTreeMap::new();
    for id in &group.nodes {
        if let Some(digest) = contents.node(*id) {
            classes.entry(digest.clone()).or_default().nodes.push(*id);
        }
    }
    for record in &group.records {
        if let Some(digest) = contents.record(&record.uid) {
            classes.entry(digest.clone()).or_default().records.push(record);
        }
    }
    classes
}

/// Returns true if a class has more records than nodes and the names do not tell which records stay.
fn is_ambiguous(matching: &Matching<'_>, class: &Class<'_>) -> bool {
    if class.nodes.is_empty() || class.records.len() <= class.nodes.len() {
        return false;
    }
    let names: HashSet<&Name> = class.records.iter().map(|record| &record.name).collect();
    !class.nodes.iter().all(|id| names.contains(&matching.graph.nodes[id.index()].name))
}

/// Matches the members of a class: by name where possible, then in order.
fn pair<'a>(matching: &mut Matching<'a>, class: &Class<'a>) {
    let by_name: HashMap<&Name, &'a Resource> =
        class.records.iter().map(|record| (&record.name, *record)).collect();
    let graph = matching.graph;
    let mut others = Vec::new();
    for &id in &class.nodes {
        match by_name.get(&graph.nodes[id.index()].name) {
            Some(old) => matching.bind(id, old, Match::Name),
            None => others.push(id),
        }
    }
    let free: Vec<&'a Resource> =
        class.records.iter().filter(|record| !matching.claimed.contains(&record.uid)).copied().collect();
    for (id, old) in others.into_iter().zip(free) {
        matching.bind(id, old, Match::Content);
    }
}
