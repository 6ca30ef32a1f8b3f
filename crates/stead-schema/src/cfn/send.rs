//! What may be sent of a value, and what must go from what the service itself shows.

use stead_model::{Map, Value};

use super::Schema;
use super::patch::{Walk, Wish};
use super::place::Place;
use super::update::{Edit, Operation};

impl Walk<'_> {
    /// The value without what the service sets and without what only a creation may send; `None` if nothing is left.
    /// A create-only part that is new or other than it was forces a replacement.
    pub(crate) fn sendable(
        &mut self,
        place: &Place<'_>,
        last: Option<&Value>,
        want: &Value,
    ) -> Option<Value> {
        if place.is_read_only() {
            return None;
        }
        if place.is_create_only() {
            let changed = match place.is_hidden() {
                true => self.hidden_changed(&place.path),
                false => last != Some(want),
            };
            if changed {
                self.force(place, "it can be set at creation only");
            }
            return None;
        }
        if !place.fixes() {
            return Some(want.clone());
        }
        match want {
            Value::Map(map) if !map.is_empty() => {
                let last = last.and_then(Value::as_map);
                let mut kept = Map::new();
                for (name, value) in map {
                    let value = self.sendable(&place.key(name), last.and_then(|last| last.get(name)), value);
                    kept.extend(value.map(|value| (name.clone(), value)));
                }
                (!kept.is_empty()).then_some(Value::Map(kept))
            }
            Value::List(items) => {
                let last = last.and_then(Value::as_list).unwrap_or_default();
                let mut kept = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    kept.extend(self.sendable(&place.index(index), last.get(index), item));
                }
                Some(Value::List(kept))
            }
            leaf => Some(leaf.clone()),
        }
    }
}

/// Lists that the service shows empty and would not accept empty: the whole is checked, whoever put them there.
pub(crate) fn artefacts(schema: &Schema, wish: &Wish<'_>) -> Vec<Operation> {
    let mut found = Vec::new();
    look(&Place::root(schema), wish.live, wish.want, &mut found);
    found
}

fn look(place: &Place<'_>, live: &Map, want: &Map, found: &mut Vec<Operation>) {
    for (name, value) in live {
        let inside = place.key(name);
        if inside.is_read_only() || inside.is_create_only() {
            continue;
        }
        let at_least = inside.form.map_or(0, |form| inside.schema.form(form).min_items);
        match (value, want.get(name)) {
            (Value::List(items), None) if items.is_empty() && at_least > 0 => found.push(Operation {
                path: inside.path,
                edit: Edit::Remove,
                why: "the service shows an empty list that it would not accept".to_owned(),
            }),
            (Value::Map(live), want) => {
                let want = want.and_then(Value::as_map).cloned().unwrap_or_default();
                look(&inside, live, &want, found);
            }
            _ => {}
        }
    }
}
