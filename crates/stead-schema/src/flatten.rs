//! Conversion of a value to its leaves and back. The two functions are exact inverses.
//!
//! A leaf is a scalar, null, an empty list or an empty object.

use std::collections::BTreeMap;

use stead_model::{Map, PropertyPath, Segment, Value};

/// Returns all leaves by path. A value that is itself a leaf has the empty path.
pub fn flatten(value: &Value) -> BTreeMap<PropertyPath, Value> {
    let mut leaves = BTreeMap::new();
    collect(value, &mut Vec::new(), &mut leaves);
    leaves
}

fn collect(value: &Value, path: &mut Vec<Segment>, leaves: &mut BTreeMap<PropertyPath, Value>) {
    let mut inside = |segment: Segment, value: &Value, leaves: &mut BTreeMap<PropertyPath, Value>| {
        path.push(segment);
        collect(value, path, leaves);
        path.pop();
    };
    match value {
        Value::List(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                inside(Segment::Index(index), item, leaves);
            }
        }
        Value::Map(map) if !map.is_empty() => {
            for (key, item) in map {
                inside(Segment::Key(key.to_string()), item, leaves);
            }
        }
        leaf => {
            leaves.insert(PropertyPath(path.clone()), leaf.clone());
        }
    }
}

/// Rest of a leaf's path, and the leaf.
type Leaf<'a> = (&'a [Segment], &'a Value);

/// Builds the value with these leaves, or returns `None` if no value has them: a leaf under a leaf, a list with holes.
pub fn unflatten(leaves: &BTreeMap<PropertyPath, Value>) -> Option<Value> {
    let all: Vec<Leaf<'_>> = leaves.iter().map(|(path, leaf)| (path.0.as_slice(), leaf)).collect();
    build(&all)
}

fn build(leaves: &[Leaf<'_>]) -> Option<Value> {
    match leaves {
        [] => None,
        [([], leaf)] => is_leaf(leaf).then(|| (*leaf).clone()),
        [([Segment::Index(_), ..], _), ..] => {
            let mut items = Vec::new();
            for (segment, inside) in groups(leaves)? {
                if *segment != Segment::Index(items.len()) {
                    return None;
                }
                items.push(build(&inside)?);
            }
            Some(Value::from(items))
        }
        _ => {
            let mut map = Map::new();
            for (segment, inside) in groups(leaves)? {
                let Segment::Key(key) = segment else { return None };
                map.insert(key.clone(), build(&inside)?);
            }
            Some(Value::Map(map))
        }
    }
}

/// Groups the leaves by their first segment, in order.
fn groups<'a>(leaves: &[Leaf<'a>]) -> Option<BTreeMap<&'a Segment, Vec<Leaf<'a>>>> {
    let mut groups: BTreeMap<&Segment, Vec<Leaf<'_>>> = BTreeMap::new();
    for (path, leaf) in leaves {
        let (first, rest) = path.split_first()?;
        groups.entry(first).or_default().push((rest, leaf));
    }
    Some(groups)
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stead_model::Number;

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let key = prop_oneof![".*", Just("a/b~1*".to_owned()), Just("~".to_owned()), Just("0".to_owned())];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<u64>().prop_map(|number| Value::Number(Number::from_u64(number))),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 64, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(key.clone(), inner, 0..6)
                    .prop_map(|map| Value::Map(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn unflatten_undoes_flatten(value in any_value()) {
            prop_assert_eq!(unflatten(&flatten(&value)), Some(value));
        }

        #[test]
        fn flatten_undoes_unflatten(value in any_value(), drop in any::<prop::sample::Index>()) {
            let mut leaves = flatten(&value);
            let path = leaves.keys().nth(drop.index(leaves.len())).cloned();
            leaves.remove(&path.unwrap());
            if let Some(rest) = unflatten(&leaves) {
                prop_assert_eq!(flatten(&rest), leaves);
            }
        }
    }

    #[test]
    fn unflatten_rejects_leaves_that_no_value_has() {
        let one = |path: PropertyPath| (path, Value::Null);
        let a = PropertyPath::of("a");
        assert_eq!(unflatten(&BTreeMap::new()), None);
        assert_eq!(unflatten(&[one(a.clone()), one(a.key("b"))].into()), None, "a leaf under a leaf");
        assert_eq!(unflatten(&[one(a.index(1))].into()), None, "a hole");
        assert_eq!(unflatten(&[one(a.index(0)), one(a.key("b"))].into()), None, "a list and an object");
        assert_eq!(unflatten(&[(a, Value::from(vec![Value::Null]))].into()), None, "no leaf");
    }
}
