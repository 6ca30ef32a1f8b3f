//! The live resource as it was read back after the last apply, as state records it.
//!
//! A service often returns a value in another form than it was given. A value that is desired as before, and live as it
//! was right after it was applied, needs no update, however different the two look.
//!
//! Only digests are kept, because a declared value may be a secret. A provider stores them in the private data of its
//! resource (`ProviderData::private`), beside the digests of hidden values.

use serde::{Deserialize, Serialize};
use stead_model::{Map, PropertyPath, Segment, Value};

use super::position::Position;
use super::{DigestKey, Schema};

/// Fingerprints of a live resource after an apply: its declared properties, with a digest in place of each scalar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    model: Map,
}

impl Settled {
    /// Records the model that a read returned after an apply of the inputs. Read-only and hidden values are left out.
    pub fn of(schema: &Schema, key: &DigestKey, inputs: &Map, live: &Map) -> Settled {
        let root = Position::root(schema);
        let declared = live.iter().filter(|(name, _)| inputs.contains_key(*name));
        let model = declared
            .filter_map(|(name, value)| Some((name.clone(), fingerprint(&root.key(name), key, value)?)));
        Settled { model: model.collect() }
    }

    /// Returns the fingerprint at a path, or `None` if no value was there. A path into a list has none.
    pub(crate) fn at(&self, path: &PropertyPath) -> Option<&Value> {
        let (Segment::Key(first), rest) = path.0.split_first()? else { return None };
        rest.iter().try_fold(self.model.get(first)?, |at, segment| match segment {
            Segment::Key(key) => at.as_map()?.get(key),
            Segment::Index(_) => None,
        })
    }
}

/// Length of a digest in a fingerprint, in characters. Two values with the same one do not occur by chance.
const DIGEST_LENGTH: usize = 32;

/// Returns a value with a digest in place of each scalar, or `None` for a value that reads do not settle: a read-only or
/// hidden one, or null. Elements of unordered lists are sorted.
pub(crate) fn fingerprint(position: &Position<'_>, key: &DigestKey, value: &Value) -> Option<Value> {
    if position.is_read_only() || position.is_hidden() {
        return None;
    }
    Some(match value {
        Value::Null => return None,
        Value::Map(map) => {
            let inside = map.iter().filter_map(|(name, value)| {
                Some((name.clone(), fingerprint(&position.key(name), key, value)?))
            });
            Value::Map(inside.collect())
        }
        Value::List(items) => {
            let element = position.index(0);
            let mut items: Vec<Value> =
                items.iter().map(|item| fingerprint(&element, key, item).unwrap_or_default()).collect();
            if position.is_unordered() {
                items.sort();
            }
            Value::from(items)
        }
        scalar => {
            let mut digest = key.digest(&position.path, scalar);
            digest.truncate(DIGEST_LENGTH);
            Value::from(digest)
        }
    })
}
