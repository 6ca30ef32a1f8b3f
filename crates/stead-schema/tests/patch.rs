//! Three-way comparisons, case by case: last applied, live, desired, and the resulting update.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use insta::assert_snapshot;
use stead_model::{Map, Value};
use stead_schema::cfn::{
    DigestKey, Edit, LastApplied, Schema, Update, UpdateInputs, bundle, parse, patch, pointer,
};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn map(text: &str) -> Map {
    json(text).as_map().unwrap().clone()
}

fn shown(update: &Update) -> String {
    let mut out = String::new();
    match update {
        Update::Nothing => out.push_str("nothing"),
        Update::Patch { operations, conditional } => {
            for operation in operations {
                let path = pointer(&operation.path);
                let _ = match &operation.edit {
                    Edit::Add(value) => write!(out, "add {path} {}", value.to_json()),
                    Edit::Remove => write!(out, "remove {path}"),
                };
                let _ = writeln!(out, "  # {}", operation.why);
            }
            for path in conditional {
                let _ = writeln!(out, "may need a replacement: {path}");
            }
        }
        Update::Replace { forced_by, order } => {
            let _ = writeln!(out, "replace, {order:?}");
            for reason in forced_by {
                let _ = writeln!(out, "  {}: {}", reason.path, reason.why);
            }
        }
        Update::Impossible(reasons) => {
            for reason in reasons {
                let _ = writeln!(out, "impossible: {}: {}", reason.path, reason.why);
            }
        }
    }
    out
}

fn update(schema: &Schema, last: &str, live: &str, want: &str) -> String {
    let key = DigestKey::new([7; 32]);
    let last = LastApplied::of(schema, &key, &map(last));
    let (live, want) = (map(live), map(want));
    shown(&patch(schema, &UpdateInputs { last: &last, settled: None, live: &live, want: &want, key: &key }))
}

fn published(name: &str) -> Schema {
    bundle::shipped().schema(name).unwrap()
}

/// Schema with a property of each class and shape.
fn made_up() -> Schema {
    parse(&json(
        r##"{
        "typeName": "A::B::C",
        "properties": {
            "Name": {"type": "string"}, "Size": {"type": "integer", "default": 5}, "Arn": {"type": "string"}, "Password": {"type": "string"},
            "Seed": {"type": "string"}, "Engine": {"type": "string"}, "Old": {"type": "string"},
            "Box": {"type": "object", "properties": {
                "A": {"type": "string"}, "B": {"type": "string"}, "Id": {"type": "string"}, "Fixed": {"type": "string"}, "Key": {"type": "string"}}},
            "Labels": {"type": "object", "patternProperties": {".*": {"type": "string"}}},
            "Rules": {"type": "array", "insertionOrder": false, "items": {"$ref": "#/definitions/Rule"}},
            "Steps": {"type": "array", "items": {"$ref": "#/definitions/Rule"}},
            "Tags": {"type": "array", "insertionOrder": false, "items": {"type": "object", "properties": {"Key": {"type": "string"}, "Value": {"type": "string"}}}},
            "Few": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "Policy": {"type": ["object", "string"]}
        },
        "definitions": {"Rule": {"type": "object", "properties": {
            "Name": {"type": "string"}, "Port": {"type": "integer"}, "Status": {"type": "string"}, "Token": {"type": "string"}, "Extra": {"type": "string"}}}},
        "readOnlyProperties": ["/properties/Arn", "/properties/Box/Id", "/properties/Rules/*/Status"],
        "createOnlyProperties": ["/properties/Name", "/properties/Seed", "/properties/Box/Fixed"],
        "writeOnlyProperties": ["/properties/Password", "/properties/Seed", "/properties/Box/Key", "/properties/Rules/*/Token"],
        "conditionalCreateOnlyProperties": ["/properties/Engine"],
        "deprecatedProperties": ["/properties/Old"],
        "handlers": {"create": {}, "read": {}, "update": {}, "delete": {}}
    }"##,
    ))
    .unwrap()
}

/// Update of the made-up schema.
fn case(last: &str, live: &str, want: &str) -> String {
    update(&made_up(), last, live, want)
}

