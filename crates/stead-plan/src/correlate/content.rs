//! The content of a resource: a digest of its type, its inputs and their sources, without its name.
//!
//! Each part is framed by its length. A property that the provider may fill in counts only where the program sets it, because a
//! record does not tell whether its value is a default.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use stead_model::{Digest, Input, NodeId, Resource, TypeToken, Uid, Value};
use stead_schema::Access;

use super::Matching;

/// Digests of nodes and records.
pub(crate) struct Contents<'m, 'a> {
    matching: &'m Matching<'a>,
    of_nodes: HashMap<NodeId, Digest>,
    of_records: HashMap<&'a Uid, Digest>,
}

/// A record is compared at most with this many sets of properties, so that the time stays linear.
const MAX_LAYERS: usize = 32;

/// Nodes that set the same properties of those that the provider may fill in.
pub(crate) struct Layer<'a> {
    fillable: BTreeSet<&'a str>,
    pub nodes: Vec<NodeId>,
}

/// Nodes and records of equal content.
#[derive(Default)]
pub(crate) struct Class<'a> {
    pub nodes: Vec<NodeId>,
    pub records: Vec<&'a Resource>,
}

/// The value of a property, or its sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Content {
    Value(String),
    From(BTreeSet<String>),
}

impl<'m, 'a> Contents<'m, 'a> {
    pub(crate) fn new(matching: &'m Matching<'a>) -> Contents<'m, 'a> {
        Contents { matching, of_nodes: HashMap::new(), of_records: HashMap::new() }
    }

    /// Computes the digests of nodes. `order` must have sources before their dependents.
    pub(crate) fn nodes(&mut self, order: &[NodeId]) {
        for &id in order {
            let node = &self.matching.graph.nodes[id.index()];
            let mut contents = self.of_node(id);
            contents.retain(|key, _| self.counts(&node.ty, key));
            self.of_nodes.insert(id, digest(&node.ty, &contents));
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Digest> {
        self.of_nodes.get(&id)
    }

    pub(crate) fn record(&self, uid: &Uid) -> Option<&Digest> {
        self.of_records.get(uid)
    }

    /// Computes the digests of records, sources first.
    pub(crate) fn records(&mut self, records: &[&'a Resource]) {
        let by_uid: HashMap<&Uid, &'a Resource> =
            records.iter().map(|record| (&record.uid, *record)).collect();
        for &start in records {
            let mut todo: Vec<(&'a Resource, bool)> = vec![(start, false)];
            while let Some((record, sources_done)) = todo.pop() {
                if self.of_records.contains_key(&record.uid) {
                    continue;
                }
                if sources_done {
                    let digest = digest(&record.ty, &self.written(record, |_| false));
                    self.of_records.insert(&record.uid, digest);
                    continue;
                }
                todo.push((record, true));
                let sources = record.property_dependencies.values().flatten();
                todo.extend(sources.filter_map(|uid| Some((*by_uid.get(uid)?, false))));
            }
        }
    }

    /// Returns the contents of a declared resource, by property.
    pub(crate) fn of_node(&self, id: NodeId) -> BTreeMap<&'a str, Content> {
        let node = &self.matching.graph.nodes[id.index()];
        node.inputs.iter().map(|(key, input)| (key.as_str(), self.input(input))).collect()
    }

    /// Groups nodes by the fillable properties that they set, those with the most properties first.
    pub(crate) fn layers(&self, nodes: &[NodeId]) -> Vec<Layer<'a>> {
        let mut layers: BTreeMap<(Reverse<usize>, BTreeSet<&'a str>), Vec<NodeId>> = BTreeMap::new();
        for &id in nodes {
            let node = &self.matching.graph.nodes[id.index()];
            let set = node.inputs.keys().map(|key| key.as_str());
            let fillable: BTreeSet<&'a str> = set.filter(|key| !self.counts(&node.ty, key)).collect();
            layers.entry((Reverse(fillable.len()), fillable)).or_default().push(id);
        }
        let layers = layers.into_iter().map(|((_, fillable), nodes)| Layer { fillable, nodes });
        layers.take(MAX_LAYERS).collect()
    }

    /// Returns the nodes of a layer with the records of equal content.
    pub(crate) fn classes(&self, layer: &Layer<'a>, records: &[&'a Resource]) -> Vec<Class<'a>> {
        let mut classes: BTreeMap<Digest, Class<'a>> = BTreeMap::new();
        for &id in &layer.nodes {
            let digest = digest(&self.matching.graph.nodes[id.index()].ty, &self.of_node(id));
            classes.entry(digest).or_default().nodes.push(id);
        }
        for &record in records {
            let contents = self.written(record, |key| layer.fillable.contains(key));
            if let Some(class) = classes.get_mut(&digest(&record.ty, &contents)) {
                class.records.push(record);
            }
        }
        classes.into_values().collect()
    }

    /// Returns true if the program sets the same values that the record has.
    pub(crate) fn equal(&self, id: NodeId, record: &'a Resource) -> bool {
        let wanted = self.of_node(id);
        wanted == self.written(record, |key| wanted.contains_key(key))
    }

    fn input(&self, input: &Input) -> Content {
        if let Input::Known(value) = input {
            return Content::Value(value.to_json());
        }
        let sources = self.matching.graph.exprs.nodes_of(input).into_iter();
        Content::From(sources.filter_map(|source| self.identity(source)).collect())
    }

    /// Returns an id of a source that is the same for node and record: the uid if it is matched, else the digest.
    fn identity(&self, source: NodeId) -> Option<String> {
        match self.matching.matched[source.index()] {
            Some(old) => Some(old.uid.to_string()),
            None => self.of_nodes.get(&source).map(|digest| digest.as_str().to_owned()),
        }
    }

    /// Returns the contents of a recorded resource, by property: those that only a program sets, and those that are declared now.
    pub(crate) fn written(
        &self,
        record: &'a Resource,
        declared: impl Fn(&str) -> bool,
    ) -> BTreeMap<&'a str, Content> {
        let counted = record.inputs.iter().filter(|(key, _)| self.counts(&record.ty, key) || declared(key));
        counted.map(|(key, value)| (key.as_str(), self.value(record, key, value))).collect()
    }

