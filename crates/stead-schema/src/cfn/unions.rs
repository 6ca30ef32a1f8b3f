//! Unions: objects of which one member is set, such as `{ "Allow": {} }` or `{ "Block": {} }`.

use stead_model::{Map, Text, Value};

use super::position::Position;
use super::{Kinds, Rest, Schema};

/// Returns the live members of a union that another member should have replaced.
///
/// Schemas seldom say that an object is a union. It is taken for one if all its members are optional objects, one is
/// desired, and the live object has others in its place. `settled` names members that were there after the last apply
/// beside the desired one, which shows that they do not exclude it.
pub(crate) fn replaced_arms(
    position: &Position<'_>,
    want: &Map,
    live: &Map,
    settled: &dyn Fn(&str) -> bool,
) -> Vec<Text> {
    let is_set = |map: &Map, name: &str| map.get(name).is_some_and(|value| *value != Value::Null);
    let mut wanted = want.keys().filter(|name| is_set(want, name));
    let (Some(arm), None) = (wanted.next(), wanted.next()) else { return Vec::new() };
    if is_set(live, arm) || !is_union(position) {
        return Vec::new();
    }
    let others = live.keys().filter(|name| is_set(live, name) && !settled(name));
    others
        .filter(|name| {
            let member = position.key(name);
            !member.is_read_only() && !member.is_create_only() && !member.is_hidden()
        })
        .cloned()
        .collect()
}

fn is_union(position: &Position<'_>) -> bool {
    let Some(id) = position.form else { return false };
    let form = position.schema.form(id);
    let is_object = |member: &super::FormId| position.schema.kinds(*member) == Kinds::OBJECT;
    id != Schema::ROOT
        && form.properties.len() > 1
        && form.required.is_empty()
        && form.rest == Rest::Closed
        && form.properties.values().all(is_object)
}
