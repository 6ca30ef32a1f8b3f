//! Pins in a plan: moves recorded in the pinfile, frozen values, and changes of the record.

use super::*;
use crate::Match;

/// Sets the options as after applying a pinfile: pinned, with an original path.
fn came_from(original: &'static str) -> impl FnOnce(&mut Options) {
    move |options| {
        options.pinned = Some(true);
        options.original_path = Some(original.to_owned());
    }
}

fn pinned_before(base: &State) -> State {
    edited(base, |_, resource| resource.pinned = true)
}

#[test]
fn resource_with_an_original_path_is_moved_and_not_changed() {
    let base = pinned_before(&state(&[("old", &[("place", "a")], &[])]));
    let program = Program::default().node("new", &[("place", known("a"))]).options(came_from("t.T.old"));
    let plan = program.plan(&base);
    insta::assert_snapshot!(show(&plan), @"0 move new <- []");
    assert!(matches!(plan.steps[0].why, Why::Moved { by: Match::Pinfile }));
}

#[test]
fn original_path_matches_a_former_name() {
    let base = edited(&state(&[("second", &[], &[])]), |_, resource| {
        resource.ties.aliases.push("dev:main:t.T#first".parse().unwrap());
        resource.pinned = true;
    });
    let plan = Program::default().node("third", &[]).options(came_from("t.T.first")).plan(&base);
    assert_eq!(plan.summary.moved, 1, "{}", show(&plan));
    assert_eq!(plan.summary.create + plan.summary.delete, 0);
}

#[test]
fn name_takes_precedence_over_the_original_path() {
    let base = pinned_before(&state(&[("new", &[], &[]), ("old", &[], &[])]));
    let plan = Program::default().node("new", &[]).options(came_from("t.T.old")).plan(&base);
    assert_eq!((plan.summary.moved, plan.summary.delete), (0, 1), "{}", show(&plan));
}

#[test]
fn original_path_takes_precedence_over_an_alias() {
    let base = pinned_before(&state(&[("a", &[], &[]), ("b", &[], &[])]));
    let program = Program::default().node("new", &[]).options(came_from("t.T.b"));
    let program = program.options(|options| options.aliases.push("dev:main:t.T#a".parse().unwrap()));
    let plan = program.plan(&base);
    let moved = plan.steps.iter().find_map(|step| match &step.action {
        Action::Move { from, .. } => Some(from.to_string()),
        _ => None,
    });
    assert_eq!(moved.as_deref(), Some("dev:main:t.T#b"));
}

#[test]
fn original_path_of_another_type_or_of_no_resource_matches_nothing() {
    let base = pinned_before(&state(&[("old", &[], &[])]));
    for original in ["t.U.old", "t.T.gone"] {
        let plan = Program::default().node("new", &[]).options(came_from(original)).plan(&base);
        assert_eq!((plan.summary.moved, plan.summary.create), (0, 1), "{original}");
    }
}

#[test]
fn added_or_removed_pin_changes_the_record_only() {
    for (before, now) in [(false, Some(true)), (true, None)] {
        let base = edited(&state(&[("a", &[], &[])]), |_, resource| resource.pinned = before);
        let plan = Program::default().node("a", &[]).options(|options| options.pinned = now).plan(&base);
        insta::allow_duplicates! {
            insta::assert_snapshot!(show(&plan), @"0 record a <- []");
        }
    }
}

#[test]
fn creates_and_updates_list_the_frozen_properties() {
    let frozen = |options: &mut Options| options.frozen = vec!["size".to_owned()];
    let base = state(&[("a", &[("size", "1")], &[])]);
    for (name, expected) in [("a", "update"), ("b", "create")] {
        let program = Program::default().node(name, &[("size", known("2"))]).options(frozen);
        let plan = program.plan(&base);
        let step = plan.steps.iter().find(|step| step.node.is_some()).unwrap();
        assert_eq!(step.from_pinfile, ["size"], "{expected}");
    }
}
