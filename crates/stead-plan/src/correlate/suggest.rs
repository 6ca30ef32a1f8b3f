//! What looks like a move: a removed and a new resource of one type that may be one and the same.
//!
//! By physical identity, then by equal content, told apart by their neighbours and their ids, then by likeness. A
//! suggestion is never acted on by itself.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use stead_model::{CopyRef, Digest, Input, Name, NameParts, NodeId, Resource, TypeToken, Uid, Value};

use super::Matching;
use super::content::Contents;
use super::similar::similar;

/// How sure a suggestion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sureness {
    /// A near miss: worth a look, no more.
    Weak,
    Likely,
    Certain,
}

/// Why two are taken for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Reason {
    /// The new one's property holds the old one's physical id.
    SameThing { property: String },
    /// Type, inputs and what they come from are the same.
    SameContent,
    /// So they are, and the same others depend on them.
    SameNeighbours,
    /// So they are, and they have the same id in another place.
    SameId,
    /// Most of what is known is the same.
    Alike { equal: usize, of: usize },
}

/// A property that keeps two from being the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub property: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Input>,
}

/// `stead rename FROM TO` would make one of the two.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    pub from: Name,
    pub to: Name,
    pub node: NodeId,
    pub copy: CopyRef,
    pub sureness: Sureness,
    #[serde(flatten)]
    pub reason: Reason,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

impl Suggestion {
    /// Whether it should be settled before anything is deleted.
    pub fn stops(&self) -> bool {
        self.sureness >= Sureness::Likely
    }
}

/// Resources of which nobody can tell which is which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ambiguity {
    pub from: Vec<Name>,
    pub to: Vec<Name>,
}

#[derive(Default)]
pub(crate) struct Found {
    pub suggestions: Vec<Suggestion>,
    pub ambiguities: Vec<Ambiguity>,
}

/// The nodes and records that look the same.
type Alike<'a> = BTreeMap<Digest, (Vec<NodeId>, Vec<&'a Resource>)>;

pub(crate) fn suggest(matching: &Matching<'_>, order: &[NodeId]) -> Found {
    let records = matching.unclaimed();
    let unmatched: BTreeSet<NodeId> = matching.unmatched().into_iter().collect();
    if records.is_empty() || unmatched.is_empty() {
        return Found::default();
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
        found: Found::default(),
        dependants: OnceCell::new(),
    };
    search.same_thing();
    search.same_content();
    similar(&mut search);
    let mut found = search.found;
    found.suggestions.sort_by_key(|suggestion| suggestion.node);
    found
}

/// What is left to find, and what was found.
pub(crate) struct Search<'m, 'a> {
    pub matching: &'m Matching<'a>,
    pub contents: Contents<'m, 'a>,
    pub nodes: BTreeSet<NodeId>,
    pub records: BTreeMap<&'a Uid, &'a Resource>,
    pub found: Found,
    dependants: OnceCell<Dependants<'a>>,
}

/// For each node and each recorded resource, the known resources that depend on it, by uid.
type Dependants<'a> = (HashMap<NodeId, BTreeSet<&'a Uid>>, HashMap<&'a Uid, BTreeSet<&'a Uid>>);

impl<'a> Search<'_, 'a> {
    pub(crate) fn take(&mut self, id: NodeId, record: &'a Resource, sureness: Sureness, reason: Reason) {
        self.nodes.remove(&id);
        self.records.remove(&record.uid);
        let node = &self.matching.graph.nodes[id.index()];
        self.found.suggestions.push(Suggestion {
            from: record.name.clone(),
            to: node.name.clone(),
            node: id,
            copy: record.copy(),
            sureness,
            reason,
            differences: self.differences(id, record),
        });
    }

    fn differences(&self, id: NodeId, record: &'a Resource) -> Vec<Difference> {
        let node = &self.matching.graph.nodes[id.index()];
        let (wanted, recorded) = (self.contents.of_node(id), self.contents.of_record(record));
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

    /// A property of the new one is the physical id of the old one, and of no other.
    fn same_thing(&mut self) {
        let mut by_id: HashMap<(&TypeToken, &str), Vec<&'a Resource>> = HashMap::new();
        for record in self.records.values() {
            if let Some(id) = &record.id {
                by_id.entry((&record.resource, id.as_str())).or_default().push(record);
            }
        }
        let graph = self.matching.graph;
        let mut pairs: Vec<(NodeId, &'a Resource, String)> = Vec::new();
        for &id in &self.nodes {
            let node = &graph.nodes[id.index()];
            let texts =
                node.inputs.iter().filter_map(|(key, input)| Some((key, input.as_known()?.as_str()?)));
            let fitting = texts.filter_map(|(key, text)| Some((key, by_id.get(&(&node.resource, text))?)));
            if let Some((key, [only])) = fitting.map(|(key, records)| (key, records.as_slice())).next() {
                pairs.push((id, *only, key.clone()));
            }
        }
        let mut times: HashMap<&Uid, usize> = HashMap::new();
        pairs.iter().for_each(|(_, record, _)| *times.entry(&record.uid).or_default() += 1);
        for (id, record, property) in pairs {
            if times[&record.uid] == 1 {
                self.take(id, record, Sureness::Certain, Reason::SameThing { property });
            }
        }
    }

    /// Equal contents: one of each is a move; several are told apart by neighbours, then by id.
    fn same_content(&mut self) {
        for (_, (nodes, records)) in self.classes(
            |search, id| search.contents.node(id).cloned(),
            |search, record| search.contents.record(&record.uid).cloned(),
        ) {
            match (nodes.as_slice(), records.as_slice()) {
                ([], _) | (_, []) => {}
                ([id], [record]) => {
                    let sureness = if self.contents.of_node(*id).is_empty() {
                        Sureness::Likely // nothing is known of either but its type
                    } else {
                        Sureness::Certain
                    };
                    self.take(*id, record, sureness, Reason::SameContent);
                }
                _ => self.tell_apart(nodes, records),
            }
        }
    }

    fn tell_apart(&mut self, mut nodes: Vec<NodeId>, mut records: Vec<&'a Resource>) {
        let (by_dependants, by_id) =
            (self.dependants(&nodes, &records), ids(self.matching, &nodes, &records));
        for (pairs, reason) in [(by_dependants, Reason::SameNeighbours), (by_id, Reason::SameId)] {
            for (id, record) in pairs {
                if self.nodes.contains(&id) && self.records.contains_key(&record.uid) {
                    self.take(id, record, Sureness::Certain, reason.clone());
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
        // Uids say nothing to a person, and differ from stack to stack.
        records.sort_by(|a, b| a.place().cmp(&b.place()));
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

    /// Pairs that the same matched resources depend on, on both sides.
    fn dependants(&self, nodes: &[NodeId], records: &[&'a Resource]) -> Vec<(NodeId, &'a Resource)> {
        let (of_nodes, of_records) = self.dependants.get_or_init(|| self.matching.dependants());
        let node_key = |id: &NodeId| of_nodes.get(id).cloned().unwrap_or_default();
        let record_key = |record: &&'a Resource| of_records.get(&record.uid).cloned().unwrap_or_default();
        unique_pairs(nodes, records, node_key, record_key)
    }
}

/// Pairs that have the same id, in whatever scope.
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

/// Pairs whose keys are the same and nobody else's.
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
    fn dependants(&self) -> Dependants<'a> {
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
