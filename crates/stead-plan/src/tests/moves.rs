//! Matching of declared and recorded resources: by name, alias, rename, content, and suggestions.

use super::*;
use crate::{Confidence, Match, MovePolicy, Reason};

pub(super) fn named(mut program: Program, name: &str, inputs: &[(&str, Input)]) -> Program {
    program = program.node("x", inputs);
    program.0.nodes.last_mut().unwrap().name = name.parse().unwrap();
    program
}

/// Returns a state of resources with full names and inputs.
pub(super) fn recorded(rows: &[(&str, &[(&str, &str)])]) -> State {
    let names: Vec<String> = (0..rows.len()).map(|n| format!("r{n}")).collect();
    let short: Vec<Row<'_>> =
        rows.iter().zip(&names).map(|((_, inputs), name)| (name.as_str(), *inputs, &[][..])).collect();
    let mut snapshot = state(&short).snapshot(None);
    for (resource, (name, _)) in snapshot.resources.iter_mut().map(Arc::make_mut).zip(rows) {
        resource.name = name.parse().unwrap();
    }
    State::from(snapshot)
}

pub(super) fn with(moves: MovePolicy) -> Request {
    Request { moves, ..Request::default() }
}

/// Returns the moves of a plan as `from -> to`, in order.
pub(super) fn moved(plan: &Plan) -> Vec<String> {
    let text = |step: &crate::Step| match &step.action {
        Action::Move { from, to, .. } => Some(format!("{from} -> {to}")),
        _ => None,
    };
    plan.steps.iter().filter_map(text).collect()
}

