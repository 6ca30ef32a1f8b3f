//! Full model of a new resource: generated names, values that the service sets, and defaults.
//!
//! A table says how the values of the commonest types look. The rest is made from names and types of properties.

mod guess;
mod names;
mod table;
mod template;

use stead_model::{Map, Value};
use stead_schema::cfn::{Class, Cursor, FormId, Schema};
use stead_world::Timestamp;

use super::ids::Ids;
use super::place::Place;
use crate::synthesis::complete;
use guess::Guess;
use template::Context;

/// Returns the full model of a new resource.
pub(crate) fn make(schema: &Schema, desired: &Map, place: &Place, ids: &mut Ids, now: Timestamp) -> Map {
    let mut model = desired.clone();
    names::fill(schema, &mut model, ids);
    let mut context = Context { place, ids, now };
    table::fill(schema, &mut model, &mut context);
    let known = Value::Map(model.clone());
    let mut whole = complete(schema, &model);
    table::omit(schema, &mut whole, &model);
    let mut whole = Value::Map(whole);
    let mut made = Made { schema, guess: Guess::new(schema, &model, context) };
    let read_only = schema.classes.of(Class::ReadOnly).cursor();
    made.walk(&mut whole, Some(&known), &read_only, Some(Schema::ROOT), "");
    match whole {
        Value::Map(mut map) => {
            made.drop_reasons(&mut map, &known);
            map
        }
        _ => Map::new(),
    }
}

struct Made<'a> {
    schema: &'a Schema,
    guess: Guess<'a>,
}

impl Made<'_> {
    /// Gives plausible values to everything read-only that is not known yet.
    fn walk(
        &mut self,
        value: &mut Value,
        known: Option<&Value>,
        cursor: &Cursor<'_>,
        form: Option<FormId>,
        name: &str,
    ) {
        if !cursor.reaches() || (cursor.is_covered() && known.is_some()) {
            return;
        }
        match value {
            Value::Map(map) => {
                for (key, inside) in map.iter_mut() {
                    let known = known.and_then(Value::as_map).and_then(|map| map.get(key.as_str()));
                    let form = form.and_then(|form| self.schema.member(form, key));
                    self.walk(inside, known, &cursor.key(key), form, key);
                }
            }
            Value::List(items) => {
                let mut list = items.to_vec();
                for (index, item) in list.iter_mut().enumerate() {
                    let known = known.and_then(Value::as_list).and_then(|items| items.get(index));
                    let form = form.and_then(|form| self.schema.element(form));
                    self.walk(item, known, &cursor.element(), form, name);
                }
                *value = Value::from(list);
            }
            leaf if cursor.is_covered() => {
                if let Some(better) = self.guess.value(name, form, leaf) {
                    *leaf = better;
                }
            }
            _ => {}
        }
    }

    /// Removes reasons of failures, which a resource that was created has not.
    fn drop_reasons(&self, map: &mut Map, known: &Value) {
        let required = &self.schema.form(Schema::ROOT).required;
        let read_only = self.schema.classes.of(Class::ReadOnly);
        map.retain(|key, _| {
            let path = stead_model::PropertyPath::of(key);
            let is_known = known.as_map().is_some_and(|known| known.contains_key(key.as_str()));
            is_known
                || !guess::is_reason(key)
                || required.contains(key.as_str())
                || !read_only.covers(&path)
                || self.schema.primary_identifier.contains(&path)
        });
    }
}
