//! Tests of the sorted map, with `BTreeMap` as the model.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::SortedMap;
use crate::{Map, Text, Value};

type Small = SortedMap<String, u8>;

#[derive(Clone, Debug)]
enum Change {
    Insert(String, u8),
    Remove(String),
    Set(String, u8),
    Extend(Vec<(String, u8)>),
    GetOrInsert(String, u8),
    Retain(u8),
    SetAll(u8),
}

fn key() -> impl Strategy<Value = String> {
    "[a-e]{0,2}"
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (key(), any::<u8>()).prop_map(|(key, value)| Change::Insert(key, value)),
        key().prop_map(Change::Remove),
        (key(), any::<u8>()).prop_map(|(key, value)| Change::Set(key, value)),
        proptest::collection::vec((key(), any::<u8>()), 0..12).prop_map(Change::Extend),
        (key(), any::<u8>()).prop_map(|(key, value)| Change::GetOrInsert(key, value)),
        any::<u8>().prop_map(Change::Retain),
        any::<u8>().prop_map(Change::SetAll),
    ]
}

/// Makes a change to a map and to its model, and compares what both return.
fn apply(map: &mut Small, model: &mut BTreeMap<String, u8>, change: Change) {
    match change {
        Change::Insert(key, value) => {
            assert_eq!(map.insert(key.clone(), value), model.insert(key, value));
        }
        Change::Remove(key) => assert_eq!(map.remove(key.as_str()), model.remove(&key)),
        Change::Set(key, value) => {
            let (one, other) = (map.get_mut(&key), model.get_mut(&key));
            assert_eq!(one, other);
            one.into_iter().chain(other).for_each(|known| *known = value);
        }
        Change::Extend(entries) => {
            map.extend(entries.clone());
            model.extend(entries);
        }
        Change::GetOrInsert(key, value) => {
            assert_eq!(map.entry(key.clone()).or_insert(value), model.entry(key).or_insert(value));
        }
        Change::Retain(bound) => {
            map.retain(|_, value| *value >= bound / 4);
            model.retain(|_, value| *value >= bound / 4);
        }
        Change::SetAll(value) => {
            map.iter_mut().for_each(|(_, known)| *known ^= value);
            model.iter_mut().for_each(|(_, known)| *known ^= value);
        }
    }
}

fn assert_alike(map: &Small, model: &BTreeMap<String, u8>) {
    assert!(map.iter().eq(model.iter()) && map.iter().rev().eq(model.iter().rev()));
    assert!(map.keys().eq(model.keys()) && map.values().eq(model.values()));
    assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
    assert_eq!(map.first_key_value(), model.first_key_value());
    assert_eq!(map.last_key_value(), model.last_key_value());
    assert_eq!(format!("{map:?}"), format!("{model:?}"));
    let text = serde_json::to_string(map).unwrap();
    assert_eq!(text, serde_json::to_string(model).unwrap());
    assert_eq!(*map, serde_json::from_str(&text).unwrap());
}

proptest! {
    #[test]
    fn map_does_the_same_as_a_btree_map(changes in proptest::collection::vec(change(), 0..40)) {
        let (mut map, mut model) = (Small::new(), BTreeMap::new());
        for change in changes {
            let (before, model_before) = (map.clone(), model.clone());
            apply(&mut map, &mut model, change);
            assert_alike(&map, &model);
            assert_alike(&before, &model_before);
            prop_assert_eq!(map == before, model == model_before);
            prop_assert_eq!(map.cmp(&before), model.cmp(&model_before));
        }
        prop_assert!(map.clone().into_iter().eq(model.clone()));
        prop_assert!(map.into_iter().eq(model));
    }

    #[test]
    fn map_of_entries_in_any_order_keeps_the_last_of_equal_keys(
        entries in proptest::collection::vec((key(), any::<u8>()), 0..20),
    ) {
        assert_alike(&entries.clone().into_iter().collect(), &entries.into_iter().collect());
    }

    #[test]
    fn object_is_read_in_any_order_unless_a_key_is_repeated(
        entries in proptest::collection::vec((key(), any::<u8>()), 0..8),
    ) {
        let members: Vec<String> = entries.iter().map(|(key, value)| format!("{key:?}:{value}")).collect();
        let read = serde_json::from_str::<Small>(&format!("{{{}}}", members.join(",")));
        let model: BTreeMap<String, u8> = entries.iter().cloned().collect();
        match &read {
            Ok(map) => assert_alike(map, &model),
            Err(error) => prop_assert!(error.to_string().contains("duplicate key"), "{}", error),
        }
        prop_assert_eq!(read.is_ok(), model.len() == entries.len());
    }
}

#[test]
fn clone_shares_its_entries_until_one_is_changed() {
    let text = Text::from("shared");
    let map: Map = [("a", Value::String(text.clone()))].into();
    let mut other = map.clone();
    assert!(map.is_same(&other));
    other.insert("b", Value::Null);
    assert!(!map.is_same(&other));
    assert!(matches!(&other["a"], Value::String(same) if same.is_same(&text)));
    assert_eq!((map.len(), other.len()), (1, 2));
}

#[test]
fn large_map_is_built_in_any_order_in_reasonable_time() {
    let keys = || (0..100_000_u64).map(|at| format!("{:016x}", at.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let collected: SortedMap<Text, u64> = keys().zip(0..).collect();
    let mut extended: SortedMap<Text, u64> = SortedMap::new();
    extended.extend(keys().zip(0..));
    assert_eq!(collected, extended);
    let mut appended: SortedMap<Text, u64> = SortedMap::new();
    for (key, value) in &collected {
        appended.insert(key, *value);
    }
    assert_eq!(collected, appended);
}

#[test]
#[should_panic(expected = "out of bounds")]
fn index_panics_without_the_key() {
    let map: Small = [("a".to_owned(), 1)].into();
    let _ = map["b"];
}

#[test]
fn values_are_small() {
    assert_eq!(size_of::<Value>(), 24);
    assert_eq!(size_of::<Map>(), 8);
}
