//! Unnamed siblings: resources of one type in one scope whose names differ in a counter only.
//!
//! Inserting or removing one in the middle shifts the counters behind it. A group whose members do not match name by name is
//! therefore matched by physical identity first, then by content, and by counter only where neither decides.

use std::collections::{BTreeMap, HashMap, HashSet};

use stead_model::{Name, NameParts, NodeId, Resource, Uid};

use super::content::{Class, Contents};
use super::counterparts::Unsettled;
use super::{Ambiguity, Match, Matching};
use crate::physical::{Identities, Physical};

#[derive(Default)]
struct Group<'a> {
    nodes: Vec<NodeId>,
    records: Vec<&'a Resource>,
}

/// The groups that were not matched throughout.
#[derive(Default)]
pub(crate) struct Regrouped<'a> {
    pub ambiguities: Vec<Ambiguity>,
    /// The pairs of ambiguous groups that identity or content tells. The group keeps its matches by name all the same.
    pub told: Vec<(NodeId, &'a Resource, Match)>,
    /// Members for which only the counter decides.
    pub unsettled: Vec<Unsettled<'a>>,
}

/// Matches the groups whose counters shifted.
pub(crate) fn regroup<'a>(matching: &mut Matching<'a>) -> Regrouped<'a> {
    let mut regrouped = Regrouped::default();
    let mut identities = matching.identities();
    for group in groups(matching).into_values() {
        if group.nodes.len() + group.records.len() > 2 && !matches_by_name(matching, &group) {
            rematch(matching, &group, &mut identities, &mut regrouped);
        }
    }
    regrouped
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

pub(super) fn is_counter(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true if every member has a match by name with the same content.
fn matches_by_name(matching: &Matching<'_>, group: &Group<'_>) -> bool {
    let contents = Contents::new(matching);
    group.nodes.len() == group.records.len()
        && group
            .nodes
            .iter()
            .all(|id| matching.matched[id.index()].is_some_and(|old| contents.equal(*id, old)))
}

/// Matches the members of a group again, or leaves them as they are if the group is ambiguous.
fn rematch<'a>(
    matching: &mut Matching<'a>,
    group: &Group<'a>,
    identities: &mut Identities<'a>,
    regrouped: &mut Regrouped<'a>,
) {
    let mut pairs = Pairs::of(matching, group);
    pairs.by_identity(identities);
    let told = pairs.by_content(identities);
    pairs.leave_unsettled(identities);
    if !told || !pairs.by_counter() {
        regrouped.ambiguities.push(Ambiguity {
            from: group.records.iter().map(|record| record.name.clone()).collect(),
            to: group.nodes.iter().map(|id| matching.graph.nodes[id.index()].name.clone()).collect(),
        });
        regrouped.told.extend(pairs.found);
        regrouped.unsettled.extend(pairs.unsettled);
        return;
    }
    let Pairs { found, unsettled, .. } = pairs;
    regrouped.unsettled.extend(unsettled);
    for id in &group.nodes {
        matching.release(*id);
    }
    for (id, old, by) in found {
        let by = if old.name == matching.graph.nodes[id.index()].name { Match::Name } else { by };
        matching.bind(id, old, by);
    }
}

/// The pairs of a group so far, and the members without one.
struct Pairs<'m, 'a> {
    matching: &'m Matching<'a>,
    nodes: Vec<NodeId>,
    records: Vec<&'a Resource>,
    found: Vec<(NodeId, &'a Resource, Match)>,
    unsettled: Vec<Unsettled<'a>>,
}

impl<'m, 'a> Pairs<'m, 'a> {
    fn of(matching: &'m Matching<'a>, group: &Group<'a>) -> Pairs<'m, 'a> {
        let (nodes, records) = (group.nodes.clone(), group.records.clone());
        Pairs { matching, nodes, records, found: Vec::new(), unsettled: Vec::new() }
    }

    fn name(&self, id: NodeId) -> &'a Name {
        &self.matching.graph.nodes[id.index()].name
    }

