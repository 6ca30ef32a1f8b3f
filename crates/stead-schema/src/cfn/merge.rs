//! Merge of desired list elements with the live ones: what the service or another writer set inside them stays.

use std::collections::BTreeSet;

use stead_model::{Map, Value};

use crate::flatten;

use super::keyed::{is_keyed, pairs_by_key};
use super::lists::{foreign_by_key, pairs_with_last};
use super::pairing::pairs;
use super::position::Position;
use super::unions::replaced_arms;

/// Returns the desired elements, each with the members of its live element that the service or another writer set.
pub(crate) fn merged_elements(
    position: &Position<'_>,
    want: &[Value],
    live: &[Value],
    last: &[Value],
    pairs: &[Option<usize>],
) -> Vec<Value> {
    let before = pairs_with_last(position, want, last);
    let element = |(index, item): (usize, &Value)| {
        let live = pairs[index].map(|at| &live[at]);
        merged(&position.index(index), item, live, before[index].map(|at| &last[at]))
    };
    want.iter().enumerate().map(element).collect()
}

pub(crate) fn merged(
    position: &Position<'_>,
    want: &Value,
    live: Option<&Value>,
    last: Option<&Value>,
) -> Value {
    match (want, live) {
        (Value::Map(want), Some(Value::Map(live))) => {
            Value::Map(merged_object(position, want, live, last.and_then(Value::as_map)))
        }
        (Value::List(want), Some(Value::List(live))) => {
            let last = last.and_then(Value::as_list).unwrap_or_default();
            let others = foreign_by_key(position, last, live, want).unwrap_or_default();
            let others = others.into_iter().map(|at| live[at].clone());
            let by_key = if is_keyed(position) { pairs_by_key(position, want, live) } else { None };
            let pairs = by_key.unwrap_or_else(|| pairs(position, want, live, &|_, _| false));
            Value::List(
                merged_elements(position, want, live, last, &pairs).into_iter().chain(others).collect(),
            )
        }
        (Value::Map(want), _) => {
            // No live element to merge with. Members that an update cannot send are left out.
            let sent = want.iter().filter(|(name, _)| !position.key(name).is_unsendable());
            Value::Map(
                sent.map(|(name, value)| (name.clone(), merged(&position.key(name), value, None, None)))
                    .collect(),
            )
        }
        _ => want.clone(),
    }
}

fn merged_object(position: &Position<'_>, want: &Map, live: &Map, last: Option<&Map>) -> Map {
    let mut out = Map::new();
    for (name, value) in want {
        let inside = position.key(name);
        if !inside.is_unsendable() && *value != Value::Null {
            let last = last.and_then(|last| last.get(name));
            out.insert(name.clone(), merged(&inside, value, live.get(name), last));
        }
    }
    let arms = replaced_arms(position, want, live, &|_| false);
    let former = former_texts(want, live, last);
    for (name, value) in live {
        let inside = position.key(name);
        let ours = last.is_some_and(|last| last.contains_key(name));
        let outdated = arms.contains(name) || is_encoding(name, want) || repeats(value, &former);
        let stays = inside.is_create_only() || !outdated;
        if inside.is_read_only() || (!want.contains_key(name) && !ours && stays) {
            out.insert(name.clone(), value.clone());
        }
    }
    out
}

/// Length below which a text may occur twice by chance.
const TELLING: usize = 8;

/// Returns the texts of declared members that the update changes or removes.
fn former_texts(want: &Map, live: &Map, last: Option<&Map>) -> BTreeSet<String> {
    let texts = |value: &Value| -> BTreeSet<String> {
        let all = flatten(value).into_values().filter_map(|leaf| leaf.as_str().map(str::to_owned));
        all.filter(|text| text.len() >= TELLING).collect()
    };
    let kept: BTreeSet<String> = want.values().flat_map(texts).collect();
    let declared = |name: &str| want.contains_key(name) || last.is_some_and(|last| last.contains_key(name));
    let before = live.iter().filter(|(name, _)| declared(name)).flat_map(|(_, value)| texts(value));
    before.filter(|text| !kept.contains(text)).collect()
}

/// Returns true for an object or list that the service derived from a declared member whose value goes.
fn repeats(value: &Value, former: &BTreeSet<String>) -> bool {
    matches!(value, Value::Map(_) | Value::List(_))
        && flatten(value).values().any(|leaf| leaf.as_str().is_some_and(|text| former.contains(text)))
}

/// Returns true for a second form of a declared member, of which the service accepts only one.
fn is_encoding(name: &str, want: &Map) -> bool {
    name.strip_suffix("Base64").is_some_and(|plain| want.contains_key(plain))
}
