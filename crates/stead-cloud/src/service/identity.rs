//! Primary identifiers: the values of the identifying properties, joined by `|`.

use stead_model::{Map, PropertyPath, Segment, Value};
use stead_schema::cfn::Schema;

/// Returns the primary identifier of a full model.
pub(crate) fn identifier(schema: &Schema, model: &Map) -> String {
    let parts: Vec<String> = schema
        .primary_identifier
        .iter()
        .map(|path| match at(model, path) {
            Some(Value::String(text)) => text.to_string(),
            Some(value) => value.to_json(),
            None => String::new(),
        })
        .collect();
    joined(&parts)
}

pub(crate) fn joined(parts: &[String]) -> String {
    parts.join("|")
}

/// Returns the value at a path.
pub(crate) fn at<'a>(model: &'a Map, path: &PropertyPath) -> Option<&'a Value> {
    let (first, rest) = path.0.split_first()?;
    let Segment::Key(key) = first else { return None };
    rest.iter().try_fold(model.get(key.as_str())?, |value, segment| match (segment, value) {
        (Segment::Key(key), Value::Map(map)) => map.get(key.as_str()),
        (Segment::Index(index), Value::List(items)) => items.get(*index),
        _ => None,
    })
}

/// Returns the name of an identifying property in a JSON identifier.
pub(crate) fn part_name(path: &PropertyPath) -> String {
    let keys = path.0.iter().filter_map(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        Segment::Index(_) => None,
    });
    keys.collect::<Vec<_>>().join("/")
}