#[test]
fn unchanged_inputs_need_no_update() {
    let quiet = [
        (r#"{"Name":"x","Password":"p"}"#, r#"{"Name":"x","Arn":"arn","Size":5}"#),
        (r#"{"Box":{"A":"1","Key":"k"},"Seed":"s"}"#, r#"{"Box":{"A":"1","Id":"i","B":"filled"}}"#),
        (r#"{"Box":{"Key":"k"}}"#, r#"{}"#),
        (
            r#"{"Rules":[{"Name":"a"},{"Name":"b"}]}"#,
            r#"{"Rules":[{"Name":"b","Status":"ok"},{"Name":"a","Status":"ok"}]}"#,
        ),
        (r#"{"Labels":{},"Few":[],"Old":"x","Size":5}"#, r#"{}"#),
        (r#"{"Name":null,"Labels":{"a/b~c":"*"}}"#, r#"{"Labels":{"a/b~c":"*","other":"x"}}"#),
        (
            r#"{"Tags":[{"Key":"k","Value":"v"}]}"#,
            r#"{"Tags":[{"Key":"aws:x","Value":"y"},{"Key":"k","Value":"v"}]}"#,
        ),
        (
            r#"{"Policy":{"Statement":[{"Action":"a"}]}}"#,
            r#"{"Policy":"{\"Statement\":{\"Action\":[\"a\"]}}"}"#,
        ),
        (r#"{"Size":9007199254740993}"#, r#"{"Size":9007199254740993}"#),
    ];
    for (want, live) in quiet {
        assert_eq!(case(want, live, want), "nothing", "{want}");
    }
}

#[test]
fn objects_are_patched_leaf_by_leaf() {
    let live = r#"{"Box":{"A":"1","B":"2","Id":"i"},"Labels":{"a/b":"1","x~y":"2","theirs":"3"}}"#;
    let last = r#"{"Box":{"A":"1","B":"2"},"Labels":{"a/b":"1","x~y":"2"}}"#;
    assert_snapshot!(case(last, live, r#"{"Box":{"A":"9"},"Labels":{"x~y":"2","new":"5"}}"#), @r#"
    add /Box/A "9"  # its declared value changed
    remove /Box/B  # it is no longer declared
    remove /Labels/a~1b  # it is no longer declared
    add /Labels/new "5"  # it is newly declared
    "#);
    assert_snapshot!(case(last, live, "{}"), @"
    remove /Box/A  # it is no longer declared
    remove /Box/B  # it is no longer declared
    remove /Labels/a~1b  # it is no longer declared
    remove /Labels/x~0y  # it is no longer declared
    ");
    assert_snapshot!(case("{}", "{}", r#"{"Box":{"A":"1","Id":"mine"}}"#), @r#"add /Box {"A":"1"}  # it is newly declared"#);
    assert_snapshot!(case(r#"{"Size":9007199254740993}"#, r#"{"Size":9007199254740993}"#, r#"{"Size":9007199254740992}"#), @"add /Size 9007199254740992  # its declared value changed");
    assert_snapshot!(case(last, r#"{"Box":{"A":"changed","B":"2"},"Labels":{"a/b":"1","x~y":"2"}}"#, last), @r#"add /Box/A "1"  # it was changed outside of stead"#);
}

#[test]
fn hidden_values_are_resent_and_cause_an_update_only_when_changed() {
    let last = r#"{"Password":"p","Seed":"s","Size":1,"Box":{"A":"1","Key":"k"}}"#;
    let live = r#"{"Size":1,"Box":{"A":"1"}}"#;
    assert_snapshot!(case(last, live, &last.replace("\"Size\":1", "\"Size\":2")), @r#"
    add /Box/Key "k"  # reads do not return it, so every update sends it again
    add /Password "p"  # reads do not return it, so every update sends it again
    add /Size 2  # its declared value changed
    "#);
    assert_snapshot!(case(last, live, &last.replace("\"p\"", "\"q\"")), @r#"
    add /Box/Key "k"  # reads do not return it, so every update sends it again
    add /Password "q"  # its declared value changed; reads do not return it
    "#);
    assert_snapshot!(case(last, live, &last.replace("\"s\"", "\"t\"")), @"
    replace, CreateFirst
      Seed: it can be set at creation only
    ");
    assert_snapshot!(case(last, live, &last.replace("\"Password\":\"p\",", "")), @r#"
    add /Box/Key "k"  # reads do not return it, so every update sends it again
    add /Size 1  # sent so that Password is removed, which is no longer declared
    "#);
    let key = DigestKey::new([7; 32]);
    let remembered = LastApplied::of(&made_up(), &key, &map(last));
    let kept = serde_json::to_string(&remembered).unwrap();
    assert!(!kept.contains("\"p\"") && !kept.contains("\"k\""), "{kept}");
    assert_ne!(remembered, LastApplied::of(&made_up(), &DigestKey::new([8; 32]), &map(last)));
}

#[test]
fn lists_are_sent_whole_including_hidden_members() {
    let last = r#"{"Rules":[{"Name":"a","Port":1,"Token":"t"},{"Name":"b","Port":2}]}"#;
    let live =
        r#"{"Rules":[{"Name":"b","Port":2,"Status":"B","Extra":"e"},{"Name":"a","Port":1,"Status":"A"}]}"#;
    assert_eq!(case(last, live, last), "nothing");
    assert_snapshot!(case(last, live, &last.replace("\"Port\":2", "\"Port\":3")), @r#"add /Rules [{"Name":"a","Port":1,"Status":"A","Token":"t"},{"Extra":"e","Name":"b","Port":3,"Status":"B"}]  # its declared value changed; lists are sent as a whole"#);
    assert_snapshot!(case(last, live, &last.replace("\"t\"", "\"u\"")), @r#"add /Rules [{"Name":"a","Port":1,"Status":"A","Token":"u"},{"Extra":"e","Name":"b","Port":2,"Status":"B"}]  # its declared value changed; lists are sent as a whole"#);
    assert_snapshot!(case(last, live, r#"{"Rules":[{"Name":"b"}]}"#), @r#"add /Rules [{"Extra":"e","Name":"b","Status":"B"}]  # its declared value changed; lists are sent as a whole"#);
    let steps = r#"{"Steps":[{"Name":"a"},{"Name":"b"}]}"#;
    assert_snapshot!(case(steps, r#"{"Steps":[{"Name":"b"},{"Name":"a"}]}"#, steps), @r#"add /Steps [{"Name":"a"},{"Name":"b"}]  # it was changed outside of stead"#);
    assert_snapshot!(case(steps, steps, r#"{"Steps":[]}"#), @"add /Steps []  # its declared value changed; lists are sent as a whole");
}

#[test]
fn create_only_changes_force_a_replacement() {
    let live = r#"{"Name":"x","Box":{"A":"1","Fixed":"f"},"Engine":"1","Few":[]}"#;
    let last = r#"{"Name":"x","Box":{"A":"1","Fixed":"f"},"Engine":"1"}"#;
    assert_snapshot!(case(last, live, &last.replace("\"x\"", "\"y\"")), @"
    replace, CreateFirst
      Name: it can be set at creation only
    ");
    assert_snapshot!(case(last, live, &last.replace("\"f\"", "\"g\"")), @"
    replace, CreateFirst
      Box.Fixed: it can be set at creation only
    ");
    assert_snapshot!(case(last, live, r#"{"Box":{"A":"1","Fixed":"f"},"Engine":"1"}"#), @"
    replace, CreateFirst
      Name: it was set at creation and cannot be removed
    ");
    assert_snapshot!(case(last, live, &last.replace("\"Engine\":\"1\"", "\"Engine\":\"2\"")), @r#"
    add /Engine "2"  # its declared value changed
    remove /Few  # the service returns it empty, and does not accept it so
    may need a replacement: Engine
    "#);
    let bucket = published("AWS::S3::Bucket");
    assert_snapshot!(update(&bucket, r#"{"BucketName":"a"}"#, r#"{"BucketName":"a"}"#, r#"{"BucketName":"b"}"#), @"
    replace, CreateFirst
      BucketName: it can be set at creation only
    ");
    let key = published("AWS::EC2::KeyPair");
    assert!(key.handlers.update.is_none());
    let named = r#"{"KeyName":"k","Tags":[{"Key":"a","Value":"b"}]}"#;
    assert_snapshot!(update(&key, named, named, &named.replace("\"b\"", "\"c\"")), @"
    replace, CreateFirst
      Tags: it can be set at creation only
    ");
}
