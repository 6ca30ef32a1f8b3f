//! The options `ignoreChanges` and `replaceOnChanges`.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Input, Inputs, Map, PathPattern, PropertyPath, Text, Value};
use stead_schema::Change;

/// Returns the wanted inputs with the old value at every path that an `ignoreChanges` pattern covers.
pub(crate) fn keep_ignored(old: &Map, wanted: Inputs, patterns: &[PathPattern]) -> Inputs {
    if patterns.is_empty() {
        return wanted;
    }
    merge(&PropertyPath::default(), old, wanted, patterns)
}

fn merge(at: &PropertyPath, old: &Map, wanted: Inputs, patterns: &[PathPattern]) -> Inputs {
    let keys: BTreeSet<&Text> = old.keys().chain(wanted.keys()).collect();
    let kept = keys
        .into_iter()
        .filter_map(|key| Some((key, kept(&at.key(key), old.get(key), wanted.get(key).cloned(), patterns)?)));
    kept.collect()
}

/// Returns the value at a path: the old value if the path is ignored, else the new one with ignored parts kept.
fn kept(
    at: &PropertyPath,
    old: Option<&Value>,
    new: Option<Input>,
    patterns: &[PathPattern],
) -> Option<Input> {
    if patterns.iter().any(|pattern| pattern.covers(at)) {
        return old.cloned().map(Input::Known);
    }
    if !patterns.iter().any(|pattern| pattern.leads_through(at)) {
        return new;
    }
    match (old, new) {
        (Some(Value::Map(old)), Some(Input::Known(Value::Map(new)))) => {
            let new = new.into_iter().map(|(key, value)| (key, Input::Known(value))).collect();
            Some(Input::map(merge(at, old, new, patterns)))
        }
        (Some(Value::Map(old)), Some(Input::Map(new))) => Some(Input::map(merge(at, old, new, patterns))),
        (Some(Value::List(old)), Some(Input::Known(Value::List(new)))) => {
            Some(list(at, old, new.into_iter().map(Input::Known).collect(), patterns))
        }
        (Some(Value::List(old)), Some(Input::List(new))) => Some(list(at, old, new, patterns)),
        (_, new) => new,
    }
}

/// Merges a list by position. Its length is that of the new list.
fn list(at: &PropertyPath, old: &[Value], new: Vec<Input>, patterns: &[PathPattern]) -> Input {
    let items = new.into_iter().enumerate().map(|(index, item)| match old.get(index) {
        Some(before) => kept(&at.index(index), Some(before), Some(item), patterns)
            .unwrap_or_else(|| Input::Known(before.clone())),
        None => item,
    });
    Input::list(items.collect())
}

/// Marks the changes that a `replaceOnChanges` pattern covers as replacing.
pub(crate) fn force_replacement(changes: &mut [Change], patterns: &[PathPattern]) {
    if patterns.is_empty() {
        return;
    }
    for change in changes {
        let new = change.new.as_ref();
        if touches(&change.path, change.old.as_ref(), new, patterns) {
            (change.replaces, change.tried_in_place) = (true, false);
        }
    }
}

/// Returns true if the values differ at a path that a pattern covers. An unknown value may differ.
fn touches(at: &PropertyPath, old: Option<&Value>, new: Option<&Input>, patterns: &[PathPattern]) -> bool {
    if old.is_some() && old == new.and_then(Input::as_known) {
        return false;
    }
    if patterns.iter().any(|pattern| pattern.covers(at)) {
        return true;
    }
    if !patterns.iter().any(|pattern| pattern.leads_through(at)) {
        return false;
    }
    let new = match new {
        Some(Input::Deferred(_)) => return true,
        new => new.map(parts).unwrap_or_default(),
    };
    let old = old.map(|old| parts(&Input::Known(old.clone()))).unwrap_or_default();
    let paths: std::collections::BTreeSet<&PropertyPath> = old.keys().chain(new.keys()).collect();
    paths.into_iter().any(|path| {
        let inside = PropertyPath(at.0.iter().chain(&path.0).cloned().collect());
        let before = old.get(path).and_then(Input::as_known);
        touches(&inside, before, new.get(path), patterns)
    })
}

/// Returns the members of a value by their paths in it.
fn parts(of: &Input) -> BTreeMap<PropertyPath, Input> {
    let root = PropertyPath::default();
    match of {
        Input::Known(Value::Map(map)) => {
            map.iter().map(|(key, value)| (root.key(key), Input::Known(value.clone()))).collect()
        }
        Input::Known(Value::List(items)) => items
            .iter()
            .enumerate()
            .map(|(index, value)| (root.index(index), Input::Known(value.clone())))
            .collect(),
        Input::Map(map) => map.iter().map(|(key, input)| (root.key(key), input.clone())).collect(),
        Input::List(items) => {
            items.iter().enumerate().map(|(index, input)| (root.index(index), input.clone())).collect()
        }
        _ => BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use stead_model::ExprId;

    use super::*;

    fn map(pairs: &[(&str, Value)]) -> Value {
        Value::Map(pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }

    fn patterns(texts: &[&str]) -> Vec<PathPattern> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn rules(ports: &[i64]) -> Value {
        Value::List(
            ports.iter().map(|port| map(&[("port", Value::from(*port)), ("open", true.into())])).collect(),
        )
    }

    #[test]
    fn ignored_paths_keep_the_old_value() {
        let old: Map = [("tags", map(&[("a", 1.into()), ("b", 2.into())])), ("rules", rules(&[80]))].into();
        let wanted =
            |tags: Value, list: Value| -> Inputs { [("tags", tags.into()), ("rules", list.into())].into() };
        let kept = keep_ignored(
            &old,
            wanted(map(&[("a", 9.into()), ("c", 3.into())]), rules(&[81, 82])),
            &patterns(&["tags.a", "rules[*].port"]),
        );
        assert_eq!(kept, wanted(map(&[("a", 1.into()), ("c", 3.into())]), rules(&[80, 82])));
        let all = keep_ignored(&old, wanted(Value::Null, Value::Null), &patterns(&["*"]));
        assert_eq!(all, wanted(old["tags"].clone(), old["rules"].clone()));
        let new_only = [("extra".to_owned(), Input::Deferred(ExprId(0)))].into();
        assert_eq!(keep_ignored(&Map::new(), new_only, &patterns(&["extra"])), Inputs::new());
    }

    #[test]
    fn only_a_difference_at_a_covered_path_replaces() {
        let change = |old: Value, new: Input| Change {
            path: PropertyPath::of("rules"),
            old: Some(old),
            new: Some(new),
            replaces: false,
            tried_in_place: false,
        };
        let forced = |mut change: Change, pattern: &str| {
            force_replacement(std::slice::from_mut(&mut change), &patterns(&[pattern]));
            change.replaces
        };
        let (before, after) = (rules(&[80, 81]), rules(&[80, 82]));
        assert!(forced(change(before.clone(), after.clone().into()), "rules[*].port"));
        assert!(forced(change(before.clone(), after.clone().into()), "rules[1]"));
        assert!(!forced(change(before.clone(), after.clone().into()), "rules[*].open"));
        assert!(!forced(change(before.clone(), after.into()), "rules[0].port"));
        assert!(!forced(change(before.clone(), Value::Null.into()), "other"));
        assert!(forced(change(before, Input::Deferred(ExprId(0))), "rules[3].port"));
    }
}
