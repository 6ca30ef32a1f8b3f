//! What a resource is, apart from its name: a framed digest of its type, its inputs and what they come from.
//!
//! Each part is preceded by its length, so that parts cannot run together. Properties that the provider may fill
//! in are left out: the program need not say them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stead_model::{Digest, Input, NodeId, Resource, TypeToken, Uid, Value};
use stead_schema::Access;

use super::Matching;

/// Digests of the resources on one side, made as they are asked for.
pub(crate) struct Contents<'m, 'a> {
    matching: &'m Matching<'a>,
    of_nodes: HashMap<NodeId, Digest>,
    of_records: HashMap<&'a Uid, Digest>,
}

/// A property's value, or what it comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Content {
    Value(String),
    From(BTreeSet<String>),
}

impl<'m, 'a> Contents<'m, 'a> {
    pub(crate) fn new(matching: &'m Matching<'a>) -> Contents<'m, 'a> {
        Contents { matching, of_nodes: HashMap::new(), of_records: HashMap::new() }
    }

    /// Digests of all these nodes; `order` puts sources before what comes from them.
    pub(crate) fn nodes(&mut self, order: &[NodeId]) {
        for &id in order {
            let node = &self.matching.graph.nodes[id.index()];
            let digest = digest(&node.resource, &self.of_node(id));
            self.of_nodes.insert(id, digest);
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Digest> {
        self.of_nodes.get(&id)
    }

    pub(crate) fn record(&self, uid: &Uid) -> Option<&Digest> {
        self.of_records.get(uid)
    }

    /// Digests of all these records, sources first however deep they go.
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
                    let digest = digest(&record.resource, &self.of_record(record));
                    self.of_records.insert(&record.uid, digest);
                    continue;
                }
                todo.push((record, true));
                let sources = record.property_dependencies.values().flatten();
                todo.extend(sources.filter_map(|uid| Some((*by_uid.get(uid)?, false))));
            }
        }
    }

    /// The properties that count, of a declared resource.
    pub(crate) fn of_node(&self, id: NodeId) -> BTreeMap<&'a str, Content> {
        let node = &self.matching.graph.nodes[id.index()];
        let counted = node.inputs.iter().filter(|(key, _)| self.counts(&node.resource, key));
        counted.map(|(key, input)| (key.as_str(), self.input(input))).collect()
    }

    fn input(&self, input: &Input) -> Content {
        if let Input::Known(value) = input {
            return Content::Value(value.to_json());
        }
        let sources = self.matching.graph.exprs.nodes_of(input).into_iter();
        Content::From(sources.filter_map(|source| self.identity(source)).collect())
    }

    /// What a source is called on both sides: its uid if it is known, else its digest.
    fn identity(&self, source: NodeId) -> Option<String> {
        match self.matching.matched[source.index()] {
            Some(old) => Some(old.uid.to_string()),
            None => self.of_nodes.get(&source).map(|digest| digest.as_str().to_owned()),
        }
    }

    /// The properties that count, of a recorded resource.
    pub(crate) fn of_record(&self, record: &'a Resource) -> BTreeMap<&'a str, Content> {
        let counted = record.inputs.iter().filter(|(key, _)| self.counts(&record.resource, key));
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

    /// Whether only the user can have given the property its value.
    fn counts(&self, resource: &TypeToken, key: &str) -> bool {
        let property = self.matching.catalog.get(resource).and_then(|schema| schema.property(key));
        property.is_none_or(|property| matches!(property.access, Access::Required | Access::Optional))
    }
}

fn digest(resource: &TypeToken, properties: &BTreeMap<&str, Content>) -> Digest {
    let mut bytes = Vec::new();
    frame(&mut bytes, resource.as_str());
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
