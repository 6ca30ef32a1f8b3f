//! Inputs last applied, as state records them: hidden values are replaced by digests.

use std::collections::BTreeMap;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use stead_model::{Map, PropertyPath, Segment, Value, hex};

use super::{Cursor, Schema, update::pointer};
use crate::flatten;

/// Key of the digests. Without it a digest reveals nothing about its value. Each stack has its own.
#[derive(Clone)]
pub struct DigestKey([u8; 32]);

impl DigestKey {
    pub fn new(bytes: [u8; 32]) -> DigestKey {
        DigestKey(bytes)
    }

    /// Returns the HMAC-SHA-256 of a path and a value, in hex.
    pub fn digest(&self, path: &PropertyPath, value: &Value) -> String {
        // A key shorter than the block is padded with zeros (RFC 2104).
        let mut block = [0; 64];
        block[..self.0.len()].copy_from_slice(&self.0);
        let mac = Hmac::<Sha256>::new(&block.into())
            .chain_update(pointer(path))
            .chain_update([0])
            .chain_update(value.to_json());
        hex(&mac.finalize().into_bytes())
    }
}

/// Inputs last applied to a resource, without hidden values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LastApplied {
    pub inputs: Map,
    /// Digest of each hidden leaf, by JSON pointer.
    pub hidden: BTreeMap<String, String>,
}

impl LastApplied {
    pub fn of(schema: &Schema, key: &DigestKey, inputs: &Map) -> LastApplied {
        let mut hidden = BTreeMap::new();
        let mut redaction = Redaction { key, hidden: &mut hidden, path: Vec::new() };
        let inputs = redaction.map(inputs, &schema.classes.hidden());
        LastApplied { inputs, hidden }
    }

    /// Returns the digests of the hidden leaves at and under a path, by pointer.
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

struct Redaction<'a> {
    key: &'a DigestKey,
    hidden: &'a mut BTreeMap<String, String>,
    path: Vec<Segment>,
}

impl Redaction<'_> {
    fn map(&mut self, map: &Map, cursor: &Cursor<'_>) -> Map {
        let mut out = Map::new();
        for (name, value) in map {
            let inside = self.value(Segment::Key(name.to_string()), value, &cursor.key(name));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests are recorded in state: this one was computed by the first version.
    #[test]
    fn digest_of_a_path_and_a_value_stays_the_same() {
        let path = PropertyPath::of("Password").key("a/b");
        let digest = DigestKey::new([7; 32]).digest(&path, &Value::from("secret"));
        assert_eq!(digest, "fd307f7e0f6b5d001e2a80519b8c091d26cda93f88f1cd5788e8b34dde229e4d");
    }
}
