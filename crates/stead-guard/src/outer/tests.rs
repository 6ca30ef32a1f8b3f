//! What is around the program counts for what no program declares any more.

use stead_model::{DeletionPolicy, MarkSource};

use super::*;
use crate::decide::tests::resource;
use crate::marks::{Entry, Foreign, Given, Reader, Written};

fn level(level: Level, entries: &[(&str, Given)]) -> LevelMarks {
    let entries = entries.iter().map(|(key, value)| Entry {
        key: (*key).to_owned(),
        written: Written::Annotation,
        value: value.clone(),
        place: None,
    });
    Reader { foreign: Foreign::Refused, service: None }.read(level, entries).unwrap()
}

fn project(entries: &[(&str, Given)]) -> Outer {
    Outer::new([level(Level::Project("shop".into()), entries)])
}

#[test]
fn what_nobody_said_anything_about_takes_what_is_set_around_it() {
    let free = resource("a", false);
    assert!(!Outer::default().over(&free).prevents_deletion());
    assert!(project(&[("t/prevent-delete", Given::Bool(true))]).over(&free).prevents_deletion());
    assert!(!project(&[("u/prevent-delete", Given::Bool(true))]).over(&free).prevents_deletion());
    assert!(project(&[("deletion-policy", Given::Text("retain".into()))]).over(&free).retains());
}

#[test]
fn levels_that_say_nothing_are_left_out() {
    assert!(Outer::default().is_empty() && project(&[]).is_empty());
    assert!(!project(&[("prevent-delete", Given::Bool(true))]).is_empty());
}

#[test]
fn what_was_said_near_it_is_still_nearer_and_what_was_said_around_it_is_read_anew() {
    let outer =
        project(&[("prevent-delete", Given::Bool(true)), ("deletion-policy", Given::Text("delete".into()))]);
    let set_by = |level| std::sync::Arc::new(MarkSource { level, key: "x".into(), place: None });
    let mut freed = resource("a", false);
    freed.marks.prevent_delete = Some(set_by(Level::Resource("a".into())));
    assert!(!outer.over(&freed).prevents_deletion(), "its own `false` is nearer");
    freed.marks.prevent_delete = Some(set_by(Level::Environment("dev".into())));
    assert!(outer.over(&freed).prevents_deletion(), "that environment says so no more");
    let lock = project(&[("prevent-delete-lock", Given::Bool(true))]);
    freed.marks.prevent_delete = Some(set_by(Level::Resource("a".into())));
    assert!(lock.over(&freed).prevents_deletion(), "a lock is stronger");
    let mut kept = resource("a", false);
    kept.deletion_policy = Some(DeletionPolicy::Retain);
    assert_eq!(
        outer.over(&kept).policy(),
        None,
        "an old record does not say who set it: it counts as its own"
    );
}

#[test]
fn settings_are_the_same_wherever_they_stand() {
    let set = |file: &str, value: bool, flag: bool| {
        let entry = |value, line| Entry {
            key: "prevent-delete".into(),
            written: Written::Annotation,
            value: Given::Bool(value),
            place: Some(stead_model::SourceRef { file: file.into(), line, column: 1 }),
        };
        let reader = Reader { foreign: Foreign::Refused, service: None };
        let project = reader.read(Level::Project("shop".into()), [entry(value, 3)]).unwrap();
        let flags = reader.read(Level::Flag, flag.then(|| entry(true, 9))).unwrap();
        Outer::new([project, flags])
    };
    assert!(set("a", true, false).same_files(&set("b", true, true)));
    assert!(!set("a", true, false).same_files(&set("a", false, false)));
    assert!(!set("a", true, false).same_files(&Outer::default()));
    let text = serde_json::to_string(&set("a", true, true)).unwrap();
    assert_eq!(serde_json::from_str::<Outer>(&text).unwrap(), set("a", true, true));
}
