//! Suggests moves: pairs of a removed and a new resource of one type that may be the same resource.
//!
//! By physical id, then by equal content (with dependents and ids to decide between several), then by an explicit id in another
//! scope, then by similarity. A suggestion takes effect only when it is accepted.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use stead_model::{CopyRef, Digest, Input, Name, NameParts, NodeId, Resource, TypeToken, Uid, Value};

use super::Matching;
use super::content::{Class, Contents};
use super::counterparts::Unsettled;
use super::displaced::displaced;
use super::places::{MovedPlace, moved_places};
use super::siblings::is_counter;
use super::similar::similar;
use crate::physical::Physical;

/// Confidence in a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// At most half of the properties are equal.
    Weak,
    Likely,
    Certain,
}

/// The evidence for a suggestion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Reason {
    /// A property of the new resource has the physical id of the old one.
    #[serde(rename = "same_thing")]
    SamePhysicalId { property: String },
    /// The same as above, and the two have each other's name: their ids were swapped.
    Swapped { property: String },
    /// A property of the resource has the physical id of the old one, and its name is still recorded for another resource.
    NameTaken { property: String },
    /// Type, inputs and their sources are equal.
    SameContent,
    /// The contents are equal, and the same resources depend on both.
    #[serde(rename = "same_neighbours")]
    SameDependents,
    /// The contents are equal, and both have the same id in different scopes.
    SameId,
    /// Both have the same type and the same id, which the program gave, in different scopes.
    #[serde(rename = "same_id_elsewhere")]
    SameGivenId,
    /// Some properties are equal.
    #[serde(rename = "alike")]
    Similar { equal: usize, of: usize },
}

/// A property in which the two resources differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub property: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Input>,
}

/// A removed and a new resource that may be the same: a rename from one to the other would keep the physical resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    pub from: Name,
    pub to: Name,
    pub node: NodeId,
    pub copy: CopyRef,
    #[serde(rename = "sureness")]
    pub confidence: Confidence,
    #[serde(flatten)]
    pub reason: Reason,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

impl Suggestion {
    /// Returns true if the suggestion is likely enough that deletions should wait for a decision.
    pub fn blocks_deletions(&self) -> bool {
        self.confidence >= Confidence::Likely
    }
}

/// Removed and new resources that match in more than one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ambiguity {
    pub from: Vec<Name>,
    pub to: Vec<Name>,
}

#[derive(Default)]
pub(super) struct Suggestions<'a> {
    pub places: Vec<MovedPlace>,
    pub suggestions: Vec<Suggestion>,
    pub ambiguities: Vec<Ambiguity>,
    /// Equally good candidates, which are no suggestion.
    pub unsettled: Vec<Unsettled<'a>>,
}

/// Nodes and records by their content.
type Alike<'a> = BTreeMap<Digest, (Vec<NodeId>, Vec<&'a Resource>)>;

/// Compares the nodes and records without a match. `order` has sources before their dependents.
pub(super) fn suggest<'a>(matching: &Matching<'a>, order: &[NodeId]) -> Suggestions<'a> {
    let displaced = displaced(matching);
    let records = matching.unclaimed();
    let unmatched: BTreeSet<NodeId> = matching.unmatched().into_iter().collect();
    if displaced.is_empty() && (records.is_empty() || unmatched.is_empty()) {
        return Suggestions::default();
    }
    let order: Vec<NodeId> = order.iter().copied().filter(|id| unmatched.contains(id)).collect();
    let mut contents = Contents::new(matching);
    contents.nodes(&order);
    contents.records(&records);
    let mut search = Search {
        matching,
        contents,
        nodes: unmatched,
        records: records.into_iter().map(|record| (&record.uid, record)).collect(),
        found: Suggestions::default(),
        dependents: OnceCell::new(),
    };
    for (id, record, reason) in displaced {
        search.take(id, record, Confidence::Certain, reason);
    }
    search.found.places = moved_places(&mut search);
    search.same_physical_id();
    search.same_content();
    search.same_given_id();
    similar(&mut search);
    let mut found = search.found;
    found.suggestions.sort_by_key(|suggestion| suggestion.node);
    found
}

