//! Whether a patch touched what it must not: read-only and create-only properties, compared before and after.
//!
//! Any change counts, removal and first appearance included. Inside a list, values are compared as a multiset, since
//! elements have no names: what is there afterwards must have been there before, and as many may be gone as the
//! list is shorter. So an element may be dropped with what it carries, and no remaining one may lose or change it.
//! Lists whose order means nothing are put in order first, at every depth.

use stead_model::{PatternPart, Value};
use stead_schema::cfn::{Class, FormId, Schema};

use crate::synthesis::{canonical_value, written};

/// The pointers of a class whose values differ, as published.
pub(crate) fn changed(schema: &Schema, class: Class, before: &Value, after: &Value) -> Vec<String> {
    let patterns = schema.classes.of(class).patterns().iter();
    let touched = patterns.filter(|pattern| {
        let gather = |value: &Value| gather(schema, value, pattern.parts(), Some(Schema::ROOT));
        !same(&gather(before), &gather(after))
    });
    touched.map(|pattern| written(pattern.parts())).collect()
}

/// What a pattern finds in a value.
#[derive(Clone, Debug, PartialEq)]
enum Found {
    Nothing,
    Value(Value),
    Members(Vec<(String, Found)>),
    Elements(Vec<Found>),
}

impl Found {
    fn is_nothing(&self) -> bool {
        match self {
            Found::Nothing => true,
            Found::Value(_) => false,
            Found::Members(members) => members.iter().all(|(_, found)| found.is_nothing()),
            Found::Elements(elements) => elements.iter().all(Found::is_nothing),
        }
    }

    fn elements(&self) -> &[Found] {
        match self {
            Found::Elements(elements) => elements,
            _ => &[],
        }
    }
}

fn gather(schema: &Schema, value: &Value, parts: &[PatternPart], form: Option<FormId>) -> Found {
    let Some((part, rest)) = parts.split_first() else {
        return Found::Value(canonical_value(schema, value, form));
    };
    let member = |key: &str| form.and_then(|form| schema.member(form, key));
    match (part, value) {
        (PatternPart::Key(key), Value::Map(map)) => {
            map.get(key).map_or(Found::Nothing, |inside| gather(schema, inside, rest, member(key)))
        }
        (PatternPart::Any, Value::Map(map)) => {
            let all =
                map.iter().map(|(key, inside)| (key.clone(), gather(schema, inside, rest, member(key))));
            Found::Members(all.filter(|(_, found)| !found.is_nothing()).collect())
        }
        (PatternPart::Any, Value::List(items)) => {
            let element = form.and_then(|form| schema.element(form));
            Found::Elements(items.iter().map(|item| gather(schema, item, rest, element)).collect())
        }
        _ => Found::Nothing,
    }
}

fn same(before: &Found, after: &Found) -> bool {
    if matches!(before, Found::Elements(_)) || matches!(after, Found::Elements(_)) {
        return same_elements(before.elements(), after.elements());
    }
    if let (Found::Members(before), Found::Members(after)) = (before, after) {
        let mut pairs = before.iter().zip(after);
        return before.len() == after.len() && pairs.all(|((a, x), (b, y))| a == b && same(x, y));
    }
    before == after || (before.is_nothing() && after.is_nothing())
}

fn same_elements(before: &[Found], after: &[Found]) -> bool {
    let shorter = before.len().saturating_sub(after.len());
    let mut left: Vec<&Found> = before.iter().filter(|found| !found.is_nothing()).collect();
    for found in after.iter().filter(|found| !found.is_nothing()) {
        let Some(at) = left.iter().position(|candidate| same(candidate, found)) else { return false };
        left.remove(at);
    }
    left.len() <= shorter
}
