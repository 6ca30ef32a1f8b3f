//! Rules of Cloud Control, one by one, on a small type.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_cloud::{create, read, update};
use stead_model::{Map, Value};
use stead_schema::cfn::{Schema, parse};

const SCHEMA: &str = r#"{
  "typeName": "Test::Code::Function",
  "properties": {
    "Name": {"type": "string"},
    "Code": {"type": "object", "properties": {
      "Source": {"type": "string"}, "Arn": {"type": "string"}, "Region": {"type": "string"}}},
    "Secret": {"type": "string"},
    "Origin": {"type": "string"},
    "Mode": {"type": "string", "enum": ["on", "off"], "default": "off"},
    "Arn": {"type": "string"},
    "Tags": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": "string"}},
    "Rules": {"type": "array", "insertionOrder": false, "items": {"type": "object", "properties": {
      "Key": {"type": "string"}, "Id": {"type": "string"}}, "required": ["Key"]}},
    "In": {"type": "string"}, "Out": {"type": "string"}
  },
  "required": ["Name"],
  "oneOf": [{"required": ["In"]}, {"required": ["Out"]}],
  "additionalProperties": false,
  "readOnlyProperties": ["/properties/Arn", "/properties/Code/Arn", "/properties/Rules/*/Id"],
  "createOnlyProperties": ["/properties/Name", "/properties/Code/Region", "/properties/Origin"],
  "writeOnlyProperties": ["/properties/Secret", "/properties/Origin"],
  "primaryIdentifier": ["/properties/Arn"],
  "handlers": {"create": {}, "read": {}, "update": {}, "delete": {}}
}"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn map(text: &str) -> Map {
    json(text).as_map().unwrap().clone()
}

fn schema() -> Schema {
    parse(&json(SCHEMA)).unwrap()
}

const WISH: &str = r#"{"Name":"f","In":"x","Secret":"s","Origin":"o","Code":{"Source":"a","Region":"r"},
  "Rules":[{"Key":"a"},{"Key":"b"}]}"#;

/// Returns the full model after a patch, or the service's message.
fn patched(document: &str) -> Result<Map, String> {
    let full = create(&schema(), &map(WISH)).unwrap();
    update(&schema(), &full, &json(document)).map_err(|rejection| rejection.to_string())
}

fn refused(document: &str) -> String {
    patched(document).unwrap_err()
}

#[test]
fn create_adds_read_only_values_and_defaults() {
    let full = create(&schema(), &map(WISH)).unwrap();
    let text = Value::Map(full).to_json();
    assert_eq!(
        text,
        r#"{"Arn":"aws-arn","Code":{"Arn":"aws-arn","Region":"r","Source":"a"},"In":"x","Mode":"off","Name":"f","Origin":"o","Rules":[{"Id":"aws-id-0","Key":"a"},{"Id":"aws-id-1","Key":"b"}],"Secret":"s"}"#
    );
}