/// The nodes and records that are left, and the suggestions so far.
pub(super) struct Search<'m, 'a> {
    pub matching: &'m Matching<'a>,
    pub contents: Contents<'m, 'a>,
    pub nodes: BTreeSet<NodeId>,
    pub records: BTreeMap<&'a Uid, &'a Resource>,
    found: Suggestions<'a>,
    dependents: OnceCell<Dependents<'a>>,
}

/// The matched resources that depend on each node and on each recorded resource.
type Dependents<'a> = (HashMap<NodeId, BTreeSet<&'a Uid>>, HashMap<&'a Uid, BTreeSet<&'a Uid>>);

impl<'a> Search<'_, 'a> {
    /// Adds a suggestion.
    pub(super) fn take(&mut self, id: NodeId, record: &'a Resource, confidence: Confidence, reason: Reason) {
        self.nodes.remove(&id);
        self.records.remove(&record.uid);
        let node = &self.matching.graph.nodes[id.index()];
        self.found.suggestions.push(Suggestion {
            from: record.name.clone(),
            to: node.name.clone(),
            node: id,
            copy: record.copy(),
            confidence,
            reason,
            differences: self.differences(id, record),
        });
    }

    /// Notes that a node may be any of these records.
    pub(super) fn leave_unsettled(&mut self, id: NodeId, records: Vec<&'a Resource>) {
        self.found.unsettled.push(Unsettled { nodes: vec![id], records });
    }

    /// Leaves a pair out of the search, because it is part of a greater move.
    pub(super) fn drop_pair(&mut self, id: NodeId, record: &Resource) {
        self.nodes.remove(&id);
        self.records.remove(&record.uid);
    }

    fn differences(&self, id: NodeId, record: &'a Resource) -> Vec<Difference> {
        let node = &self.matching.graph.nodes[id.index()];
        let wanted = self.contents.of_node(id);
        let recorded = self.contents.written(record, |key| wanted.contains_key(key));
        let keys: BTreeSet<&str> = wanted.keys().chain(recorded.keys()).copied().collect();
        keys.into_iter()
            .filter(|key| wanted.get(key) != recorded.get(key))
            .map(|key| Difference {
                property: key.to_owned(),
                old: record.inputs.get(key).cloned(),
                new: node.inputs.get(key).cloned(),
            })
            .collect()
    }

    /// Suggests pairs in which a property of the node is the physical id of the record and of no other, or in which both have one
    /// canonical identity.
    fn same_physical_id(&mut self) {
        let mut by_id: HashMap<(&TypeToken, &str), Vec<&'a Resource>> = HashMap::new();
        for record in self.records.values() {
            if let Some(id) = &record.id {
                by_id.entry((&record.ty, id.as_str())).or_default().push(record);
            }
        }
        let graph = self.matching.graph;
        let mut pairs: Vec<(NodeId, &'a Resource, String)> = Vec::new();
        for &id in &self.nodes {
            let node = &graph.nodes[id.index()];
            let texts =
                node.inputs.iter().filter_map(|(key, input)| Some((key, input.as_known()?.as_str()?)));
            let fitting = texts.filter_map(|(key, text)| Some((key, by_id.get(&(&node.ty, text))?)));
            if let Some((key, [only])) = fitting.map(|(key, records)| (key, records.as_slice())).next() {
                pairs.push((id, *only, key.to_string()));
            }
        }
        let paired: BTreeSet<NodeId> = pairs.iter().map(|(id, ..)| *id).collect();
        pairs.extend(self.same_identity().into_iter().filter(|(id, ..)| !paired.contains(id)));
        let mut times: HashMap<&Uid, usize> = HashMap::new();
        pairs.iter().for_each(|(_, record, _)| *times.entry(&record.uid).or_default() += 1);
        for (id, record, property) in pairs {
            if times[&record.uid] == 1 {
                self.take(id, record, Confidence::Certain, Reason::SamePhysicalId { property });
            }
        }
    }

    /// Returns the pairs of a node and the only record with its canonical identity. The values of properties alone may be a part
    /// of an identity.
    fn same_identity(&self) -> Vec<(NodeId, &'a Resource, String)> {
        let mut identities = self.matching.identities();
        let mut by_identity: HashMap<Physical<'a>, Vec<&'a Resource>> = HashMap::new();
        for record in self.records.values() {
            if let Some(physical) = identities.of_record(record).filter(Physical::is_canonical) {
                by_identity.entry(physical).or_default().push(record);
            }
        }
        let mut pairs = Vec::new();
        for &id in self.nodes.iter().filter(|_| !by_identity.is_empty()) {
            let Some(physical) = self.matching.physical(&mut identities, id) else { continue };
            if let Some([only]) = by_identity.get(&physical).map(Vec::as_slice) {
                pairs.push((id, *only, identities.property(&physical).to_owned()));
            }
        }
        pairs
    }

    /// Suggests pairs of equal content.
    fn same_content(&mut self) {
        for (_, (nodes, records)) in self.classes(
            |search, id| search.contents.node(id).cloned(),
            |search, record| search.contents.record(&record.uid).cloned(),
        ) {
            if nodes.is_empty() || records.is_empty() {
                continue;
            }
            for layer in self.contents.layers(&nodes) {
                let left: Vec<&'a Resource> =
                    records.iter().filter(|record| self.records.contains_key(&record.uid)).copied().collect();
                for class in self.contents.classes(&layer, &left) {
                    self.equal(class);
                }
            }
        }
    }

    /// Suggests the pair of a class, or tells several apart.
    fn equal(&mut self, class: Class<'a>) {
        match (class.nodes.as_slice(), class.records.as_slice()) {
            ([], _) | (_, []) => {}
            ([id], [record]) => {
                let confidence = if self.contents.of_node(*id).is_empty() {
                    Confidence::Likely // only the type is known
                } else {
                    Confidence::Certain
                };
                self.take(*id, record, confidence, Reason::SameContent);
            }
            _ => self.tell_apart(class.nodes, class.records),
        }
    }

    /// Suggests pairs of one type with the same given id, in different scopes.
    ///
    /// A pair that names two different real resources is weak: a rename would replace the real resource all the same.
    fn same_given_id(&mut self) {
        let nodes: Vec<NodeId> = self.nodes.iter().copied().collect();
        let records: Vec<&'a Resource> = self.records.values().copied().collect();
        let graph = self.matching.graph;
        let node_key = |id: &NodeId| {
            let node = &graph.nodes[id.index()];
            Some((&node.ty, given_id(&node.name)?))
        };
        let with_id: Vec<NodeId> = nodes.into_iter().filter(|id| node_key(id).is_some()).collect();
        let pairs =
            unique_pairs(&with_id, &records, node_key, |record| Some((&record.ty, given_id(&record.name)?)));
        let mut identities = self.matching.identities();
        for (id, record) in pairs {
            let node = &graph.nodes[id.index()];
            let confidence = match identities.differ((id, &node.ty), &node.inputs, record) {
                true => Confidence::Weak,
                false => Confidence::Likely,
            };
            self.take(id, record, confidence, Reason::SameGivenId);
        }
    }

    /// Pairs several nodes and records of equal content by their dependents, then by id. The others are ambiguous.
    fn tell_apart(&mut self, mut nodes: Vec<NodeId>, mut records: Vec<&'a Resource>) {
        let (by_dependents, by_id) =
            (self.dependents(&nodes, &records), ids(self.matching, &nodes, &records));
        for (pairs, reason) in [(by_dependents, Reason::SameDependents), (by_id, Reason::SameId)] {
            for (id, record) in pairs {
                if self.nodes.contains(&id) && self.records.contains_key(&record.uid) {
                    self.take(id, record, Confidence::Certain, reason.clone());
                }
            }
            nodes.retain(|id| self.nodes.contains(id));
            records.retain(|record| self.records.contains_key(&record.uid));
        }
        if nodes.is_empty() || records.is_empty() {
            return;
        }
        for id in &nodes {
            self.nodes.remove(id);
        }
        for record in &records {
            self.records.remove(&record.uid);
        }
        // By name and not by uid, because uids differ from stack to stack.
        records.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        self.found.ambiguities.push(Ambiguity {
            from: records.iter().map(|record| record.name.clone()).collect(),
            to: nodes.iter().map(|id| self.matching.graph.nodes[id.index()].name.clone()).collect(),
        });
    }

    fn classes(
        &self,
        of_node: impl Fn(&Self, NodeId) -> Option<Digest>,
        of_record: impl Fn(&Self, &Resource) -> Option<Digest>,
    ) -> Alike<'a> {
        let mut classes: Alike<'a> = BTreeMap::new();
        for &id in &self.nodes {
            classes.entry(of_node(self, id).unwrap_or_else(|| Digest::of(b""))).or_default().0.push(id);
        }
        for record in self.records.values() {
            if let Some(digest) = of_record(self, record) {
                classes.entry(digest).or_default().1.push(record);
            }
        }
        classes
    }

    /// Returns the pairs with the same dependents.
    fn dependents(&self, nodes: &[NodeId], records: &[&'a Resource]) -> Vec<(NodeId, &'a Resource)> {
        let (of_nodes, of_records) = self.dependents.get_or_init(|| self.matching.dependents());
        let node_key = |id: &NodeId| of_nodes.get(id).cloned().unwrap_or_default();
        let record_key = |record: &&'a Resource| of_records.get(&record.uid).cloned().unwrap_or_default();
        unique_pairs(nodes, records, node_key, record_key)
    }
}

