//! What state remembers of the last wish: everything in the clear but what is write-only, of which it keeps a digest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use stead_model::{Map, PropertyPath, Segment, Value};

use super::{Cursor, Schema, update::pointer};
use crate::flatten;

/// With it, digests say nothing to whoever does not have it. One for each stack.
#[derive(Clone)]
pub struct DigestKey([u8; 32]);

impl DigestKey {
    pub fn new(bytes: [u8; 32]) -> DigestKey {
        DigestKey(bytes)
    }

    /// HMAC-SHA-256 of the place and the value.
    pub fn digest(&self, path: &PropertyPath, value: &Value) -> String {
        let pad = |with: u8| self.0.iter().map(|byte| byte ^ with).chain([with; 32]).collect::<Vec<u8>>();
        let mut inner = Sha256::new();
        inner.update(pad(0x36));
        inner.update(pointer(path));
        inner.update([0]);
        inner.update(value.to_json());
        let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner.finalize()).finalize();
        outer.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The last wish, without what must not be seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    pub inputs: Map,
    /// A digest of each leaf that a read never shows, by its pointer.
    pub hidden: BTreeMap<String, String>,
}

impl Remembered {
    pub fn of(schema: &Schema, key: &DigestKey, inputs: &Map) -> Remembered {
        let mut hidden = BTreeMap::new();
        let mut strip = Strip { key, hidden: &mut hidden, path: Vec::new() };
        let inputs = strip.map(inputs, &schema.classes.hidden());
        Remembered { inputs, hidden }
    }

    /// The hidden leaves at and under a path, by pointer.
    pub(crate) fn under(&self, path: &PropertyPath) -> BTreeMap<&str, &str> {
        let start = pointer(path);
        let inside = |found: &str| found == start || found[start.len()..].starts_with('/');
        self.hidden
            .range(start.clone()..)
            .take_while(|(found, _)| found.starts_with(&start))
            .filter(|(found, _)| inside(found))
            .map(|(found, digest)| (found.as_str(), digest.as_str()))
            .collect()
    }
}

struct Strip<'a> {
    key: &'a DigestKey,
    hidden: &'a mut BTreeMap<String, String>,
    path: Vec<Segment>,
}

impl Strip<'_> {
    fn map(&mut self, map: &Map, cursor: &Cursor<'_>) -> Map {
        let mut out = Map::new();
        for (name, value) in map {
            let inside = self.value(Segment::Key(name.clone()), value, &cursor.key(name));
            out.extend(inside.map(|value| (name.clone(), value)));
        }
        out
    }

    fn value(&mut self, segment: Segment, value: &Value, cursor: &Cursor<'_>) -> Option<Value> {
        self.path.push(segment);
        let kept = match value {
            _ if cursor.is_covered() => {
                for (inside, leaf) in flatten(value) {
                    let path = PropertyPath(self.path.iter().cloned().chain(inside.0).collect());
                    self.hidden.insert(pointer(&path), self.key.digest(&path, &leaf));
                }
                None
            }
            value if !cursor.reaches() => Some(value.clone()),
            Value::Map(map) => Some(Value::Map(self.map(map, cursor))),
            Value::List(items) => {
                let cursor = cursor.element();
                let all = items.iter().enumerate();
                let kept = all.map(|(index, item)| self.value(Segment::Index(index), item, &cursor));
                Some(Value::List(kept.map(Option::unwrap_or_default).collect()))
            }
            leaf => Some(leaf.clone()),
        };
        self.path.pop();
        kept
    }
}
