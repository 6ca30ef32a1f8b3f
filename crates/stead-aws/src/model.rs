//! Models of resources: their JSON, their identifiers, and values at paths.

use stead_model::{Map, PropertyPath, Segment, Value};
use stead_schema::cfn::Schema;

use crate::fault::Fault;

/// Longest model and patch that the service takes, in characters.
pub(crate) const MAX_TEXT: usize = 262_144;

/// Reads a model from the service's JSON.
pub(crate) fn parse(properties: &str) -> Result<Map, Fault> {
    let parsed: Result<Map, _> = serde_json::from_str(properties);
    // The text of the error may contain a value; its place does not.
    parsed.map_err(|error| Fault::unreadable("GetResource", &format!("column {}", error.column())))
}

/// Returns the JSON of a model. Members without a value are left out.
pub(crate) fn to_json(model: &Map) -> String {
    without_nulls(Value::Map(model.clone())).to_json()
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Map(map) => {
            let given = map.into_iter().filter(|(_, value)| *value != Value::Null);
            Value::Map(given.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::List(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// Returns the identifier that the properties give a resource, if they do. Inputs have no read-only part of it.
pub(crate) fn identifier(schema: &Schema, inputs: &Map) -> Option<String> {
    let part = |path: &PropertyPath| match at(inputs, path)? {
        Value::String(text) if !text.is_empty() => Some(text.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let parts: Vec<String> = schema.primary_identifier.iter().map(part).collect::<Option<_>>()?;
    (!parts.is_empty()).then(|| parts.join("|"))
}

/// Returns the value at a path.
pub(crate) fn at<'a>(map: &'a Map, path: &PropertyPath) -> Option<&'a Value> {
    let (Segment::Key(first), rest) = path.0.split_first()? else { return None };
    let mut value = map.get(first)?;
    for segment in rest {
        value = match (segment, value) {
            (Segment::Key(key), Value::Map(map)) => map.get(key)?,
            (Segment::Index(index), Value::List(items)) => items.get(*index)?,
            _ => return None,
        };
    }
    Some(value).filter(|value| **value != Value::Null)
}

/// Sets the value at a path, or removes it. Objects on the way are made where they are missing.
pub(crate) fn set(map: &mut Map, path: &[Segment], value: Option<&Value>) {
    let Some((Segment::Key(key), rest)) = path.split_first() else { return };
    if rest.is_empty() {
        match value {
            Some(value) => drop(map.insert(key.as_str(), value.clone())),
            None => drop(map.remove(key.as_str())),
        }
        return;
    }
    let mut inner = map.get(key.as_str()).cloned().unwrap_or_else(|| Value::Map(Map::new()));
    match &mut inner {
        Value::Map(members) => set(members, rest, value),
        // Lists are compared as a whole, so no path leads into one.
        _ => return,
    }
    map.insert(key.as_str(), inner);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(json: &str) -> Map {
        serde_json::from_str(json).unwrap()
    }

    fn schema(name: &str) -> Schema {
        stead_schema::cfn::bundle::shipped().schema(name).unwrap()
    }

    #[test]
    fn identifier_is_known_only_if_all_its_parts_are_given() {
        let bucket = schema("AWS::S3::Bucket");
        assert_eq!(identifier(&bucket, &map(r#"{"BucketName":"b"}"#)).as_deref(), Some("b"));
        assert_eq!(identifier(&bucket, &map(r#"{"BucketNamePrefix":"b"}"#)), None);
        let table = schema("AWS::Glue::Table");
        let whole = r#"{"CatalogId":"1","DatabaseName":"d","Name":"n","TableInput":{"Name":"n"}}"#;
        let found = identifier(&table, &map(whole));
        assert!(found.is_some_and(|found| found.matches('|').count() == 2));
        assert_eq!(identifier(&table, &map(r#"{"DatabaseName":"d"}"#)), None);
        assert_eq!(identifier(&schema("AWS::EC2::VPC"), &map(r#"{"CidrBlock":"10.0.0.0/16"}"#)), None);
    }

    #[test]
    fn values_are_set_and_removed_at_paths() {
        let mut model = map(r#"{"a":{"b":1}}"#);
        set(&mut model, &PropertyPath::of("a").key("c").0, Some(&Value::from(2)));
        set(&mut model, &PropertyPath::of("a").key("b").0, None);
        set(&mut model, &PropertyPath::of("d").key("e").0, Some(&Value::from(3)));
        assert_eq!(model, map(r#"{"a":{"c":2},"d":{"e":3}}"#));
        assert_eq!(at(&model, &PropertyPath::of("d").key("e")), Some(&Value::from(3)));
        assert_eq!(at(&model, &PropertyPath::of("d").key("f")), None);
    }

    #[test]
    fn members_without_a_value_are_not_sent() {
        assert_eq!(to_json(&map(r#"{"a":null,"b":{"c":null,"d":1}}"#)), r#"{"b":{"d":1}}"#);
    }
}
