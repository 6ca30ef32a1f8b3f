//! Outer levels apply to resources that the program no longer declares.

use stead_model::{DeletionPolicy, MarkSource};

use super::*;
use crate::deletion::tests::resource;
use crate::marks::read::{MarkReader, RawMark, RawValue, Spelling, UnknownKeys};

fn level(level: Level, entries: &[(&str, RawValue)]) -> LevelMarks {
    let entries = entries.iter().map(|(key, value)| RawMark {
        key: (*key).to_owned(),
        spelling: Spelling::Annotation,
        value: value.clone(),
        place: None,
    });
    MarkReader { unknown_keys: UnknownKeys::Refused, service: None }.read(level, entries).unwrap()
}

fn project(entries: &[(&str, RawValue)]) -> OuterLevels {
    OuterLevels::new([level(Level::Project("shop".into()), entries)])
}

#[test]
fn resource_without_own_marks_gets_those_of_outer_levels() {
    let free = resource("a", false);
    assert!(!OuterLevels::default().marks_for(&free).prevents_deletion());
    assert!(project(&[("t/prevent-delete", RawValue::Bool(true))]).marks_for(&free).prevents_deletion());
    assert!(!project(&[("u/prevent-delete", RawValue::Bool(true))]).marks_for(&free).prevents_deletion());
    assert!(project(&[("deletion-policy", RawValue::Text("retain".into()))]).marks_for(&free).retains());
}

#[test]
fn levels_without_marks_are_dropped() {
    assert!(OuterLevels::default().is_empty() && project(&[]).is_empty());
    assert!(!project(&[("prevent-delete", RawValue::Bool(true))]).is_empty());
}

#[test]
fn recorded_near_marks_take_precedence_and_recorded_outer_marks_are_ignored() {
    let outer = project(&[
        ("prevent-delete", RawValue::Bool(true)),
        ("deletion-policy", RawValue::Text("delete".into())),
    ]);
    let set_by = |level| std::sync::Arc::new(MarkSource { level, key: "x".into(), place: None });
    let mut freed = resource("a", false);
    freed.marks.prevent_delete = Some(set_by(Level::Resource("a".into())));
    assert!(!outer.marks_for(&freed).prevents_deletion(), "its own `false` is nearer");
    freed.marks.prevent_delete = Some(set_by(Level::Environment("dev".into())));
    assert!(outer.marks_for(&freed).prevents_deletion(), "the recorded mark of the environment is outdated");
    let lock = project(&[("prevent-delete-lock", RawValue::Bool(true))]);
    freed.marks.prevent_delete = Some(set_by(Level::Resource("a".into())));
    assert!(lock.marks_for(&freed).prevents_deletion(), "a lock is stronger");
    let mut kept = resource("a", false);
    kept.deletion_policy = Some(DeletionPolicy::Retain);
    assert_eq!(
        outer.marks_for(&kept).policy(),
        None,
        "a recorded mark without a source counts as set on the resource"
    );
}

#[test]
fn settings_are_equal_regardless_of_their_position() {
    let set = |file: &str, value: bool, flag: bool| {
        let entry = |value, line| RawMark {
            key: "prevent-delete".into(),
            spelling: Spelling::Annotation,
            value: RawValue::Bool(value),
            place: Some(stead_model::SourceRef { file: file.into(), line, column: 1 }),
        };
        let reader = MarkReader { unknown_keys: UnknownKeys::Refused, service: None };
        let project = reader.read(Level::Project("shop".into()), [entry(value, 3)]).unwrap();
        let flags = reader.read(Level::Flag, flag.then(|| entry(true, 9))).unwrap();
        OuterLevels::new([project, flags])
    };
    assert!(set("a", true, false).same_file_settings(&set("b", true, true)));
    assert!(!set("a", true, false).same_file_settings(&set("a", false, false)));
    assert!(!set("a", true, false).same_file_settings(&OuterLevels::default()));
    let text = serde_json::to_string(&set("a", true, true)).unwrap();
    assert_eq!(serde_json::from_str::<OuterLevels>(&text).unwrap(), set("a", true, true));
}
