//! Unnamed siblings: by physical identity, then by what the program sets, and never by a guess about a guarded one.

use super::moves::{moved, named, recorded};
use super::*;
use crate::Match;

/// The inputs of a sibling.
type Sibling<'a> = &'a [(&'a str, &'a str)];

fn sibling(at: usize) -> String {
    if at == 0 { "dev:main:t.T".to_owned() } else { format!("dev:main:t.T#{}", at + 1) }
}

fn base(siblings: &[Sibling<'_>]) -> State {
    let names: Vec<String> = (0..siblings.len()).map(sibling).collect();
    let rows: Vec<_> = names.iter().zip(siblings).map(|(name, inputs)| (name.as_str(), *inputs)).collect();
    recorded(&rows)
}

fn program(siblings: &[Sibling<'_>]) -> Program {
    siblings.iter().enumerate().fold(Program::default(), |program, (at, inputs)| {
        let inputs: Vec<(&str, Input)> = inputs.iter().map(|(key, value)| (*key, known(value))).collect();
        named(program, &sibling(at), &inputs)
    })
}

fn guarded(base: &State, at: usize) -> State {
    let mut snapshot = base.snapshot(None);
    for resource in snapshot.resources.iter_mut().map(Arc::make_mut) {
        resource.prevent_delete |= resource.name.to_string() == sibling(at);
    }
    State::from(snapshot)
}

#[test]
fn sibling_keeps_its_real_resource_when_one_goes_and_all_change() {
    let old = base(&[
        &[("path", "a"), ("size", "1")],
        &[("path", "b"), ("size", "1")],
        &[("path", "c"), ("size", "1")],
    ]);
    let plan = program(&[&[("path", "b"), ("size", "2")], &[("path", "c"), ("size", "2")]]).plan(&old);
    let (update, delete, create) = (plan.summary.update, plan.summary.delete, plan.summary.create);
    assert_eq!((update, delete, create, plan.summary.replace), (2, 1, 0, 0), "{}", show(&plan));
    assert!(plan.steps.iter().any(|step| matches!(step.why, Why::Moved { by: Match::Identity })));
    assert_eq!(moved(&plan).len(), 3, "one name is vacated: {:?}", moved(&plan));
    assert!(!plan.has_likely_moves());
}

#[test]
fn sibling_above_leaves_the_others_although_one_of_them_changes() {
    let old = base(&[&[("path", "a"), ("size", "1")], &[("path", "b"), ("size", "1")]]);
    let new = program(&[
        &[("path", "new"), ("size", "1")],
        &[("path", "a"), ("size", "2")],
        &[("path", "b"), ("size", "1")],
    ]);
    let plan = new.plan(&old);
    assert_eq!(
        (plan.summary.create, plan.summary.update, plan.summary.only_renamed),
        (1, 1, 1),
        "{}",
        show(&plan)
    );
}

#[test]
fn property_that_the_provider_may_fill_in_counts_where_the_program_sets_it() {
    let old = base(&[&[("words", "2")], &[("words", "3")], &[("words", "4")]]);
    let plan = program(&[&[("words", "2")], &[("words", "4")]]).plan(&old);
    assert_eq!(
        (plan.summary.unchanged, plan.summary.only_renamed, plan.summary.delete),
        (1, 1, 1),
        "{}",
        show(&plan)
    );
    assert_eq!(plan.summary.replace, 0);
    // The program leaves the default to the provider: which record has it is not known.
    let unset = program(&[&[], &[("words", "4")]]).plan(&old);
    assert_eq!(unset.ambiguities.len(), 1);
    // Another value is not the same input.
    let other = Program::default().node("new", &[("words", known("4"))]);
    let plan = other.plan(&state(&[("old", &[("words", "3")], &[])]));
    assert!(plan.suggestions.is_empty(), "{:?}", plan.suggestions);
}

#[test]
fn guarded_sibling_that_is_not_told_apart_must_be_given_an_id() {
    let equal = base(&[&[("size", "1")], &[("size", "1")], &[("size", "1")]]);
    let new = program(&[&[("size", "1")], &[("size", "1")]]);
    assert!(new.plan(&equal).ambiguities.is_empty(), "the counter tells");
    assert_eq!(new.plan(&guarded(&equal, 1)).ambiguities.len(), 1);
    let changed = base(&[&[("size", "1")], &[("size", "2")], &[("size", "3")]]);
    let new = program(&[&[("size", "4")], &[("size", "5")]]);
    assert!(new.plan(&changed).ambiguities.is_empty());
    assert_eq!(new.plan(&guarded(&changed, 1)).ambiguities.len(), 1);
    let mut protected = changed.snapshot(None);
    for resource in protected.resources.iter_mut().map(Arc::make_mut) {
        resource.marks.protected = resource.name.to_string() == sibling(1);
    }
    assert_eq!(new.plan(&State::from(protected)).ambiguities.len(), 1, "`state protect` guards it as well");
    let named = base(&[&[("path", "a")], &[("path", "b")], &[("path", "c")]]);
    let told = program(&[&[("path", "a"), ("size", "1")], &[("path", "c"), ("size", "1")]]);
    assert!(told.plan(&guarded(&named, 0)).ambiguities.is_empty(), "the path tells");
}

proptest! {
    /// Whatever changes around it, a path that is declared before and after keeps its record, and nothing is created twice.
    #[test]
    fn siblings_with_a_path_keep_their_records(
        old in proptest::sample::subsequence(vec!["a", "b", "c", "d", "e", "f"], 0..=6).prop_shuffle(),
        new in proptest::sample::subsequence(vec!["a", "b", "c", "d", "e", "f"], 0..=6).prop_shuffle(),
        size in 0u8..2,
    ) {
        let with = |paths: &[&'static str], size: &'static str| -> Vec<[(&'static str, &'static str); 2]> {
            paths.iter().map(|path| [("path", *path), ("size", size)]).collect()
        };
        let (before, after) = (with(&old, "0"), with(&new, if size == 0 { "0" } else { "1" }));
        let before: Vec<Sibling<'_>> = before.iter().map(<[_; 2]>::as_slice).collect();
        let after: Vec<Sibling<'_>> = after.iter().map(<[_; 2]>::as_slice).collect();
        let plan = program(&after).plan(&base(&before));
        let kept = new.iter().filter(|path| old.contains(path)).count();
        let summary = plan.summary;
        prop_assert_eq!(summary.update + summary.unchanged + summary.only_renamed, kept, "{}", show(&plan));
    }
}
