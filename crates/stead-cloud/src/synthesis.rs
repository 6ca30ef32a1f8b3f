//! Values that the service adds to a resource: read-only values at every depth, and schema defaults. Also the canonical
//! form of a model, with unordered lists sorted.

use stead_model::{Map, PatternPart, PropertyPath, Segment, Value};
use stead_schema::cfn::{Class, Cursor, Form, FormId, Schema};

use crate::sample::Sampler;

/// Returns the desired inputs with the service's read-only values and the schema's defaults added.
pub(crate) fn complete(schema: &Schema, desired: &Map) -> Map {
    let mut value = Value::Map(desired.clone());
    for pattern in schema.classes.of(Class::ReadOnly).patterns() {
        let mut path = Vec::new();
        set(schema, &mut value, pattern.parts(), Schema::ROOT, &mut path);
    }
    let hidden = [Class::WriteOnly, Class::ReadOnly].map(|class| schema.classes.of(class).cursor());
    defaults(schema, &mut value, Schema::ROOT, &hidden);
    match value {
        Value::Map(map) => map,
        _ => Map::new(),
    }
}

/// Sets the values of a read-only pattern, in every element of a list. Creates objects on the way where only the service
/// fills them.
fn set(schema: &Schema, at: &mut Value, parts: &[PatternPart], form: FormId, path: &mut Vec<Segment>) {
    let Some((part, rest)) = parts.split_first() else { return };
    match (part, at) {
        (PatternPart::Key(key), Value::Map(map)) => {
            let Some(member) = schema.member(form, key) else { return };
            path.push(Segment::Key(key.clone()));
            if schema.classes.of(Class::WriteOnly).covers(&PropertyPath(path.clone())) {
                // A read never returns it.
            } else if rest.is_empty() {
                let value = map.remove(key).unwrap_or_else(|| Sampler::new(schema).output(member, path));
                map.insert(key.clone(), value);
            } else if let Some(inside) = map.get_mut(key) {
                set(schema, inside, rest, member, path);
            } else if let [PatternPart::Key(_), ..] = rest
                && is_set_by_service(schema, member, path)
            {
                let mut inside = Value::Map(Map::new());
                set(schema, &mut inside, rest, member, path);
                if inside.as_map().is_some_and(|inside| !inside.is_empty()) {
                    map.insert(key.clone(), inside);
                }
            }
            path.pop();
        }
        (PatternPart::Any, Value::Map(map)) => {
            for (key, inside) in map.iter_mut() {
                let Some(member) = schema.member(form, key) else { continue };
                path.push(Segment::Key(key.to_string()));
                set(schema, inside, rest, member, path);
                path.pop();
            }
        }
        (PatternPart::Any, Value::List(items)) => {
            let Some(element) = schema.element(form) else { return };
            for (index, item) in items.iter_mut().enumerate() {
                path.push(Segment::Index(index));
                set(schema, item, rest, element, path);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Returns true if the service may create an object that the user left out: no member of it must come from the user.
fn is_set_by_service(schema: &Schema, form: FormId, path: &[Segment]) -> bool {
    let read_only = schema.classes.of(Class::ReadOnly);
    let write_only = schema.classes.of(Class::WriteOnly);
    let here = PropertyPath(path.to_vec());
    let required = schema.find(form, &mut Vec::new(), &|form| {
        let mut names = form.required.iter();
        names.any(|name| !read_only.covers(&here.key(name))).then_some(())
    });
    required.is_none() && !write_only.covers(&here)
}

/// Adds the schema's defaults to every existing object, except for write-only members, which a read never returns.
fn defaults(schema: &Schema, at: &mut Value, form: FormId, hidden: &[Cursor<'_>; 2]) {
    match at {
        Value::Map(map) => {
            let mut missing = Vec::new();
            for (key, member) in declared(schema, form) {
                let covered = hidden.iter().any(|cursor| cursor.key(&key).is_covered());
                if let Some(default) = schema.default_of(member)
                    && !covered
                    && !map.contains_key(&key)
                    && fits(schema.form(member), default)
                {
                    missing.push((key, default.clone()));
                }
            }
            map.extend(missing);
            for (key, inside) in map.iter_mut() {
                if let Some(member) = schema.member(form, key) {
                    defaults(schema, inside, member, &hidden.each_ref().map(|cursor| cursor.key(key)));
                }
            }
        }
        Value::List(items) => {
            let Some(element) = schema.element(form) else { return };
            let hidden = hidden.each_ref().map(Cursor::element);
            items.iter_mut().for_each(|item| defaults(schema, item, element, &hidden));
        }
        _ => {}
    }
}

/// Returns false for a default that its own schema forbids, which some schemas have.
fn fits(form: &Form, default: &Value) -> bool {
    let limits = &form.limits;
    let within = match default {
        Value::List(items) => limits.items.holds(items.len()),
        Value::Map(map) => limits.members.holds(map.len()),
        Value::Number(number) => limits.range.holds(*number),
        Value::String(text) => {
            limits.length.holds(text.chars().count())
                && limits.pattern.as_ref().is_none_or(|pattern| pattern.allows(text))
        }
        _ => true,
    };
    within && form.kinds.fits(default) && (form.choices.is_empty() || form.choices.contains(default))
}

/// Returns the members that a form and all parts of its `allOf` declare.
fn declared(schema: &Schema, form: FormId) -> Vec<(String, FormId)> {
    let form = schema.form(form);
    let mut all: Vec<(String, FormId)> = form.properties.iter().map(|(key, id)| (key.clone(), *id)).collect();
    all.extend(form.all_of.iter().flat_map(|part| declared(schema, *part)));
    all
}

/// Returns the first pointer of a class that selects a value of the model.
pub(crate) fn first_covered(schema: &Schema, class: Class, model: &Map) -> Option<String> {
    let patterns = schema.classes.of(class).patterns().iter();
    let model = Value::Map(model.clone());
    patterns.map(|pattern| pattern.parts()).find(|parts| selects(&model, parts)).map(written)
}

fn selects(value: &Value, parts: &[PatternPart]) -> bool {
    let Some((part, rest)) = parts.split_first() else { return true };
    match (part, value) {
        (PatternPart::Key(key), Value::Map(map)) => map.get(key).is_some_and(|inside| selects(inside, rest)),
        (PatternPart::Any, Value::Map(map)) => map.values().any(|inside| selects(inside, rest)),
        (PatternPart::Any, Value::List(items)) => items.iter().any(|inside| selects(inside, rest)),
        _ => false,
    }
}

/// Returns a pattern as schemas spell it: `/properties/Rules/*/Status`.
pub(crate) fn written(parts: &[PatternPart]) -> String {
    let mut text = "/properties".to_owned();
    for part in parts {
        text.push('/');
        match part {
            PatternPart::Any => text.push('*'),
            PatternPart::Key(key) => text.push_str(key),
            PatternPart::Index(index) => text.push_str(&index.to_string()),
        }
    }
    text
}

/// Returns the model with all unordered lists sorted, so that equivalent models are equal.
pub fn canonical(schema: &Schema, model: &Map) -> Value {
    canonical_value(schema, &Value::Map(model.clone()), Some(Schema::ROOT))
}

pub(crate) fn canonical_value(schema: &Schema, value: &Value, form: Option<FormId>) -> Value {
    match value {
        Value::Map(map) => {
            let member = |key: &str| form.and_then(|form| schema.member(form, key));
            let inside =
                map.iter().map(|(key, value)| (key.clone(), canonical_value(schema, value, member(key))));
            Value::Map(inside.collect())
        }
        Value::List(items) => {
            let element = form.and_then(|form| schema.element(form));
            let mut items: Vec<Value> =
                items.iter().map(|item| canonical_value(schema, item, element)).collect();
            if form.is_some_and(|form| schema.is_unordered(form)) {
                items.sort();
            }
            Value::from(items)
        }
        leaf => leaf.clone(),
    }
}
