//! What state remembers of the last wish: everything in the clear but what is write-only, of which it keeps a digest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use stead_model::{Map, PropertyPath, Segment, Value};

use super::{Class, Cursor, Schema, update::pointer};

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
    /// A digest of each write-only value, by its pointer.
    pub hidden: BTreeMap<String, String>,
}

impl Remembered {
    pub fn of(schema: &Schema, key: &DigestKey, inputs: &Map) -> Remembered {
        let mut hidden = BTreeMap::new();
        let cursor = schema.classes.of(Class::WriteOnly).cursor();
        let mut strip = Strip { key, hidden: &mut hidden, path: Vec::new() };
        let inputs = strip.map(inputs, &cursor);
        Remembered { inputs, hidden }
    }

    /// The digest of a write-only value that was set.
    pub fn digest(&self, path: &PropertyPath) -> Option<&str> {
        self.hidden.get(&pointer(path)).map(String::as_str)
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
                let path = PropertyPath(self.path.clone());
                self.hidden.insert(pointer(&path), self.key.digest(&path, value));
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