/// Returns the id that the program gave to a resource, without counters.
pub(super) fn given_id(name: &Name) -> Option<&str> {
    match &**name {
        NameParts::Placed { id: Some(id), .. } if !is_counter(id) => Some(id.as_str()),
        _ => None,
    }
}

/// Returns the pairs with the same id, in any scope.
fn ids<'a>(
    matching: &Matching<'_>,
    nodes: &[NodeId],
    records: &[&'a Resource],
) -> Vec<(NodeId, &'a Resource)> {
    let id = |name: &Name| match &**name {
        NameParts::Placed { id, .. } => id.clone(),
        NameParts::Global { gid, .. } => Some(gid.clone()),
    };
    let node_key = |node: &NodeId| id(&matching.graph.nodes[node.index()].name);
    unique_pairs(nodes, records, node_key, |record| id(&record.name))
}

/// Returns the pairs with the same key that no other node or record has.
fn unique_pairs<'a, K: Ord>(
    nodes: &[NodeId],
    records: &[&'a Resource],
    node_key: impl Fn(&NodeId) -> K,
    record_key: impl Fn(&&'a Resource) -> K,
) -> Vec<(NodeId, &'a Resource)> {
    let mut by_key: BTreeMap<K, (Vec<NodeId>, Vec<&'a Resource>)> = BTreeMap::new();
    nodes.iter().for_each(|id| by_key.entry(node_key(id)).or_default().0.push(*id));
    records.iter().for_each(|record| by_key.entry(record_key(record)).or_default().1.push(record));
    let single =
        by_key.into_values().filter_map(|(nodes, records)| match (nodes.as_slice(), records.as_slice()) {
            ([id], [record]) => Some((*id, *record)),
            _ => None,
        });
    single.collect()
}

impl<'a> Matching<'a> {
    fn dependents(&self) -> Dependents<'a> {
        let mut of_nodes: HashMap<NodeId, BTreeSet<&'a Uid>> = HashMap::new();
        let mut of_records: HashMap<&'a Uid, BTreeSet<&'a Uid>> = HashMap::new();
        for id in self.provisioned() {
            let Some(old) = self.matched[id.index()] else { continue };
            for source in self.graph.property_dependencies(id).into_values().flatten() {
                of_nodes.entry(source).or_default().insert(&old.uid);
            }
            for source in old.property_dependencies.values().flatten() {
                of_records.entry(source).or_default().insert(&old.uid);
            }
        }
        (of_nodes, of_records)
    }
}
