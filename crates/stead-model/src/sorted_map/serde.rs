//! Reads an object as a sorted map and refuses duplicate keys, because it is unclear which value is meant.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SortedMap;

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K, V> Deserialize<'de> for SortedMap<K, V>
where
    K: Deserialize<'de> + Ord + fmt::Debug,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Unique(PhantomData))
    }
}

struct Unique<K, V>(PhantomData<(K, V)>);

impl<'de, K, V> Visitor<'de> for Unique<K, V>
where
    K: Deserialize<'de> + Ord + fmt::Debug,
    V: Deserialize<'de>,
{
    type Value = SortedMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        SortedMap::from_access(access)
    }
}

impl<K: Ord + fmt::Debug, V> SortedMap<K, V> {
    /// Reads the entries of an object in any order.
    pub(crate) fn from_access<'de, A: MapAccess<'de>>(mut access: A) -> Result<Self, A::Error>
    where
        K: Deserialize<'de>,
        V: Deserialize<'de>,
    {
        let mut entries: Vec<(K, V)> = Vec::new();
        while let Some(key) = access.next_key()? {
            if let Some((last, _)) = entries.last()
                && *last == key
            {
                return Err(Error::custom(format_args!("duplicate key {key:?}")));
            }
            let value = access.next_value()?;
            entries.push((key, value));
        }
        if !entries.is_sorted_by(|(one, _), (next, _)| one < next) {
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(Error::custom(format_args!("duplicate key {:?}", pair[0].0)));
            }
        }
        Ok(SortedMap::from_entries(entries))
    }
}
