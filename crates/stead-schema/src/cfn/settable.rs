//! The part of a live model that a program can declare.

use stead_model::{Map, Value};

use super::{Class, Cursor, Schema};

/// Returns the part of a model that a program can declare.
pub fn settable(schema: &Schema, model: &Map) -> Map {
    without(model, &schema.classes.of(Class::ReadOnly).cursor())
}

fn without(map: &Map, cursor: &Cursor<'_>) -> Map {
    let mut kept = Map::new();
    for (name, value) in map {
        kept.extend(part(value, &cursor.key(name)).map(|value| (name.clone(), value)));
    }
    kept
}

/// Returns the part of a value that is not read-only, or `None` if nothing is left.
pub(crate) fn part(value: &Value, cursor: &Cursor<'_>) -> Option<Value> {
    match value {
        _ if cursor.is_covered() => None,
        value if !cursor.reaches() => Some(value.clone()),
        // An object that only the service fills is none that a program can declare.
        Value::Map(map) => {
            Some(without(map, cursor)).filter(|kept| !kept.is_empty() || map.is_empty()).map(Value::Map)
        }
        Value::List(items) => Some(items.iter().filter_map(|item| part(item, &cursor.element())).collect()),
        other => Some(other.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cfn::bundle;

    fn map(json: &str) -> Map {
        serde_json::from_str(json).unwrap()
    }

    fn published(name: &str) -> Schema {
        bundle::shipped().schema(name).unwrap()
    }

    #[test]
    fn settable_part_has_no_read_only_property() {
        let live = map(
            r#"{"BucketName":"b","Arn":"arn","DomainName":"d","VersioningConfiguration":{"Status":"x"}}"#,
        );
        let settable = settable(&published("AWS::S3::Bucket"), &live);
        assert_eq!(settable, map(r#"{"BucketName":"b","VersioningConfiguration":{"Status":"x"}}"#));
    }

    #[test]
    fn settable_part_has_no_object_that_only_the_service_fills() {
        let live = map(
            r#"{"ClusterName":"c","InstanceGroups":[{"AutoPatchConfig":{"PatchSchedule":{"NextPatchDate":"d"},
                "PatchingStrategy":"WhenIdle"}}],"TieredStorageConfig":{}}"#,
        );
        let kept = r#"{"ClusterName":"c","InstanceGroups":[{"AutoPatchConfig":{"PatchingStrategy":"WhenIdle"}}],
            "TieredStorageConfig":{}}"#;
        assert_eq!(settable(&published("AWS::SageMaker::Cluster"), &live), map(kept));
    }
}
