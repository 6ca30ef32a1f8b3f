//! Marks of a Kubernetes cluster, read and resolved with the same functions: annotations of an object and its namespace,
//! and a flag.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_guard::{
    LevelMarks, MarkReader, RawMark, RawValue, Spelling, UnknownKeys, explain_prevention, resolve,
};
use stead_model::{DeletionPolicy, Level};

fn annotations(level: Level, service: Option<&str>, annotations: &[(&str, &str)]) -> LevelMarks {
    let entries = annotations.iter().map(|(key, value)| RawMark {
        key: (*key).to_owned(),
        spelling: Spelling::Annotation,
        value: RawValue::Text((*value).to_owned()),
        place: None,
    });
    MarkReader { unknown_keys: UnknownKeys::Ignored, service }.read(level, entries).unwrap()
}

fn bucket(own: &[(&str, &str)]) -> LevelMarks {
    annotations(Level::Resource("shop/logs".into()), Some("s3"), own)
}

fn namespace(own: &[(&str, &str)]) -> LevelMarks {
    annotations(Level::Namespace("shop".into()), None, own)
}

fn flag(own: &[(&str, &str)]) -> LevelMarks {
    annotations(Level::Flag, None, own)
}

#[test]
fn both_prefixes_count_on_objects_and_on_namespaces() {
    let none = namespace(&[("kubectl.kubernetes.io/last-applied-configuration", "{}")]);
    for key in
        ["services.k8s.aws/deletion-policy", "s3.services.k8s.aws/deletion-policy", "s3/deletion-policy"]
    {
        let (on_object, on_namespace) = (bucket(&[(key, "retain")]), namespace(&[(key, "retain")]));
        assert!(resolve(&[&on_object, &none], "s3").retains(), "{key} on an object");
        assert!(resolve(&[&bucket(&[]), &on_namespace], "s3").retains(), "{key} on a namespace");
        let object = bucket(&[("services.k8s.aws/deletion-policy", "delete")]);
        let decided = resolve(&[&object, &on_namespace], "s3");
        assert_eq!(decided.policy(), Some(DeletionPolicy::Delete), "the object is nearer");
    }
    assert!(resolve(&[&bucket(&[]), &none, &flag(&[("deletion-policy", "retain")])], "s3").retains());
}

#[test]
fn lock_of_a_namespace_overrules_its_objects() {
    let object = bucket(&[("prevent-delete", "false")]);
    let locked = namespace(&[("s3/prevent-delete-lock", "true")]);
    let choice = explain_prevention(&[&object, &locked], "s3");
    assert!(choice.value);
    assert_eq!(choice.source.to_string(), "s3/prevent-delete-lock on namespace \"shop\"");
    assert!(!explain_prevention(&[&object, &locked], "rds").value, "the lock is for one service");
}

#[test]
fn invalid_value_is_an_error_and_never_a_default() {
    for (key, value) in [
        ("services.k8s.aws/deletion-policy", "abandon"),
        ("s3/prevent-delete", "yes"),
        ("prevent-delete", ""),
    ] {
        let entry = RawMark {
            key: key.into(),
            spelling: Spelling::Annotation,
            value: RawValue::Text(value.into()),
            place: None,
        };
        let reader = MarkReader { unknown_keys: UnknownKeys::Ignored, service: Some("s3") };
        let problems = reader.read(Level::Resource("shop/logs".into()), [entry]).unwrap_err();
        assert!(problems[0].message.contains("on resource \"shop/logs\""), "{}", problems[0].message);
    }
}
