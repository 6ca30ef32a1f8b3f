//! Selection of the values that an update may send, and removal of live values that the service would reject.

use stead_model::{Map, Value};

use super::Schema;
use super::patch::{Comparison, UpdateInputs};
use super::position::Position;
use super::update::{Edit, Operation};

impl Comparison<'_> {
    /// Returns the part of a value that an update may send: without read-only and create-only parts. `None` if nothing
    /// remains.
    ///
    /// A new or changed create-only part forces a replacement.
    pub(crate) fn sendable(
        &mut self,
        position: &Position<'_>,
        last: Option<&Value>,
        want: &Value,
    ) -> Option<Value> {
        if position.is_read_only() {
            return None;
        }
        if position.is_create_only() {
            let changed = match position.is_hidden() {
                true => self.hidden_changed(&position.path),
                false => last != Some(want),
            };
            if changed {
                self.force_replacement(position, "it can be set at creation only");
            }
            return None;
        }
        if !position.contains_fixed() {
            return Some(want.clone());
        }
        match want {
            Value::Map(map) if !map.is_empty() => {
                let last = last.and_then(Value::as_map);
                let mut kept = Map::new();
                for (name, value) in map {
                    let value =
                        self.sendable(&position.key(name), last.and_then(|last| last.get(name)), value);
                    kept.extend(value.map(|value| (name.clone(), value)));
                }
                (!kept.is_empty()).then_some(Value::Map(kept))
            }
            Value::List(items) => {
                let last = last.and_then(Value::as_list).unwrap_or_default();
                let mut kept = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    kept.extend(self.sendable(&position.index(index), last.get(index), item));
                }
                Some(Value::from(kept))
            }
            leaf => Some(leaf.clone()),
        }
    }
}

/// Removes live lists that are empty although the schema requires an element: the service validates the whole model,
/// including values that it added itself.
pub(crate) fn remove_artefacts(schema: &Schema, inputs: &UpdateInputs<'_>) -> Vec<Operation> {
    let mut found = Vec::new();
    collect_artefacts(&Position::root(schema), inputs.live, inputs.want, &mut found);
    found
}

fn collect_artefacts(position: &Position<'_>, live: &Map, want: &Map, found: &mut Vec<Operation>) {
    for (name, value) in live {
        let inside = position.key(name);
        if inside.is_read_only() || inside.is_create_only() {
            continue;
        }
        let at_least = inside.form.map_or(0, |form| inside.schema.form(form).min_items);
        match (value, want.get(name)) {
            (Value::List(items), None) if items.is_empty() && at_least > 0 => found.push(Operation {
                path: inside.path,
                edit: Edit::Remove,
                why: "the service returns an empty list that it would not accept".to_owned(),
            }),
            (Value::Map(live), want) => {
                let want = want.and_then(Value::as_map).cloned().unwrap_or_default();
                collect_artefacts(&inside, live, &want, found);
            }
            _ => {}
        }
    }
}
