//! Detection of changes to read-only and create-only properties, by comparing the model before and after a patch.
//!
//! Adding, changing and removing a value all count as changes. Elements of a list have no names, so the values inside a
//! list are compared as a multiset: each value after the patch must have existed before, and at most as many values may
//! be missing as elements were removed. Unordered lists are sorted first, at every depth.

use stead_model::{PatternPart, Value};
use stead_schema::cfn::{Class, FormId, Schema};

use crate::synthesis::{canonical_value, written};

/// Returns the pointers of a class whose values differ, as the schema spells them.
pub(crate) fn changed(schema: &Schema, class: Class, before: &Value, after: &Value) -> Vec<String> {
    let patterns = schema.classes.of(class).patterns().iter();
    let touched = patterns.filter(|pattern| {
        let select = |value: &Value| select(schema, value, pattern.parts(), Some(Schema::ROOT));
        !equal(&select(before), &select(after))
    });
    touched.map(|pattern| written(pattern.parts())).collect()
}

/// Values that a pattern selects.
#[derive(Clone, Debug, PartialEq)]
enum Selected {
    Nothing,
    Value(Value),
    Members(Vec<(String, Selected)>),
    Elements(Vec<Selected>),
}

impl Selected {
    fn is_nothing(&self) -> bool {
        match self {
            Selected::Nothing => true,
            Selected::Value(_) => false,
            Selected::Members(members) => members.iter().all(|(_, found)| found.is_nothing()),
            Selected::Elements(elements) => elements.iter().all(Selected::is_nothing),
        }
    }

    fn elements(&self) -> &[Selected] {
        match self {
            Selected::Elements(elements) => elements,
            _ => &[],
        }
    }
}

fn select(schema: &Schema, value: &Value, parts: &[PatternPart], form: Option<FormId>) -> Selected {
    let Some((part, rest)) = parts.split_first() else {
        return Selected::Value(canonical_value(schema, value, form));
    };
    let member = |key: &str| form.and_then(|form| schema.member(form, key));
    match (part, value) {
        (PatternPart::Key(key), Value::Map(map)) => {
            map.get(key).map_or(Selected::Nothing, |inside| select(schema, inside, rest, member(key)))
        }
        (PatternPart::Any, Value::Map(map)) => {
            let all =
                map.iter().map(|(key, inside)| (key.to_string(), select(schema, inside, rest, member(key))));
            Selected::Members(all.filter(|(_, found)| !found.is_nothing()).collect())
        }
        (PatternPart::Any, Value::List(items)) => {
            let element = form.and_then(|form| schema.element(form));
            Selected::Elements(items.iter().map(|item| select(schema, item, rest, element)).collect())
        }
        _ => Selected::Nothing,
    }
}

fn equal(before: &Selected, after: &Selected) -> bool {
    if matches!(before, Selected::Elements(_)) || matches!(after, Selected::Elements(_)) {
        return equal_elements(before.elements(), after.elements());
    }
    if let (Selected::Members(before), Selected::Members(after)) = (before, after) {
        let mut pairs = before.iter().zip(after);
        return before.len() == after.len() && pairs.all(|((a, x), (b, y))| a == b && equal(x, y));
    }
    before == after || (before.is_nothing() && after.is_nothing())
}

fn equal_elements(before: &[Selected], after: &[Selected]) -> bool {
    let shorter = before.len().saturating_sub(after.len());
    let mut left: Vec<&Selected> = before.iter().filter(|found| !found.is_nothing()).collect();
    for found in after.iter().filter(|found| !found.is_nothing()) {
        let Some(at) = left.iter().position(|candidate| equal(candidate, found)) else { return false };
        left.remove(at);
    }
    left.len() <= shorter
}
