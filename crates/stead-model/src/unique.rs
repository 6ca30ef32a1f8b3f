//! Reads an object as a sorted map and refuses duplicate keys, because it is unclear which value is meant.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

struct Unique<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Unique<V> {
    type Value = BTreeMap<String, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut map = BTreeMap::new();
        while let Some(key) = access.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(Error::custom(format_args!("duplicate key {key:?}")));
            }
            map.insert(key, access.next_value()?);
        }
        Ok(map)
    }
}

/// Deserializes a map without duplicate keys, for `#[serde(deserialize_with)]`.
pub fn unique_keys<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, V>, D::Error> {
    deserializer.deserialize_map(Unique(PhantomData))
}
