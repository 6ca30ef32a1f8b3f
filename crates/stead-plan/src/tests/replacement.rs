//! Replacements: their causes, the replacements that they cause, and early deletions.

use super::*;
use stead_guard::pins::PinfileStatus;
use stead_guard::{Deletion, Permits, Refusal};
use stead_model::{DeletionPolicy, PathPattern, Ties};

fn pattern(text: &str) -> PathPattern {
    text.parse().unwrap()
}

fn delete_first(options: &mut Options) {
    options.delete_before_replace = Some(true);
}

/// Decides for a target that keeps no pins.
fn decide(deletions: &[Deletion<'_>]) -> Result<Permits, Vec<Refusal>> {
    stead_guard::decide(deletions, &PinfileStatus::NotKept)
}

#[test]
fn unknown_value_in_a_create_only_property_may_replace() {
    let base = state(&[("a", &[("size", "1")], &[]), ("b", &[("place", "e")], &["a"])]);
    let mut program = Program::default().node("a", &[("size", known("2"))]);
    let etag = program.of(0, "etag");
    let plan = program.node("b", &[("place", etag)]).plan(&base);
    insta::assert_snapshot!(show(&plan), @r"
    0 update a <- []
    1 may replace b <- [0]
    2 barrier b <- [0 1]
    3 delete old b <- [2]
    ");
    assert_eq!(plan.steps[1].unknown_from, ["dev:main:t.T#a".parse().unwrap()]);
}

#[test]
fn replacement_replaces_only_dependents_whose_inputs_force_it() {
    let base = state(&[
        ("a", &[("place", "x")], &[]),
        ("soft", &[("size", "e")], &["a"]),
        ("ordered", &[("size", "1")], &["a"]),
        ("hard", &[("place", "e")], &["a"]),
    ]);
    let mut program = Program::default().node("a", &[("place", known("y"))]);
    let etag = program.of(0, "etag");
    let program = program
        .node("soft", &[("size", etag.clone())])
        .node("ordered", &[("size", known("1"))])
        .options(|options| options.depends_on.push(NodeId(0)))
        .node("hard", &[("place", etag)]);
    let plan = program.plan(&base);
    let replaced: Vec<&str> = plan
        .steps
        .iter()
        .filter(|step| matches!(step.why, Why::Replaced { .. }))
        .map(|step| step.name.short())
        .collect();
    assert_eq!(replaced, ["a", "hard"]);
}

#[test]
fn delete_first_deletes_replaced_and_removed_dependents_before() {
    let base = state(&[
        ("a", &[("place", "x")], &[]),
        ("b", &[("place", "e")], &["a"]),
        ("c", &[("place", "e")], &["b"]),
        ("soft", &[("size", "e")], &["a"]),
        ("gone", &[("size", "e")], &["a"]),
    ]);
    let base = edited(&base, |name, resource| match name {
        "b" => comes_from(resource, "place", "a"),
        "c" => comes_from(resource, "place", "b"),
        "soft" => comes_from(resource, "size", "a"),
        _ => {}
    });
    let mut program = Program::default().node("a", &[("place", known("y"))]).options(delete_first);
    let etag = program.of(0, "etag");
    let mut program = program.node("b", &[("place", etag.clone())]);
    let from_b = program.of(1, "etag");
    let program = program.node("c", &[("place", from_b)]).node("soft", &[("size", etag)]);
    insta::assert_snapshot!(show(&program.plan(&base)), @r"
    0 delete gone <- []
    1 delete old c <- []
    2 delete old b <- [1]
    3 delete old a <- [0 2]
    4 replace a <- [3]
    5 replace b <- [2 4]
    6 replace c <- [1 5]
    7 update soft <- [4]
    8 barrier gone <- [0 1 2 3 4 5 6 7]
    9 forget gone <- [8]
    ");
}

#[test]
fn replace_with_causes_a_replacement_and_is_named_as_the_cause() {
    let base = state(&[("a", &[("place", "x")], &[]), ("b", &[("size", "1")], &[])]);
    let base = edited(&base, |name, resource| {
        if name == "b" {
            resource.ties = Ties { replace_with: vec![Uid("u-a".into())], ..Ties::default() };
        }
    });
    let program = Program::default()
        .node("a", &[("place", known("y"))])
        .node("b", &[("size", known("1"))])
        .options(|options| options.replace_with.push(NodeId(0)));
    let plan = program.plan(&base);
    insta::assert_snapshot!(show(&plan), @r"
    0 replace a <- []
    1 replace b <- [0]
    2 barrier a <- [0 1]
    3 delete old b <- [2]
    4 delete old a <- [2 3]
    ");
    assert!(
        matches!(&plan.steps[1].why, Why::Replaced { cause: Some(crate::ReplacementCause::ReplaceWith { name }), .. } if name.short() == "a")
    );
}

/// `inner` is in `box`; `user` depends on `inner`.
fn boxed() -> State {
    let base = state(&[
        ("box", &[("place", "x")], &[]),
        ("inner", &[], &[]),
        ("user", &[("size", "e")], &["inner"]),
    ]);
    edited(&base, |name, resource| {
        if name == "inner" {
            resource.ties.deleted_with = Some(Uid("u-box".into()));
        }
    })
}

#[test]
fn resource_in_a_deleted_container_needs_no_call() {
    insta::assert_snapshot!(show(&Program::default().plan(&boxed())), @r"
    0 delete user <- []
    1 delete box <- [0]
    2 deleted with container inner <- [0 1]
    3 forget box <- [1 2]
    ");
}

#[test]
fn resource_in_a_replaced_container_is_created_again() {
    let program = |first: fn(&mut Options)| {
        let mut program = Program::default()
            .node("box", &[("place", known("y"))])
            .options(first)
            .node("inner", &[])
            .options(|options| options.deleted_with = Some(NodeId(0)));
        let etag = program.of(1, "etag");
        program.node("user", &[("size", etag)])
    };
    insta::assert_snapshot!(show(&program(|_| {}).plan(&boxed())), @r"
    0 replace box <- []
    1 replace inner <- [0]
    2 update user <- [1]
    3 barrier box <- [0 1 2]
    4 delete old box <- [3]
    5 deleted with container inner <- [3 4]
    ");
    insta::assert_snapshot!(show(&program(delete_first).plan(&boxed())), @r"
    0 delete old box <- []
    1 deleted with container inner <- [0]
    2 replace box <- [0]
    3 replace inner <- [1 2]
    4 update user <- [3]
    ");
}

#[test]
fn retained_resource_is_forgotten_and_counted() {
    let base = state(&[("a", &[], &[]), ("b", &[("place", "x")], &[])]);
    let base = edited(&base, |_, resource| resource.deletion_policy = Some(DeletionPolicy::Retain));
    let retain = |options: &mut Options| options.deletion_policy = Some(DeletionPolicy::Retain);
    let plan = Program::default().node("b", &[("place", known("y"))]).options(retain).plan(&base);
    insta::assert_snapshot!(show(&plan), @r"
    0 replace b <- []
    1 retain a <- [0]
    2 retain b <- [0]
    ");
    assert_eq!((plan.summary.forget, plan.summary.delete), (2, 0));
    let program = Program::default().node("b", &[("place", known("y"))]).options(delete_first);
    let deletions = program.plan(&base).deletions(&base, &program.0);
    assert!(decide(&deletions).is_err(), "the old copy has the name of the new one");
}

#[test]
fn ignored_changes_are_not_applied_and_replace_on_changes_replaces() {
    let base = state(&[("a", &[("place", "x"), ("size", "1")], &[])]);
    let program = |set: fn(&mut Options)| {
        Program::default().node("a", &[("place", known("y")), ("size", known("2"))]).options(set).plan(&base)
    };
    let plan = program(|options| options.ignore_changes = vec![pattern("place")]);
    insta::assert_snapshot!(show(&plan), @"0 update a <- []");
    assert!(program(|options| options.ignore_changes = vec![pattern("*")]).is_empty());
    let plan = program(|options| {
        options.ignore_changes = vec![pattern("place")];
        options.replace_on_changes = vec![pattern("size")];
    });
    assert_eq!(plan.summary.replace, 1);
}

#[test]
fn change_that_cannot_be_made_in_place_is_refused_unless_a_certain_replacement_makes_it() {
    let base = state(&[("a", &[("size", "1"), ("sealed", "1")], &[])]);
    let asked = |place: Option<Input>, on_changes: &[&str], replace: &[&str]| {
        let mut program = Program::default().node("new", &[]);
        program.of(0, "etag");
        let mut inputs = vec![("size", known("2")), ("sealed", known("2"))];
        inputs.extend(place.map(|place| ("place", place)));
        let program = program.node("a", &inputs).options(|options| {
            options.replace_on_changes = on_changes.iter().map(|path| pattern(path)).collect();
        });
        let replace = replace.iter().map(|id| (*id).to_owned()).collect();
        program.ask(&base, &Request { replace, ..Request::default() })
    };
    let refused = |plan: Result<Plan, Vec<stead_model::Diagnostic>>| {
        let problems = plan.unwrap_err();
        assert_eq!(problems.iter().map(|one| one.message.as_str()).collect::<Vec<_>>(), ["it is sealed"]);
    };
    refused(asked(None, &[], &[]));
    refused(asked(None, &["place"], &[]));
    // The replacement may turn out to be unnecessary; then the change would be made in place.
    refused(asked(Some(Input::Deferred(stead_model::ExprId(0))), &[], &[]));
    for replaced in [
        asked(None, &["sealed"], &[]),
        asked(None, &["size"], &[]),
        asked(None, &[], &["a"]),
        asked(Some(known("x")), &[], &[]),
    ] {
        assert_eq!(replaced.unwrap().summary.replace, 1);
    }
}

#[test]
fn interrupted_delete_first_replacement_is_continued() {
    let base = state(&[("a", &[("place", "x")], &[]), ("b", &[("place", "e")], &["a"])]);
    let base = edited(&base, |name, resource| {
        if name == "b" {
            comes_from(resource, "place", "a");
            resource.lifecycle = Lifecycle::Replacing;
            resource.id = None;
        }
    });
    let mut program = Program::default().node("a", &[("place", known("y"))]).options(delete_first);
    let etag = program.of(0, "etag");
    insta::assert_snapshot!(show(&program.node("b", &[("place", etag)]).plan(&base)), @r"
    0 delete old a <- []
    1 replace a <- [0]
    2 re-create b <- [1]
    ");
}

#[test]
fn changed_ties_change_the_record_only() {
    let base = state(&[("a", &[], &[]), ("b", &[], &[])]);
    for set in [
        (|options: &mut Options| options.provider = Some(NodeId(0))) as fn(&mut Options),
        |options| options.deleted_with = Some(NodeId(0)),
        |options| options.replace_with = vec![NodeId(0)],
        |options| options.aliases = vec!["dev:main:t.T#old".parse().unwrap()],
        |options| options.deletion_policy = Some(DeletionPolicy::Retain),
    ] {
        let plan = Program::default().node("a", &[]).node("b", &[]).options(set).plan(&base);
        assert_eq!(show(&plan), "0 record b <- []\n");
    }
    let mut program = Program::default().node("a", &[]).node("b", &[]);
    program.0.nodes[1].parent = Some(NodeId(0));
    assert_eq!(show(&program.plan(&base)), "0 record b <- []\n");
}

#[test]
fn children_are_deleted_before_their_parent() {
    let base = edited(&state(&[("a", &[], &[]), ("b", &[], &[])]), |name, resource| {
        if name == "b" {
            resource.ties.parent = Some(Uid("u-a".into()));
        }
    });
    insta::assert_snapshot!(show(&Program::default().plan(&base)), @r"
    0 delete b <- []
    1 delete a <- [0]
    ");
}

#[test]
fn resource_served_by_an_old_copy_of_a_provider_is_deleted_before_the_new_copy() {
    let base = edited(&state(&[("a", &[], &[]), ("p", &[], &[])]), |name, resource| match name {
        "a" => {
            resource.ties.provider = Some(CopyRef { uid: Uid("u-p".into()), generation: Generation(1) });
        }
        _ => resource.lifecycle = Lifecycle::Condemned,
    });
    let mut snapshot = base.snapshot(None);
    let old = snapshot.resources.iter().find(|resource| resource.name.short() == "p").unwrap();
    let (generation, lifecycle) = (Generation(2), Lifecycle::Live);
    let new = Resource { generation, lifecycle, ..old.as_ref().clone() };
    snapshot.resources.push(Arc::new(new));
    insta::assert_snapshot!(show(&Program::default().plan(&State::from(snapshot))), @r"
    0 delete a <- []
    1 delete p <- [0]
    2 delete p <- [0]
    ");
}

#[test]
fn resource_in_an_old_copy_of_its_container_is_not_deleted_with_the_new_copy() {
    let base = |generation: u32| {
        edited(&state(&[("a", &[], &[]), ("b", &[], &["a"])]), |name, resource| match name {
            "a" => resource.generation = Generation(generation),
            _ => resource.ties.deleted_with = Some(Uid("u-a".into())),
        })
    };
    assert!(show(&Program::default().plan(&base(1))).contains("deleted with container b"));
    insta::assert_snapshot!(show(&Program::default().plan(&base(2))), @r"
    0 delete b <- []
    1 delete a <- [0]
    ");
}

/// Returns a state with `b` in a condemned copy of `a`, which has a successor.
fn left_over(inner: impl Fn(&mut Resource)) -> State {
    let base = edited(&state(&[("a", &[], &[]), ("b", &[], &["a"])]), |name, resource| match name {
        "a" => resource.generation = Generation(2),
        _ => {
            resource.ties.deleted_with = Some(Uid("u-a".into()));
            inner(resource);
        }
    });
    let mut snapshot = base.snapshot(None);
    let new = snapshot.resources.iter().find(|resource| resource.name.short() == "a").unwrap();
    let old = Resource { generation: Generation(1), lifecycle: Lifecycle::Condemned, ..new.as_ref().clone() };
    snapshot.resources.push(Arc::new(old));
    State::from(snapshot)
}

#[test]
fn deletion_of_a_condemned_container_is_guarded_by_its_contents() {
    let program = |set: fn(&mut Options)| {
        let program = Program::default().node("a", &[]).options(set);
        let retain = |options: &mut Options| {
            options.deleted_with = Some(NodeId(0));
            options.depends_on = vec![NodeId(0)];
            options.deletion_policy = Some(DeletionPolicy::Retain);
        };
        program.node("b", &[]).options(retain)
    };
    let refused = |base: &State, set: fn(&mut Options)| {
        let program = program(set);
        decide(&program.plan(base).deletions(base, &program.0)).is_err()
    };
    let nothing = |_: &mut Options| {};
    assert!(refused(&left_over(|_| {}), nothing), "`b` is deleted with the old `a`");
    let followed = |inner: &mut Resource| inner.dependencies[0].generation = Generation(2);
    assert!(!refused(&left_over(followed), nothing), "`b` is in the new `a`");
    let retain: fn(&mut Options) = |options| options.deletion_policy = Some(DeletionPolicy::Retain);
    assert!(!refused(&left_over(|_| {}), retain), "the old `a` stays");
    insta::assert_snapshot!(show(&program(retain).plan(&left_over(followed))), @"
    0 record a <- []
    1 record b <- [0]
    2 barrier a <- [0 1]
    3 retain a <- [2]
    ");
}

#[test]
fn requested_replacement_needs_no_change_and_deletes_first_if_the_physical_name_stays() {
    let base = state(&[("a", &[("place", "a-1")], &[]), ("b", &[("size", "1")], &[]), ("c", &[], &[])]);
    let program = Program::default()
        .node("a", &[("place", known("a-1"))])
        .node("b", &[("size", known("1"))])
        .node("c", &[]);
    let replace = |names: &[&str]| Request {
        replace: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Request::default()
    };
    assert!(program.plan(&base).steps.is_empty());
    let plan = program.ask(&base, &replace(&["a", "dev:main:t.T#b"])).unwrap();
    assert_eq!((plan.summary.replace, plan.summary.unchanged), (2, 1));
    let order = |name: &str| {
        let replaced = |step: &&crate::Step| matches!(step.why, Why::Replaced { .. });
        let step = plan.steps.iter().filter(replaced).find(|step| step.name.short() == name).unwrap();
        match &step.why {
            Why::Replaced { order, cause: Some(crate::ReplacementCause::Requested), certainty, .. } => {
                assert_eq!(*certainty, Certainty::Certain);
                *order
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(order("a"), ReplaceOrder::DeleteFirst, "both copies would be called a-1");
    assert_eq!(order("b"), ReplaceOrder::CreateFirst);
}

#[test]
fn replacement_that_keeps_the_physical_name_deletes_first_unless_the_program_says_otherwise() {
    let base = state(&[("a", &[("place", "a-1"), ("size", "1")], &[])]);
    let order = |option: Option<bool>| {
        let plan = Program::default()
            .node("a", &[("place", known("a-1")), ("size", known("2"))])
            .options(|options| {
                options.replace_on_changes = vec![pattern("size")];
                options.delete_before_replace = option;
            })
            .plan(&base);
        let orders = plan.steps.iter().filter_map(|step| match &step.why {
            Why::Replaced { order, .. } => Some(*order),
            _ => None,
        });
        orders.collect::<Vec<_>>()
    };
    assert_eq!(order(None), [ReplaceOrder::DeleteFirst], "only one of two copies can be called a-1");
    assert_eq!(order(Some(false)), [ReplaceOrder::CreateFirst]);
}

#[test]
fn requested_replacement_of_an_unknown_new_or_unselected_resource_is_refused() {
    let base = state(&[("a", &[], &[]), ("b", &[], &[])]);
    let program = Program::default().node("a", &[]).node("b", &[]).node("new", &[]);
    let refused = |name: &str, targets: &[&str]| {
        let selection = crate::Selection {
            targets: targets.iter().map(|target| crate::Glob::new(*target)).collect(),
            ..Default::default()
        };
        let request = Request { replace: vec![name.to_owned()], selection, ..Request::default() };
        program.ask(&base, &request).unwrap_err().remove(0).message
    };
    assert_eq!(refused("x", &[]), "cannot replace \"x\": the program does not declare it");
    assert_eq!(refused("new", &[]), "cannot replace dev:main:t.T#new: it is not recorded yet");
    assert_eq!(refused("a", &["b"]), "cannot replace dev:main:t.T#a: it is not selected");
}

#[test]
fn renamed_resource_is_not_counted_as_unchanged() {
    let base = state(&[("old", &[("size", "1")], &[]), ("same", &[], &[])]);
    let program = Program::default()
        .node("new", &[("size", known("1"))])
        .options(|options| options.aliases.push(name("old")))
        .node("same", &[]);
    let summary = program.plan(&base).summary;
    assert_eq!((summary.moved, summary.unchanged, summary.only_renamed), (1, 1, 1));
}