    fn take(&mut self, pairs: Vec<(NodeId, &'a Resource)>, by: Match) {
        let nodes: HashSet<NodeId> = pairs.iter().map(|(id, _)| *id).collect();
        let records: HashSet<&Uid> = pairs.iter().map(|(_, record)| &record.uid).collect();
        self.nodes.retain(|id| !nodes.contains(id));
        self.records.retain(|record| !records.contains(&record.uid));
        self.found.extend(pairs.into_iter().map(|(id, record)| (id, record, by)));
    }

    /// Pairs a node and a record that name the same real resource, if no other member does.
    fn by_identity(&mut self, identities: &mut Identities<'a>) {
        let mut same: HashMap<Physical<'a>, Class<'a>> = HashMap::new();
        for &id in &self.nodes {
            if let Some(physical) = self.matching.physical(identities, id) {
                same.entry(physical).or_default().nodes.push(id);
            }
        }
        for &record in &self.records {
            if let Some(class) = identities.of_record(record).and_then(|physical| same.get_mut(&physical)) {
                class.records.push(record);
            }
        }
        let mut pairs: Vec<(NodeId, &'a Resource)> = same
            .into_values()
            .filter_map(|class| match (class.nodes.as_slice(), class.records.as_slice()) {
                ([id], [record]) => Some((*id, *record)),
                _ => None,
            })
            .collect();
        pairs.sort_unstable_by_key(|(id, _)| *id);
        self.take(pairs, Match::Identity);
    }

    /// Pairs the members of equal content: by name where possible, then in order. Returns false if a pair is ambiguous.
    fn by_content(&mut self, identities: &mut Identities<'a>) -> bool {
        let mut contents = Contents::new(self.matching);
        contents.nodes(&self.nodes);
        contents.records(&self.records);
        for layer in contents.layers(&self.nodes) {
            let classes = contents.classes(&layer, &self.records);
            let mut pairs = Vec::new();
            for class in classes {
                if self.is_ambiguous(&contents, &class, identities) {
                    return false;
                }
                if !class.nodes.is_empty() && class.records.len() > class.nodes.len() {
                    let (nodes, records) = (class.nodes.clone(), class.records.clone());
                    self.unsettled.push(Unsettled { nodes, records });
                }
                pairs.extend(self.pair(&class));
            }
            self.take(pairs, Match::Content);
        }
        true
    }

    /// Notes that neither identity nor content tells which of the records that are left each node is.
    ///
    /// A node and a record that name two real resources are not the same.
    fn leave_unsettled(&mut self, identities: &mut Identities<'a>) {
        let (named, unnamed): (Vec<NodeId>, Vec<NodeId>) =
            self.nodes.iter().partition(|id| self.matching.physical(identities, **id).is_some());
        let untold: Vec<&'a Resource> =
            self.records.iter().filter(|record| identities.of_record(record).is_none()).copied().collect();
        let all = (unnamed, self.records.clone());
        let pairs = [all, (named, untold)].into_iter().map(|(nodes, records)| Unsettled { nodes, records });
        self.unsettled.extend(pairs.filter(|left| !left.nodes.is_empty() && !left.records.is_empty()));
    }

    /// Pairs the others by name. Returns false if that could change or delete a guarded resource in place of another one.
    fn by_counter(&mut self) -> bool {
        let by_name: HashMap<&Name, &'a Resource> =
            self.records.iter().map(|record| (&record.name, *record)).collect();
        let named = |id: &NodeId| Some((*id, *by_name.get(self.name(*id))?));
        let pairs: Vec<(NodeId, &'a Resource)> = self.nodes.iter().filter_map(named).collect();
        let too_many = self.records.len() > self.nodes.len();
        if !pairs.is_empty() && too_many && self.records.iter().any(|record| is_guarded(record)) {
            return false;
        }
        self.take(pairs, Match::Name);
        true
    }

    /// Returns true if a class has more records than nodes, and nothing tells which records stay.
    ///
    /// A counter tells it only for records that are equal in all, and never for a guarded one.
    fn is_ambiguous(
        &self,
        contents: &Contents<'_, 'a>,
        class: &Class<'a>,
        identities: &mut Identities<'a>,
    ) -> bool {
        if class.nodes.is_empty() || class.records.len() <= class.nodes.len() {
            return false;
        }
        let names: HashSet<&Name> = class.records.iter().map(|record| &record.name).collect();
        let mut whole = class.records.iter().map(|record| {
            let naming = identities.properties(&record.ty);
            let mut all = contents.written(record, |_| true);
            all.retain(|key, _| !naming.contains(key));
            all
        });
        let first = whole.next();
        class.records.iter().any(|record| is_guarded(record))
            || !class.nodes.iter().all(|id| names.contains(self.name(*id)))
            || whole.any(|other| Some(other) != first)
    }

    fn pair(&self, class: &Class<'a>) -> Vec<(NodeId, &'a Resource)> {
        let by_name: HashMap<&Name, &'a Resource> =
            class.records.iter().map(|record| (&record.name, *record)).collect();
        let named = |id: &NodeId| by_name.get(self.name(*id)).map(|record| (*id, *record));
        let mut pairs: Vec<(NodeId, &'a Resource)> = class.nodes.iter().filter_map(named).collect();
        let taken: HashSet<&Uid> = pairs.iter().map(|(_, record)| &record.uid).collect();
        let others = class.nodes.iter().filter(|id| !by_name.contains_key(self.name(**id)));
        let free = class.records.iter().filter(|record| !taken.contains(&record.uid));
        pairs.extend(others.zip(free).map(|(id, record)| (*id, *record)));
        pairs
    }
}

/// Returns true if a recorded resource is protected or pinned.
fn is_guarded(record: &Resource) -> bool {
    record.prevents_deletion() || record.pinned
}
