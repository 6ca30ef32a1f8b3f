//! Partial plans: unselected resources stay exactly as recorded.

use super::*;
use crate::{Follow, Glob, Reach, Selection};

fn select(targets: &[&str], exclude: &[&str], reach: Reach) -> Request {
    let globs = |texts: &[&str]| texts.iter().map(|text| Glob::new(*text)).collect();
    Request {
        selection: Selection { targets: globs(targets), exclude: globs(exclude), reach },
        ..Request::default()
    }
}

const NO_FURTHER: Reach = Reach { dependencies: Follow::No, dependents: Follow::No };

fn code(problems: &[stead_model::Diagnostic]) -> &str {
    problems[0].code.as_str()
}

#[test]
fn only_selected_resources_change() {
    let base = state(&[("a", &[("size", "1")], &[]), ("b", &[("size", "1")], &[]), ("gone", &[], &[])]);
    let program = Program::default()
        .node("a", &[("size", known("2"))])
        .node("b", &[("size", known("2"))])
        .node("new", &[]);
    let plan = program.ask(&base, &select(&["a"], &[], NO_FURTHER)).unwrap();
    insta::assert_snapshot!(show(&plan), @"0 update a <- []");
    assert_eq!(plan.summary.left_alone, 3);
    let plan = program.ask(&base, &select(&[], &["a", "gone"], NO_FURTHER)).unwrap();
    insta::assert_snapshot!(show(&plan), @r"
    0 update b <- []
    1 create new <- []
    ");
    let plan = program.ask(&base, &select(&["gone"], &[], NO_FURTHER)).unwrap();
    insta::assert_snapshot!(show(&plan), @"0 delete gone <- []");
}

#[test]
fn selection_without_a_resource_is_an_error() {
    let program = Program::default().node("a", &[]);
    let problems = program.ask(&state(&[]), &select(&["dev:main:t.T#b"], &[], NO_FURTHER)).unwrap_err();
    assert_eq!(code(&problems), "ST0304");
    assert_eq!(problems[0].help[0].to_string(), "did you mean `dev:main:t.T#a`?");
    let problems = program.ask(&state(&[]), &select(&[], &["*"], NO_FURTHER)).unwrap_err();
    assert_eq!(code(&problems), "ST0304");
}

#[test]
fn dependency_of_a_selected_resource_must_exist_or_be_selected() {
    let mut program = Program::default().node("a", &[]);
    let etag = program.of(0, "etag");
    let program = program.node("b", &[("size", etag)]);
    let problems = program.ask(&state(&[]), &select(&["b"], &[], NO_FURTHER)).unwrap_err();
    assert_eq!(code(&problems), "ST0305");
    let reach = Reach { dependencies: Follow::Yes, ..NO_FURTHER };
    let plan = program.ask(&state(&[]), &select(&["b"], &[], reach)).unwrap();
    assert_eq!(plan.summary.create, 2);
    let reach = Reach { dependents: Follow::Yes, ..NO_FURTHER };
    let plan = program.ask(&state(&[]), &select(&["a"], &[], reach)).unwrap();
    assert_eq!(plan.summary.create, 2);
    let base = state(&[("a", &[], &[])]);
    let plan = program.ask(&base, &select(&["b"], &[], NO_FURTHER)).unwrap();
    assert_eq!((plan.summary.create, plan.summary.left_alone), (1, 1));
}

#[test]
fn dependency_of_an_unselected_resource_is_not_deleted() {
    let base = state(&[("a", &[], &[]), ("b", &[], &["a"])]);
    let program = Program::default();
    let problems = program.ask(&base, &select(&["a"], &[], NO_FURTHER)).unwrap_err();
    assert_eq!(code(&problems), "ST0305");
    let reach = Reach { dependents: Follow::Yes, ..NO_FURTHER };
    let plan = program.ask(&base, &select(&["a"], &[], reach)).unwrap();
    assert_eq!(plan.summary.delete, 2);
}

#[test]
fn recorded_and_new_dependencies_together_must_not_form_a_cycle() {
    let base = state(&[("a", &[], &["b"]), ("b", &[], &[])]);
    let mut program = Program::default().node("a", &[]);
    let etag = program.of(0, "etag");
    let program = program.node("b", &[("size", etag)]);
    let problems = program.ask(&base, &select(&["b"], &[], NO_FURTHER)).unwrap_err();
    assert_eq!(code(&problems), "ST0305");
    assert!(program.ask(&base, &Request::default()).is_ok());
}

#[test]
fn cycle_through_an_unselected_removed_resource_is_found() {
    let base = state(&[("gone", &[], &["b"]), ("a", &[], &["gone"]), ("b", &[], &[])]);
    let mut program = Program::default().node("a", &[]);
    let etag = program.of(0, "etag");
    let program = program.node("b", &[("size", etag)]);
    let problems = program.ask(&base, &select(&["b"], &[], NO_FURTHER)).unwrap_err();
    assert_eq!(code(&problems), "ST0305");
    assert!(problems[0].message.contains("#gone"), "{problems:?}");
    assert!(program.ask(&base, &Request::default()).is_ok());
}

#[test]
fn moved_resource_is_selected_by_either_name() {
    let base = state(&[("old", &[], &[])]);
    let program = Program::default()
        .node("new", &[])
        .options(|options| options.aliases.push("dev:main:t.T#old".parse().unwrap()));
    for name in ["old", "new"] {
        let plan = program.ask(&base, &select(&[name], &[], NO_FURTHER)).unwrap();
        assert_eq!(plan.summary.moved, 1, "{name}");
    }
}

#[test]
fn unselected_resource_is_not_deleted_with_its_container() {
    let base = state(&[("box", &[("place", "x")], &[]), ("inner", &[], &[])]);
    let base = edited(&base, |name, resource| {
        if name == "inner" {
            resource.ties.deleted_with = Some(Uid("u-box".into()));
        }
    });
    let program = Program::default()
        .node("box", &[("place", known("y"))])
        .node("inner", &[])
        .options(|options| options.deleted_with = Some(NodeId(0)));
    let problems = program.ask(&base, &select(&[], &["inner"], NO_FURTHER)).unwrap_err();
    assert_eq!(code(&problems), "ST0305");
    let expected = "#inner would be deleted with its container dev:main:t.T#box, but is not selected";
    assert!(problems[0].message.contains(expected), "{problems:?}");
    let plan = program.ask(&base, &select(&["box", "inner"], &[], NO_FURTHER)).unwrap();
    assert_eq!(plan.summary.replace, 2);
}
