//! All published types: each parses, and their statistics match the corpus.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_model::{PropertyPath, Value};
use stead_schema::cfn::{Class, Schema, bundle, parse};

fn all() -> Vec<Schema> {
    let bundle = bundle::shipped();
    bundle.names().map(|name| bundle.schema(name).unwrap_or_else(|| panic!("{name}"))).collect()
}

#[test]
fn all_types_parse_and_their_pointers_resolve() {
    let all = all();
    assert_eq!(all.len(), 1882);
    for schema in &all {
        assert!(schema.properties().count() > 0, "{}", schema.type_name);
    }
    // The transforms of these types name properties that do not exist.
    let odd = all.iter().filter(|schema| !schema.dangling.is_empty());
    let odd: Vec<&str> = odd.map(|schema| schema.type_name.as_str()).collect();
    assert_eq!(
        odd,
        [
            "AWS::GameLiftStreams::StreamGroup",
            "AWS::RDS::Integration",
            "AWS::Redshift::Integration",
            "AWS::SageMaker::EndpointConfig"
        ]
    );
    let with =
        |class: Class| all.iter().filter(|schema| !schema.classes.of(class).patterns().is_empty()).count();
    let counts = Class::ALL.map(|class| format!("{}: {}", class.word(), with(class)));
    insta::assert_snapshot!(counts.join("\n"), @"
    read-only: 1680
    create-only: 1645
    write-only: 511
    conditionally create-only: 45
    non-public: 0
    deprecated: 48
    ");
    let count = |what: &str, fits: &dyn Fn(&Schema) -> bool| {
        format!("{what}: {}", all.iter().filter(|schema| fits(schema)).count())
    };
    insta::assert_snapshot!([
        count("create, read and delete", &Schema::is_manageable),
        count("no update", &|schema| schema.is_manageable() && schema.handlers.update.is_none()),
        count("no handlers", &|schema| schema.handlers.create.is_none()),
        count("taggable", &|schema| schema.tagging.taggable),
        count("replacement strategy", &|schema| schema.replacement.is_some()),
        count("transforms", &|schema| !schema.transforms.is_empty()),
        count("compound identifier", &|schema| schema.primary_identifier.len() > 1),
    ].join("\n"), @"
    create, read and delete: 1756
    no update: 174
    no handlers: 119
    taggable: 1295
    replacement strategy: 100
    transforms: 109
    compound identifier: 326
    ");
}

#[test]
fn a_well_known_type_has_its_known_classes() {
    let queue = bundle::shipped().schema("AWS::SQS::Queue").unwrap();
    let covers = |class: Class, name: &str| queue.classes.of(class).covers(&PropertyPath::of(name));
    assert!(covers(Class::CreateOnly, "QueueName") && covers(Class::ReadOnly, "Arn"));
    assert!(!covers(Class::CreateOnly, "DelaySeconds"));
    assert_eq!(queue.primary_identifier, [PropertyPath::of("QueueUrl")]);
    assert!(bundle::shipped().schema("AWS::SQS::Queu").is_none());
    let origin = bundle::shipped().origin();
    assert_eq!((origin.package.as_str(), origin.date.get(..4)), ("cfn-lint", Some("2026")));
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn irregular_schemas_parse() {
    let schema = parse(&document(
        r##"{
        "typeName": "X::Y::Z",
        "definitions": {
            "Tree": {"type": "object", "properties": {"Children": {"type": "array", "items": {"$ref": "#/definitions/Tree"}}}},
            "Alias": {"$ref": "#/definitions/Tree"},
            "Loop": {"$ref": "#/definitions/Loop"}
        },
        "properties": {
            "Rules": {"type": "array", "insertionOrder": false, "items": {"type": "object", "properties": {"Status": {"type": "string"}}}},
            "A": {"type": ["object", "string"], "properties": {"B": {"type": "object", "properties": {"C": {}}}}},
            "T": {"$ref": "#/definitions/Alias"},
            "L": {"$ref": "#/definitions/Loop"},
            "Gone": {"$ref": "#/definitions/Nowhere"},
            "Either": {"oneOf": [{"properties": {"One": {"type": "string"}}}, {"properties": {"Two": {"type": "string"}}}]},
            "Map": {"type": "object", "patternProperties": {".*": {"type": "object", "properties": {"V": {}}}}},
            "Odd": 7
        },
        "readOnlyProperties": ["/properties/Rules/Status", "/properties/A/properties/B/C", "/properties/T/Children/*/Children"],
        "createOnlyProperties": ["/properties/A.B", "/properties/Either/Two", "/properties/Map/*/V"],
        "writeOnlyProperties": ["/properties/Nothing/At/All", "/definitions/Tree", "", "/properties/Rules/items/Status"]
    }"##,
    ))
    .unwrap();
    let patterns = |class: Class| -> Vec<String> {
        schema.classes.of(class).patterns().iter().map(ToString::to_string).collect()
    };
    assert_eq!(patterns(Class::ReadOnly), ["Rules[*].Status", "A.B.C", "T.Children[*].Children"]);
    assert_eq!(patterns(Class::CreateOnly), ["A.B", "Either.Two", "Map[*].V"]);
    assert_eq!(patterns(Class::WriteOnly), ["Nothing.At.All", "definitions.Tree", "", "Rules[*].Status"]);
    assert_eq!(schema.dangling, ["/properties/Nothing/At/All", "/definitions/Tree", ""]);
    for broken in ["[]", "{}", r#"{"typeName":"A::B::C"}"#, r#"{"typeName":"A::B::C","properties":[]}"#] {
        assert!(parse(&document(broken)).is_err(), "{broken}");
    }
}