#[test]
fn create_refuses_invalid_models() {
    let why = |wish: &str| create(&schema(), &map(wish)).unwrap_err().to_string();
    assert_eq!(
        why(r#"{"Name":"f","In":"x","Arn":"mine"}"#),
        "ValidationException: Encountered unsupported property /properties/Arn"
    );
    let model = |what: &str| format!("ValidationException: Model validation failed ({what})");
    assert_eq!(why(r#"{"In":"x"}"#), model("#: required key [Name] not found"));
    assert_eq!(why(r#"{"Name":"f"}"#), model("#: 0 subschemas matched instead of one"));
    assert_eq!(why(r#"{"Name":"f","In":"x","Out":"y"}"#), model("#: 2 subschemas matched instead of one"));
    assert_eq!(
        why(r#"{"Name":"f","In":"x","Nmae":"y"}"#),
        model("#: extraneous key [Nmae] is not permitted")
    );
    assert_eq!(
        why(r#"{"Name":"f","In":"x","Tags":"y"}"#),
        model("#/Tags: expected type: JSONArray, found: String")
    );
    assert_eq!(
        why(r#"{"Name":"f","In":"x","Tags":[]}"#),
        model("#/Tags: expected minimum item count: 1, found: 0")
    );
    assert_eq!(why(r#"{"Name":"f","In":"x","Tags":["a","a"]}"#), model("#/Tags: array items are not unique"));
    assert_eq!(
        why(r#"{"Name":"f","In":"x","Mode":"maybe"}"#),
        model("#/Mode: maybe is not a valid enum value")
    );
    assert_eq!(
        why(r#"{"Name":"f","In":"x","Rules":[{}]}"#),
        model("#/Rules/0: required key [Key] not found")
    );
}

#[test]
fn write_only_values_are_lost_unless_sent_again() {
    let full = create(&schema(), &map(WISH)).unwrap();
    assert!(!read(&schema(), &full).contains_key("Secret"));
    let lost = patched(r#"[{"op":"replace","path":"/In","value":"y"}]"#).unwrap();
    assert_eq!(lost.get("Secret"), None);
    let kept =
        patched(r#"[{"op":"replace","path":"/In","value":"y"},{"op":"add","path":"/Secret","value":"s"}]"#);
    assert_eq!(kept.unwrap()["Secret"], Value::from("s"));
    assert_eq!(
        refused(r#"[{"op":"replace","path":"/Secret","value":"t"}]"#),
        "ValidationException: [REPLACE Operation] noSuchPath in source, path provided : //Secret"
    );
}

#[test]
fn write_only_create_only_values_stay_and_cannot_be_sent() {
    let kept = patched(r#"[{"op":"replace","path":"/In","value":"y"}]"#).unwrap();
    assert_eq!(kept["Origin"], Value::from("o"));
    assert_eq!(
        refused(r#"[{"op":"add","path":"/Origin","value":"o"}]"#),
        "NotUpdatableException: Invalid patch update: createOnlyProperties [/properties/Origin] cannot be updated"
    );
}

#[test]
fn create_only_and_read_only_values_cannot_be_added_changed_or_removed() {
    let create_only = "NotUpdatableException: Invalid patch update: createOnlyProperties [/properties/Code/Region] cannot be updated";
    let read_only = "ValidationException: Invalid patch update: readOnlyProperties [/properties/Code/Arn] cannot be updated";
    assert_eq!(refused(r#"[{"op":"replace","path":"/Code/Region","value":"q"}]"#), create_only);
    assert_eq!(refused(r#"[{"op":"remove","path":"/Code/Region"}]"#), create_only);
    assert_eq!(refused(r#"[{"op":"replace","path":"/Code/Arn","value":"q"}]"#), read_only);
    // Replacing the container replaces its read-only values.
    assert_eq!(refused(r#"[{"op":"add","path":"/Code","value":{"Source":"b","Region":"r"}}]"#), read_only);
    let same = r#"[{"op":"add","path":"/Code","value":{"Source":"b","Region":"r","Arn":"aws-arn"}}]"#;
    assert!(patched(same).is_ok());
}

#[test]
fn fixed_values_in_lists_follow_their_elements() {
    let rules = |value: &str| patched(&format!(r#"[{{"op":"add","path":"/Rules","value":{value}}}]"#));
    let refused = "ValidationException: Invalid patch update: readOnlyProperties [/properties/Rules/*/Id] cannot be updated";
    let fixed = |value: &str| assert_eq!(rules(value).unwrap_err(), refused, "{value}");
    // The list is unordered, and elements may be added and removed.
    for value in [
        r#"[{"Key":"b","Id":"aws-id-1"},{"Key":"a","Id":"aws-id-0"}]"#,
        r#"[{"Key":"b","Id":"aws-id-1"}]"#,
        r#"[{"Key":"a","Id":"aws-id-0"},{"Key":"b","Id":"aws-id-1"},{"Key":"c"}]"#,
        r#"[{"Key":"z","Id":"aws-id-0"},{"Key":"b","Id":"aws-id-1"}]"#,
        "[]",
    ] {
        assert!(rules(value).is_ok(), "{value}");
    }
    fixed(r#"[{"Key":"a"},{"Key":"b","Id":"aws-id-1"}]"#);
    fixed(r#"[{"Key":"a","Id":"mine"},{"Key":"b","Id":"aws-id-1"}]"#);
    fixed(r#"[{"Key":"a","Id":"aws-id-0"},{"Key":"b","Id":"aws-id-0"}]"#);
    fixed(r#"[{"Key":"a","Id":"aws-id-0"},{"Key":"b","Id":"aws-id-1"},{"Key":"c","Id":"new"}]"#);
}

#[test]
fn the_result_is_validated_as_a_whole() {
    assert_eq!(
        refused(r#"[{"op":"add","path":"/Out","value":"y"}]"#),
        "ValidationException: Model validation failed (#: 2 subschemas matched instead of one)"
    );
    assert!(patched(r#"[{"op":"add","path":"/Out","value":"y"},{"op":"remove","path":"/In"}]"#).is_ok());
    assert_eq!(
        refused(r#"[{"op":"remove","path":"/Mode"},{"op":"test","path":"/In","value":"z"}]"#),
        r#"ValidationException: [TEST Operation] Expected value "z" but found value "x""#
    );
}

#[test]
fn types_without_a_handler_refuse_the_operation() {
    let text = SCHEMA.replace(r#""update": {}, "#, "");
    let schema = parse(&json(&text)).unwrap();
    let full = create(&schema, &map(WISH)).unwrap();
    assert_eq!(
        update(&schema, &full, &json("[]")).unwrap_err().to_string(),
        "UnsupportedActionException: Resource type Test::Code::Function does not support UPDATE action"
    );
}
