//! Marks of the option `sensitive`, which names properties of a resource.

use stead_model::{Map, PathPattern, PropertyPath, Secret, Text, Value};

/// Marks the values that the option `sensitive` of a resource names.
pub fn conceal_named(sensitive: &[PathPattern], values: Map) -> Map {
    if sensitive.is_empty() {
        return values;
    }
    let marked = |(key, value): (Text, Value)| {
        let value = conceal_at(sensitive, &PropertyPath::of(&key), value);
        (key, value)
    };
    values.into_iter().map(marked).collect()
}

fn conceal_at(sensitive: &[PathPattern], at: &PropertyPath, value: Value) -> Value {
    if sensitive.iter().any(|pattern| pattern.covers(at)) {
        return if value == Value::Null { value } else { Value::Secret(Secret::new(value)) };
    }
    if !sensitive.iter().any(|pattern| pattern.leads_through(at)) {
        return value;
    }
    match value {
        Value::List(items) => {
            let marked = items.into_iter().enumerate();
            marked.map(|(index, item)| conceal_at(sensitive, &at.index(index), item)).collect()
        }
        Value::Map(map) => {
            let marked = |(key, item): (Text, Value)| {
                let item = conceal_at(sensitive, &at.key(&key), item);
                (key, item)
            };
            Value::Map(map.into_iter().map(marked).collect())
        }
        other => other,
    }
}
