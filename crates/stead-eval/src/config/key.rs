//! Keys of config: `db.size`. A part with a dot in it is quoted: `tags."app.kubernetes.io/name"`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stead_model::{Map, Value};

/// Path of a config value through its tables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Vec<String>);

impl Key {
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Key {
        Key(parts.into_iter().map(str::to_owned).collect())
    }

    /// Reads a key as people write it: parts separated by dots, with quotes around a part that has dots.
    pub fn parse(text: &str) -> Option<Key> {
        let mut parts = Vec::new();
        let mut rest = text;
        loop {
            let part = match rest.strip_prefix('"') {
                Some(quoted) => {
                    let (part, after) = quoted.split_once('"')?;
                    rest = after;
                    part
                }
                None => {
                    let end = rest.find('.').unwrap_or(rest.len());
                    let (part, after) = rest.split_at(end);
                    rest = after;
                    part
                }
            };
            if part.is_empty() || part.contains('"') {
                return None;
            }
            parts.push(part.to_owned());
            match rest.strip_prefix('.') {
                Some(after) => rest = after,
                None if rest.is_empty() => return Some(Key(parts)),
                None => return None,
            }
        }
    }

    pub fn parts(&self) -> &[String] {
        &self.0
    }

    #[must_use]
    pub fn child(&self, part: &str) -> Key {
        Key(self.0.iter().cloned().chain([part.to_owned()]).collect())
    }

    /// Returns true if the other key is inside the table of this one.
    pub fn contains(&self, other: &Key) -> bool {
        other.0.len() > self.0.len() && other.0.starts_with(&self.0)
    }

    /// Returns the tables that this key is in, the outermost first.
    pub fn tables(&self) -> impl Iterator<Item = Key> {
        (1..self.0.len()).map(|length| Key(self.0[..length].to_vec()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "." })?;
            if part.contains(['.', '"']) || part.is_empty() {
                write!(f, "\"{part}\"")?
            } else {
                f.write_str(part)?
            }
        }
        Ok(())
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        Vec::deserialize(deserializer).map(Key)
    }
}

/// Returns the value of a key: the key of that very name first, then the tables that its dots lead through.
pub(crate) fn look_up(values: &Map, key: &str) -> Option<(Value, Key)> {
    if let Some(value) = values.get(key) {
        return Some((value.clone(), Key::of([key])));
    }
    key.match_indices('.').find_map(|(dot, _)| {
        let (table, rest) = (&key[..dot], &key[dot + 1..]);
        let mut inner = None;
        let value = in_table(values.get(table)?, |map| {
            let (value, key) = look_up(map, rest)?;
            inner = Some(key);
            Some(value)
        })?;
        Some((value, Key(std::iter::once(table.to_owned()).chain(inner?.0).collect())))
    })
}

/// Returns a value in a table. A value in a secret table is a secret.
pub(super) fn in_table(table: &Value, find: impl FnOnce(&Map) -> Option<Value>) -> Option<Value> {
    match table {
        Value::Map(map) => find(map),
        Value::Secret(secret) => match secret.reveal() {
            Ok(Value::Map(map)) => find(map).map(Value::secret),
            _ => None,
        },
        _ => None,
    }
}

/// Sets the value of a key, and makes the tables around it.
pub(super) fn set(values: &mut Map, parts: &[String], value: Value) {
    match parts {
        [] => {}
        [last] => drop(values.insert(last.as_str(), value)),
        [table, rest @ ..] => {
            let mut inner = values.get(table.as_str()).and_then(Value::as_map).cloned().unwrap_or_default();
            set(&mut inner, rest, value);
            values.insert(table.as_str(), Value::Map(inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_printed() {
        for text in ["size", "db.size", "tags.\"a.b/c\"", "\"x.y\".z"] {
            assert_eq!(Key::parse(text).map(|key| key.to_string()).as_deref(), Some(text));
        }
        for text in ["", ".", "a.", ".a", "a..b", "\"a", "\"a\"b", "a\"b"] {
            assert_eq!(Key::parse(text), None, "{text}");
        }
    }

    #[test]
    fn value_is_found_by_its_name_or_through_tables() {
        let mut values = Map::new();
        set(&mut values, &["db".into(), "size".into()], Value::from(3));
        set(&mut values, &["a.b".into()], Value::from(4));
        set(&mut values, &["t".into(), "x.y".into()], Value::from(5));
        for (key, wanted) in [("db.size", 3), ("a.b", 4), ("t.x.y", 5)] {
            assert_eq!(look_up(&values, key).and_then(|(value, _)| value.as_i64()), Some(wanted), "{key}");
        }
        assert!(look_up(&values, "db.none").is_none());
        assert!(look_up(&values, "db").is_some_and(|(value, _)| value.as_map().is_some()));
    }
}
