//! Reduction of a published schema to the keys that stead reads: names, types and classes, without prose.

use stead_model::{Map, Value};

use super::Class;

/// Keys of a form that are copied unchanged.
const PLAIN: &[&str] = &[
    "type",
    "$ref",
    "required",
    "enum",
    "const",
    "default",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "minProperties",
    "maxProperties",
    "dependencies",
    "dependentRequired",
    "arrayType",
];
const LISTS: &[&str] = &["oneOf", "anyOf", "allOf"];
const TOP: &[&str] =
    &["typeName", "primaryIdentifier", "additionalIdentifiers", "propertyTransform", "replacementStrategy"];

/// Returns the part of a schema that `parse` reads. Reducing the result again changes nothing.
pub fn facts(document: &Value) -> Value {
    let Some(top) = document.as_map() else { return Value::Null };
    let mut out = form(top);
    for key in TOP.iter().copied().chain(Class::ALL.map(Class::key)) {
        out.extend(top.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    if let Some(definitions) = top.get("definitions").and_then(Value::as_map) {
        out.insert("definitions".to_owned(), Value::Map(members(definitions)));
    }
    if let Some(handlers) = top.get("handlers").and_then(Value::as_map) {
        let handlers =
            handlers.iter().map(|(name, handler)| (name.clone(), only(handler, &["timeoutInMinutes"])));
        out.insert("handlers".to_owned(), Value::Map(handlers.collect()));
    }
    if let Some(tagging) = top.get("tagging") {
        let kept = only(tagging, &["taggable", "tagOnCreate", "tagUpdatable", "tagProperty"]);
        out.insert("tagging".to_owned(), kept);
    }
    out.extend(top.get("taggable").map(|value| ("taggable".to_owned(), value.clone())));
    Value::Map(out)
}

fn form(node: &Map) -> Map {
    let mut out = Map::new();
    for (key, value) in node {
        let kept = match (key.as_str(), value) {
            // A limit that allows everything.
            ("minItems" | "minLength" | "minProperties", Value::Number(least))
                if least.as_i64() == Some(0) =>
            {
                continue;
            }
            (key, value) if PLAIN.contains(&key) => value.clone(),
            ("properties" | "patternProperties", Value::Map(map)) => Value::Map(members(map)),
            ("items", value) => part(value),
            ("additionalProperties", value) if *value != Value::Bool(false) => part(value),
            // The other value is the default.
            ("insertionOrder", Value::Bool(false)) | ("uniqueItems", Value::Bool(true)) => value.clone(),
            (key, Value::List(parts)) if LISTS.contains(&key) => {
                Value::List(parts.iter().map(part).collect())
            }
            _ => continue,
        };
        out.insert(key.clone(), kept);
    }
    // A closed object without properties must not parse as an object that accepts any member.
    let without_properties = out.get("properties").and_then(Value::as_map).is_none_or(Map::is_empty);
    if node.get("additionalProperties") == Some(&Value::Bool(false)) && without_properties {
        out.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    out
}

fn members(map: &Map) -> Map {
    map.iter().map(|(key, value)| (key.clone(), part(value))).collect()
}

fn part(node: &Value) -> Value {
    match node {
        Value::Map(map) => Value::Map(form(map)),
        other => other.clone(),
    }
}

fn only(node: &Value, keys: &[&str]) -> Value {
    let kept = node.as_map().into_iter().flatten().filter(|(key, _)| keys.contains(&key.as_str()));
    Value::Map(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}
