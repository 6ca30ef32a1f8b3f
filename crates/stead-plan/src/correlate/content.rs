//! The content of a resource: a digest of its type, its inputs and their sources, without its name.
//!
//! Each part is framed by its length. Properties that the provider may fill in are left out, because a program need not set them.

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
            let digest = digest(&node.ty, &self.of_node(id));
            self.of_nodes.insert(id, digest);
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
                    let digest = digest(&record.ty, &self.of_record(record));
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
        let counted = node.inputs.iter().filter(|(key, _)| self.counts(&node.ty, key));
        counted.map(|(key, input)| (key.as_str(), self.input(input))).collect()
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

    /// Returns the contents of a recorded resource, by property.
    pub(crate) fn of_record(&self, record: &'a Resource) -> BTreeMap<&'a str, Content> {
        let counted = record.inputs.iter().filter(|(key, _)| self.counts(&record.ty, key));
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
