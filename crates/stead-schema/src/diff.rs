//! Difference between the inputs last applied and the desired inputs.

use serde::{Deserialize, Serialize};
use stead_model::{Input, Inputs, Map, PropertyPath, Text, Value};

use crate::TypeSchema;

/// Change of one property or of a part of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub path: PropertyPath,
    /// Old value, or `None` if the property is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// New value, or `None` if the property is removed. A deferred value is known after apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Input>,
    /// The change needs a replacement, or may need one.
    pub replaces: bool,
    /// The service tells whether it makes the change in place. It is tried, and only a refusal leads to the replacement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tried_in_place: bool,
}

/// Returns all changes, ordered by path. Objects are compared leaf by leaf, lists as a whole.
///
/// A deferred value counts as changed, because it comes from a resource that is about to change.
pub fn diff(schema: &TypeSchema, old: &Map, new: &Inputs) -> Vec<Change> {
    let mut changes = Vec::new();
    let names: std::collections::BTreeSet<&Text> = old.keys().chain(new.keys()).collect();
    for name in names {
        let replaces = schema.property(name).is_some_and(|property| property.create_only);
        let path = PropertyPath::of(name);
        compare(&path, old.get(name), new.get(name), replaces, &mut changes);
    }
    changes
}

fn compare(
    path: &PropertyPath,
    old: Option<&Value>,
    new: Option<&Input>,
    replaces: bool,
    changes: &mut Vec<Change>,
) {
    match (old, new) {
        (Some(old), Some(Input::Known(new))) if old == new => {}
        (Some(Value::Map(old)), Some(Input::Known(Value::Map(new)))) => {
            let new = new.iter().map(|(key, value)| (key.clone(), Input::Known(value.clone()))).collect();
            compare_maps(path, old, &new, replaces, changes);
        }
        (Some(Value::Map(old)), Some(Input::Map(new))) => compare_maps(path, old, new, replaces, changes),
        (old, new) => changes.push(Change {
            path: path.clone(),
            old: old.cloned(),
            new: new.cloned(),
            replaces,
            tried_in_place: false,
        }),
    }
}

fn compare_maps(path: &PropertyPath, old: &Map, new: &Inputs, replaces: bool, changes: &mut Vec<Change>) {
    let keys: std::collections::BTreeSet<&Text> = old.keys().chain(new.keys()).collect();
    for key in keys {
        compare(&path.key(key), old.get(key), new.get(key), replaces, changes);
    }
}

#[cfg(test)]
mod tests {
    use stead_model::ExprId;

    use super::*;
    use crate::{Access, Property, Shape};

    fn value(text: &str) -> Value {
        match text.strip_prefix('@') {
            Some(text) => Value::from(text),
            None => {
                Value::Map([("k".to_owned(), Value::from(text)), ("same".to_owned(), Value::Null)].into())
            }
        }
    }

    #[test]
    fn objects_differ_leaf_by_leaf_and_create_only_replaces() {
        let schema = TypeSchema::new(
            "t.T",
            "",
            vec![
                Property::new("at", Shape::String, Access::Required, "").create_only(),
                Property::new("tags", Shape::Any, Access::Optional, ""),
            ],
        );
        let old: Map = [("at", value("@here")), ("tags", value("a"))].into();
        let same = old.iter().map(|(key, value)| (key.clone(), Input::Known(value.clone()))).collect();
        assert!(diff(&schema, &old, &same).is_empty());

        let new = [
            ("at", Input::Deferred(ExprId(7))),
            ("tags", Input::Known(value("b"))),
            ("extra", Input::Known(Value::Null)),
        ];
        let changes = diff(&schema, &old, &new.into());
        let seen: Vec<_> = changes.iter().map(|c| (c.path.to_string(), c.replaces)).collect();
        assert_eq!(seen, [("at".into(), true), ("extra".into(), false), ("tags.k".to_owned(), false)]);
    }
}