#[test]
fn alias_moves_a_resource_that_is_updated_in_the_same_run() {
    let base = state(&[("old", &[("size", "1")], &[]), ("user", &[("size", "e")], &["old"])]);
    let mut program = Program::default()
        .node("new", &[("size", known("2"))])
        .options(|options| options.aliases.push("dev:main:t.T#old".parse().unwrap()));
    let etag = program.of(0, "etag");
    let plan = program.node("user", &[("size", etag)]).plan(&base);
    insta::assert_snapshot!(show(&plan), @r"
    0 move new <- []
    1 update new <- [0]
    2 update user <- [1]
    ");
    assert!(matches!(plan.steps[0].why, Why::Moved { by: Match::Alias }));
    assert_eq!(plan.summary.moved, 1);
}

#[test]
fn recorded_former_name_matches_the_resource() {
    let mut snapshot = state(&[("new", &[], &[])]).snapshot(None);
    Arc::make_mut(&mut snapshot.resources[0]).ties.aliases = vec!["dev:main:t.T#old".parse().unwrap()];
    let base = State::from(snapshot);
    assert!(Program::default().node("new", &[]).plan(&base).is_empty());
    let back = Program::default().node("old", &[]).plan(&base);
    assert_eq!(moved(&back), ["dev:main:t.T#new -> dev:main:t.T#old"]);
}

#[test]
fn name_takes_precedence_over_an_alias() {
    let base = state(&[("a", &[("size", "1")], &[]), ("b", &[("size", "2")], &[])]);
    let alias = |name: &str| {
        let name: stead_model::Name = format!("dev:main:t.T#{name}").parse().unwrap();
        move |options: &mut Options| options.aliases.push(name)
    };
    let plan = Program::default()
        .node("a", &[("size", known("1"))])
        .options(alias("b"))
        .node("b", &[("size", known("2"))])
        .plan(&base);
    assert!(plan.steps.iter().all(|step| !matches!(step.action, Action::Move { .. })), "{}", show(&plan));
}

const ONE: &str = "dev:main:t.T";
const TWO: &str = "dev:main:t.T#2";
const THREE: &str = "dev:main:t.T#3";

#[test]
fn unnamed_siblings_are_matched_by_content_when_one_in_the_middle_goes() {
    let base = recorded(&[(ONE, &[("size", "a")]), (TWO, &[("size", "b")]), (THREE, &[("size", "c")])]);
    let program = named(Program::default(), ONE, &[("size", known("a"))]);
    let program = named(program, TWO, &[("size", known("c"))]);
    let plan = program.plan(&base);
    insta::assert_snapshot!(show(&plan), @"
    0 vacate name t.T <- []
    1 move t.T <- [0]
    2 barrier t.T <- [0 1]
    3 delete t.T <- [0 2]
    ");
    assert_eq!(plan.steps[3].name.to_string(), TWO);
    assert_eq!(moved(&plan)[1], format!("{THREE} -> {TWO}"));
    // Without moves, siblings are matched by counter.
    let by_counter = program.ask(&base, &with(MovePolicy::Refuse)).unwrap();
    assert_eq!((by_counter.summary.update, by_counter.summary.delete), (1, 1));
}

#[test]
fn siblings_with_swapped_contents_swap_names() {
    let base = recorded(&[(ONE, &[("size", "a")]), (TWO, &[("size", "b")])]);
    let program = named(Program::default(), ONE, &[("size", known("b"))]);
    let program = named(program, TWO, &[("size", known("a"))]);
    let plan = program.plan(&base);
    insta::assert_snapshot!(show(&plan), @r"
    0 vacate name t.T <- []
    1 move t.T <- [0]
    2 move t.T <- [0 1]
    ");
    assert_eq!((plan.summary.unchanged, plan.summary.only_renamed), (0, 2));
}

#[test]
fn changed_sibling_is_matched_by_counter() {
    let base = recorded(&[(ONE, &[("size", "a")]), (TWO, &[("size", "b")]), (THREE, &[("size", "c")])]);
    let program = named(Program::default(), ONE, &[("size", known("a"))]);
    let program = named(program, TWO, &[("size", known("x"))]);
    let plan = named(program, THREE, &[("size", known("c"))]).plan(&base);
    insta::assert_snapshot!(show(&plan), @"0 update t.T <- []");
}

#[test]
fn removing_one_of_two_equal_siblings_is_ambiguous() {
    let base = recorded(&[(ONE, &[("size", "a")]), (TWO, &[("size", "b")]), (THREE, &[("size", "b")])]);
    let program = named(Program::default(), ONE, &[("size", known("b"))]);
    let plan = program.plan(&base);
    assert!(plan.has_likely_moves());
    assert_eq!(plan.ambiguities.len(), 1);
    assert_eq!(plan.ambiguities[0].from.len(), 3);
}

#[test]
fn removed_and_new_resource_of_equal_content_are_a_suggestion_that_can_be_accepted() {
    let base = state(&[("old", &[("size", "1"), ("place", "p")], &[])]);
    let program = Program::default().node("new", &[("size", known("1")), ("place", known("p"))]);
    let plan = program.plan(&base);
    assert!(plan.has_likely_moves());
    assert_eq!(plan.suggestions[0].reason, Reason::SameContent);
    assert_eq!(plan.suggestions[0].confidence, Confidence::Certain);
    assert_eq!((plan.summary.create, plan.summary.delete), (1, 1), "a suggestion changes no step");
    let accepted = program.ask(&base, &with(MovePolicy::Accept)).unwrap();
    assert_eq!(moved(&accepted), ["dev:main:t.T#old -> dev:main:t.T#new"]);
    assert!(accepted.suggestions.is_empty());
    let refused = program.ask(&base, &with(MovePolicy::Refuse)).unwrap();
    assert!(!refused.has_likely_moves());
}

#[test]
fn physical_id_takes_precedence_over_equal_content() {
    let base = state(&[("old", &[("size", "1")], &[]), ("other", &[("size", "2")], &[])]);
    let program = Program::default().node("new", &[("size", known("2")), ("place", known("old-1"))]);
    let suggestion = &program.plan(&base).suggestions[0];
    assert_eq!(suggestion.from.short(), "old");
    assert_eq!(suggestion.reason, Reason::SamePhysicalId { property: "place".into() });
    assert_eq!(
        suggestion.differences.iter().map(|d| d.property.as_str()).collect::<Vec<_>>(),
        ["place", "size"]
    );
}

#[test]
fn resources_of_equal_content_are_matched_by_their_dependents() {
    let base = state(&[
        ("a", &[("size", "1")], &[]),
        ("b", &[("size", "1")], &[]),
        ("user", &[("size", "e")], &["a"]),
    ]);
    let mut snapshot = base.snapshot(None);
    for resource in snapshot.resources.iter_mut().map(Arc::make_mut) {
        if resource.name.short() == "user" {
            resource.property_dependencies.insert("size", vec![Uid("u-a".into())]);
        }
    }
    let base = State::from(snapshot);
    let program = Program::default().node("x", &[("size", known("1"))]).node("y", &[("size", known("1"))]);
    let plan = program.plan(&base);
    assert_eq!(plan.ambiguities.len(), 1, "nothing tells them apart");
    let mut program =
        Program::default().node("x", &[("size", known("1"))]).node("y", &[("size", known("1"))]);
    let of_y = program.of(1, "etag");
    let plan = program.node("user", &[("size", of_y)]).plan(&base);
    let pairs: Vec<(&str, &str)> =
        plan.suggestions.iter().map(|suggestion| (suggestion.from.short(), suggestion.to.short())).collect();
    assert_eq!(pairs, [("b", "x"), ("a", "y")]);
}

#[test]
fn chain_of_moved_resources_is_matched_as_a_whole() {
    let rows: &[(&str, &[(&str, &str)])] = &[
        ("dev:main/Old:t.T#a", &[("size", "1")]),
        ("dev:main/Old:t.T#b", &[("size", "e")]),
        ("dev:main/Old:t.T#c", &[("size", "e")]),
    ];
    let mut snapshot = recorded(rows).snapshot(None);
    for (at, from) in [(1, "u-r0"), (2, "u-r1")] {
        Arc::make_mut(&mut snapshot.resources[at]).dependencies =
            vec![CopyRef { uid: Uid(from.into()), generation: Generation(1) }];
        Arc::make_mut(&mut snapshot.resources[at])
            .property_dependencies
            .insert("size", vec![Uid(from.into())]);
    }
    let base = State::from(snapshot);
    let mut program = named(Program::default(), "dev:main/New:t.T#a", &[("size", known("1"))]);
    let etag = program.of(0, "etag");
    let mut program = named(program, "dev:main/New:t.T#b", &[("size", etag)]);
    let etag = program.of(1, "etag");
    let program = named(program, "dev:main/New:t.T#c", &[("size", etag)]);
    let accepted = program.ask(&base, &with(MovePolicy::Accept)).unwrap();
    assert_eq!(moved(&accepted).len(), 3, "{:?}", accepted.suggestions);
    assert_eq!((accepted.summary.create, accepted.summary.delete), (0, 0));
}

#[test]
fn similar_resources_are_a_likely_move_and_a_weak_suggestion_blocks_nothing() {
    let base = state(&[("old", &[("size", "1"), ("place", "p"), ("x", "1")], &[])]);
    let likely = Program::default()
        .node("new", &[("size", known("2")), ("place", known("p")), ("x", known("1"))])
        .plan(&base);
    assert_eq!(likely.suggestions[0].confidence, Confidence::Likely);
    assert!(likely.has_likely_moves());
    let weak = Program::default()
        .node("new", &[("size", known("2")), ("place", known("q")), ("x", known("1"))])
        .plan(&base);
    assert_eq!(weak.suggestions[0].confidence, Confidence::Weak);
    assert!(!weak.has_likely_moves());
}

#[test]
fn given_id_in_another_scope_is_a_likely_move_although_all_properties_changed() {
    let base =
        recorded(&[("dev:main/Old:t.T#a", &[("size", "1")]), ("dev:main/Old:t.T#b", &[("path", "p")])]);
    let program = named(Program::default(), "dev:main/New:t.T#a", &[("size", known("2"))]);
    let program = named(program, "dev:main/New:t.T#b", &[("path", known("q"))]);
    let plan = program.plan(&base);
    let told: Vec<_> =
        plan.suggestions.iter().map(|one| (one.from.short(), one.reason.clone(), one.confidence)).collect();
    assert_eq!(
        told,
        [
            ("a", Reason::SameGivenId, Confidence::Likely),
            // A rename would replace the real resource all the same.
            ("b", Reason::SameGivenId, Confidence::Weak),
        ]
    );
    // Two candidates tell nothing.
    let two = named(program, "dev:main/Other:t.T#a", &[("size", known("3"))]).plan(&base);
    assert!(two.suggestions.iter().all(|one| one.from.short() != "a"), "{:?}", two.suggestions);
}

#[test]
fn swapped_ids_are_a_certain_move_of_both() {
    let base = state(&[("a", &[("path", "x")], &[]), ("b", &[("path", "y")], &[])]);
    let program = Program::default().node("a", &[("path", known("y"))]).node("b", &[("path", known("x"))]);
    let plan = program.plan(&base);
    assert!(plan.has_likely_moves());
    let swapped = Reason::Swapped { property: "path".into() };
    assert!(plan.suggestions.iter().all(|one| one.reason == swapped), "{:?}", plan.suggestions);
    let accepted = program.ask(&base, &with(MovePolicy::Accept)).unwrap();
    insta::assert_snapshot!(show(&accepted), @r"
    0 vacate name b <- []
    1 move b <- [0]
    2 move a <- [0 1]
    ");
    assert_eq!((accepted.summary.only_renamed, accepted.summary.replace), (2, 0));
    let replaced = program.ask(&base, &with(MovePolicy::Refuse)).unwrap();
    insta::assert_snapshot!(show(&replaced), @r"
    0 delete old a <- []
    1 delete old b <- []
    2 replace a <- [0 1]
    3 replace b <- [0 1]
    ");
}

#[test]
fn name_that_another_resource_leaves_is_a_certain_move() {
    let base = state(&[("a", &[("path", "x")], &[]), ("b", &[("path", "y")], &[])]);
    // `a` was renamed to `c`, and `b` to `a`.
    let program = Program::default().node("a", &[("path", known("y"))]).node("c", &[("path", known("x"))]);
    let plan = program.plan(&base);
    let reasons: Vec<&Reason> = plan.suggestions.iter().map(|one| &one.reason).collect();
    let property = || "path".to_owned();
    assert_eq!(
        reasons,
        [&Reason::NameTaken { property: property() }, &Reason::SamePhysicalId { property: property() }]
    );
    let accepted = program.ask(&base, &with(MovePolicy::Accept)).unwrap();
    assert_eq!((accepted.summary.only_renamed, accepted.summary.delete, accepted.summary.create), (2, 0, 0));
    // Two declarations of one real resource are no swap.
    let twice = Program::default().node("a", &[("path", known("y"))]).node("c", &[("path", known("y"))]);
    assert!(twice.plan(&base).suggestions.iter().all(|one| !matches!(one.reason, Reason::NameTaken { .. })));
}

#[test]
fn resource_with_the_physical_name_of_a_deleted_one_is_created_after_the_deletion() {
    let base = state(&[
        ("old", &[("path", "x")], &[]),
        ("user", &[("size", "1")], &["old"]),
        ("other", &[("path", "z")], &[]),
    ]);
    let program =
        Program::default().node("new", &[("path", known("x"))]).node("other", &[("path", known("z"))]);
    let plan = program.ask(&base, &with(MovePolicy::Refuse)).unwrap();
    insta::assert_snapshot!(show(&plan), @r"
    0 delete user <- []
    1 delete old <- [0]
    2 create new <- [1]
    3 barrier old <- [0 1 2]
    4 forget user <- [3]
    5 forget old <- [3 4]
    ");
    assert_eq!((plan.summary.create, plan.summary.delete), (1, 2));
    // A copy that is replaced makes way too.
    let program = Program::default()
        .node("new", &[("path", known("z"))])
        .node("old", &[("path", known("x"))])
        .node("user", &[("size", known("1"))])
        .node("other", &[("path", known("w"))]);
    insta::assert_snapshot!(show(&program.plan(&base)), @r"
    0 delete old other <- []
    1 create new <- [0]
    2 record user <- []
    3 replace other <- [0]
    ");
}
