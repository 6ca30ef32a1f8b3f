//! Other spellings of one path: the provider tells that they are one real resource.

use super::moves::{named, recorded, with};
use super::*;
use crate::{MovePolicy, Reason};

#[test]
fn resource_with_another_spelling_of_a_deleted_one_is_created_after_the_deletion() {
    let base = state(&[("old", &[("path", "x")], &[]), ("known", &[("size", "./x")], &[])]);
    let program =
        Program::default().node("new", &[("path", known("./x"))]).node("known", &[("size", known("./x"))]);
    insta::assert_snapshot!(show(&program.ask(&base, &with(MovePolicy::Refuse)).unwrap()), @r"
    0 delete old <- []
    1 create new <- [0]
    2 barrier old <- [0 1]
    3 forget old <- [2]
    ");
}

#[test]
fn another_spelling_is_suggested_as_a_rename_like_the_same_one() {
    let base = state(&[("old", &[("path", "x"), ("size", "1")], &[])]);
    let program = Program::default().node("new", &[("path", known("./x")), ("size", known("2"))]);
    let plan = program.plan(&base);
    let reasons: Vec<&Reason> = plan.suggestions.iter().map(|one| &one.reason).collect();
    assert_eq!(reasons, [&Reason::SamePhysicalId { property: "path".into() }]);
    assert!(plan.has_likely_moves());
}

#[test]
fn another_spelling_alone_moves_and_replaces_nothing() {
    let base = state(&[("a", &[("path", "x")], &[]), ("b", &[("path", "y")], &[])]);
    let program = |a: &str, b: &str| {
        Program::default().node("a", &[("path", known(a))]).node("b", &[("path", known(b))])
    };
    let plan = program("./x", "././y").plan(&base);
    assert!(plan.steps.is_empty() && plan.suggestions.is_empty(), "{} {:?}", show(&plan), plan.suggestions);
    let swapped = program("./y", "x").plan(&base);
    let property = || "path".to_owned();
    assert!(swapped.suggestions.iter().all(|one| one.reason == Reason::Swapped { property: property() }));
    assert_eq!(swapped.suggestions.len(), 2);
}

#[test]
fn requested_replacement_deletes_first_if_only_the_spelling_of_the_path_changes() {
    let base = state(&[("a", &[("path", "x")], &[])]);
    let program = Program::default().node("a", &[("path", known("./x"))]);
    let plan = program.ask(&base, &Request { replace: vec!["a".to_owned()], ..Request::default() }).unwrap();
    insta::assert_snapshot!(show(&plan), @r"
    0 delete old a <- []
    1 replace a <- [0]
    ");
}

#[test]
fn unnamed_sibling_keeps_its_record_by_another_spelling() {
    let name =
        |at: usize| if at == 0 { "dev:main:t.T".to_owned() } else { format!("dev:main:t.T#{}", at + 1) };
    let rows = ["a", "b", "c"].map(|path| [("path", path), ("size", "1")]);
    let names: Vec<String> = (0..3).map(name).collect();
    let rows: Vec<_> = names.iter().zip(&rows).map(|(name, inputs)| (name.as_str(), &inputs[..])).collect();
    let base = recorded(&rows);
    let program = ["./b", "./c"].iter().enumerate().fold(Program::default(), |program, (at, path)| {
        named(program, &name(at), &[("path", known(path)), ("size", known("2"))])
    });
    let summary = program.plan(&base).summary;
    assert_eq!((summary.update, summary.delete, summary.replace, summary.create), (2, 1, 0, 0));
}

#[test]
fn nothing_is_asked_while_every_declaration_has_its_record() {
    let base = state(&[("a", &[("path", "x")], &[]), ("b", &[("size", "1")], &[])]);
    let catalog = catalog();
    let asked = |program: &Program| Unidentified::of(&base, &program.0, &catalog, |_, _| true).len();
    let both = |path: &str| {
        Program::default().node("a", &[("path", known(path))]).node("b", &[("size", known("2"))])
    };
    assert_eq!(asked(&both("x")), 0);
    assert_eq!(asked(&both("./x")), 4);
    assert_eq!(asked(&both("x").node("c", &[])), 5, "one is new");
    assert_eq!(asked(&Program::default().node("a", &[("path", known("x"))])), 3, "one is removed");
    assert_eq!(asked(&Program::default()), 0, "there is nothing to compare with");
    assert!(Unidentified::of(&base, &both("./x").0, &catalog, |_, _| false).is_empty());
}
