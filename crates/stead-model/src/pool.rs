//! `ValuePool`: makes equal values one allocation, where values are built anew that were shared before.
//!
//! An interpreter hands over an object once for each resource that holds it, and a snapshot lists the value of a resource again in
//! each resource that uses it. The pool finds the value that was built first, so that memory holds it once.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hash as _, Hasher};

use crate::{Map, Number, Text, Value};

/// Texts from this length on are looked up. Shorter ones cost as much to find as to copy.
const LONG: usize = 48;

/// The values that were built so far.
#[derive(Default)]
pub struct ValuePool {
    texts: HashSet<Text>,
    containers: HashMap<u64, Value>,
    hasher: RandomState,
}

impl ValuePool {
    /// Returns the pool's copy of a key. Few different keys name many properties.
    pub fn key(&mut self, key: &str) -> Text {
        if let Some(known) = self.texts.get(key) {
            return known.clone();
        }
        let key = Text::from(key);
        self.texts.insert(key.clone());
        key
    }

    /// Returns a text, which is the pool's copy if it is long.
    pub fn text(&mut self, text: &str) -> Text {
        if text.len() < LONG { Text::from(text) } else { self.key(text) }
    }

    /// Returns the pool's value that equals a list or map. Values inside it must have been returned by the pool before.
    ///
    /// The cost grows with the number of members, not with the size of the values inside.
    pub fn container(&mut self, value: Value) -> Value {
        let Some(hash) = self.hash(&value) else { return value };
        match self.containers.get(&hash) {
            Some(known) if *known == value => known.clone(),
            Some(_) => value, // two values with one hash: the later one is not shared
            None => {
                self.containers.insert(hash, value.clone());
                value
            }
        }
    }

    /// Replaces a map and all values inside it by the pool's.
    pub fn share_map(&mut self, map: &mut Map) {
        if map.is_empty() {
            return;
        }
        self.share_inside(map);
        if let Value::Map(shared) = self.container(Value::Map(std::mem::take(map))) {
            *map = shared;
        }
    }

    fn share(&mut self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Secret(_) => return,
            Value::String(text) if text.len() < LONG => return,
            Value::String(text) => return *text = self.text(text),
            Value::List(items) => items.iter_mut().for_each(|item| self.share(item)),
            Value::Map(map) => self.share_inside(map),
        }
        *value = self.container(std::mem::take(value));
    }

    fn share_inside(&mut self, map: &mut Map) {
        for (key, value) in map.entries_mut() {
            *key = self.key(key);
            self.share(value);
        }
    }

    /// Returns the hash of a list or map that is not empty, from the addresses of the values inside.
    fn hash(&self, value: &Value) -> Option<u64> {
        let mut hasher = self.hasher.build_hasher();
        match value {
            Value::List(items) if !items.is_empty() => {
                items.iter().for_each(|item| hash_member(item, &mut hasher));
            }
            Value::Map(map) if !map.is_empty() => {
                for (key, item) in map {
                    key.hash(&mut hasher);
                    hash_member(item, &mut hasher);
                }
            }
            _ => return None,
        }
        Some(hasher.finish())
    }
}

fn hash_member(value: &Value, hasher: &mut impl Hasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Value::Null => {}
        Value::Bool(flag) => flag.hash(hasher),
        Value::Number(Number::Int(number)) => number.hash(hasher),
        Value::Number(Number::Uint(number)) => number.hash(hasher),
        Value::Number(Number::Float(number)) => number.to_bits().hash(hasher),
        Value::String(text) if text.len() < LONG => text.hash(hasher),
        Value::String(text) => text.as_ptr().hash(hasher),
        Value::List(items) => items.as_ptr().hash(hasher),
        Value::Map(map) => map.address().hash(hasher),
        // Two secrets are never stored alike: their texts are bound to their places.
        Value::Secret(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Map {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn equal_values_become_one_allocation() {
        let long = "x".repeat(LONG);
        let text = format!(r#"{{"a":{{"deep":[1,{{"text":"{long}"}}],"none":{{}}}}}}"#);
        let (mut one, mut other) = (read(&text), read(&format!(r#"{{"around":[{text}],"z":"{long}"}}"#)));
        let before = (one.clone(), other.clone());
        let mut pool = ValuePool::default();
        pool.share_map(&mut one);
        pool.share_map(&mut other);
        assert_eq!((&one, &other), (&before.0, &before.1));
        let Value::List(items) = &other["around"] else { panic!("{other:?}") };
        assert!(matches!(&items[0], Value::Map(map) if map.is_same(&one)));
        let inner = one["a"].as_map().unwrap()["deep"].as_list().unwrap()[1].as_map().unwrap();
        let (Value::String(inner), Value::String(outer)) = (&inner["text"], &other["z"]) else { panic!() };
        assert!(inner.is_same(outer));
    }

    #[test]
    fn values_that_differ_stay_apart() {
        let mut pool = ValuePool::default();
        let texts =
            [r#"{"a":1}"#, r#"{"a":1.5}"#, r#"{"a":"1"}"#, r#"{"a":[1]}"#, r#"{"a":[]}"#, r#"{"b":1}"#];
        for text in texts {
            let mut map = read(text);
            pool.share_map(&mut map);
            assert_eq!(Value::Map(map).to_json(), text);
        }
    }
}