    fn value(&self, record: &Resource, key: &str, value: &Value) -> Content {
        let Some(sources) = record.property_dependencies.get(key) else {
            return Content::Value(value.to_json());
        };
        let identity = |uid: &Uid| match self.of_records.get(uid) {
            Some(digest) if !self.matching.claimed.contains(uid) => digest.as_str().to_owned(),
            _ => uid.to_string(),
        };
        Content::From(sources.iter().map(identity).collect())
    }

    /// Returns true if only the program can have set the property.
    fn counts(&self, ty: &TypeToken, key: &str) -> bool {
        let property = self.matching.catalog.get(ty).and_then(|schema| schema.property(key));
        property.is_none_or(|property| matches!(property.access, Access::Required | Access::Optional))
    }
}

fn digest(ty: &TypeToken, properties: &BTreeMap<&str, Content>) -> Digest {
    let mut bytes = Vec::new();
    frame(&mut bytes, ty.as_str());
    for (key, content) in properties {
        frame(&mut bytes, key);
        match content {
            Content::Value(json) => {
                bytes.push(0);
                frame(&mut bytes, json);
            }
            Content::From(sources) => {
                bytes.push(1);
                frame(&mut bytes, &sources.len().to_string());
                sources.iter().for_each(|source| frame(&mut bytes, source));
            }
        }
    }
    Digest::of(&bytes)
}

fn frame(bytes: &mut Vec<u8>, part: &str) {
    bytes.extend((part.len() as u64).to_be_bytes());
    bytes.extend(part.as_bytes());
}
