//! The protecting declarations of recorded resources, whatever their names are.

use super::moves::{moved, named, recorded, with};
use super::*;
use crate::{Counterparts, Likeness, Match, MovePolicy};

fn protecting(mut program: Program) -> Program {
    program = program.options(|options| options.prevent_delete = Some(true));
    program
}

fn compared(base: &State, program: &Program) -> Counterparts {
    let catalog = catalog();
    Counterparts::of(base, &program.0, &catalog, &canonical(base, &program.0, &catalog))
}

/// Returns the record numbers that the program protects.
fn protected(base: &State, program: &Program) -> Vec<usize> {
    let counterparts = compared(base, program);
    (0..base.len()).filter(|at| !likeness(&counterparts, *at).is_empty()).collect()
}

fn likeness(counterparts: &Counterparts, record: usize) -> Vec<Likeness> {
    let all = counterparts.protecting(&Uid(format!("u-r{record}")));
    all.iter().map(|counterpart| counterpart.likeness.clone()).collect()
}

const SIBLINGS: [&str; 3] = ["dev:main:t.T", "dev:main:t.T#2", "dev:main:t.T#3"];

fn siblings(inputs: &[&[(&str, &str)]]) -> State {
    let rows: Vec<_> = SIBLINGS.iter().zip(inputs).map(|(name, inputs)| (*name, *inputs)).collect();
    recorded(&rows)
}

fn sibling(program: Program, at: usize, inputs: &[(&str, &str)]) -> Program {
    let inputs: Vec<(&str, Input)> = inputs.iter().map(|(key, value)| (*key, known(value))).collect();
    named(program, SIBLINGS[at], &inputs)
}

#[test]
fn sibling_that_moved_up_protects_its_own_record_only() {
    let base = siblings(&[&[("path", "a")], &[("path", "b")], &[("path", "c")]]);
    let program = sibling(Program::default(), 0, &[("path", "b")]);
    let program = protecting(sibling(program, 1, &[("path", "c")]));
    assert_eq!(protected(&base, &program), [2]);
    let counterparts = compared(&base, &program);
    assert_eq!(likeness(&counterparts, 2), [Likeness::Matched(Match::Identity)]);
    // A new sibling in the place of a dropped one names another real resource.
    let program = sibling(Program::default(), 0, &[("path", "b")]);
    let program = protecting(sibling(program, 1, &[("path", "new")]));
    assert!(protected(&base, &program).is_empty());
}

#[test]
fn sibling_that_may_be_any_of_several_protects_all_of_them() {
    let equal = siblings(&[&[("size", "1")], &[("size", "1")], &[("size", "1")]]);
    let program = sibling(Program::default(), 0, &[("size", "1")]);
    let program = protecting(sibling(program, 1, &[("size", "1")]));
    assert_eq!(protected(&equal, &program), [0, 1, 2]);
    let edited = siblings(&[&[("size", "1")], &[("size", "2")], &[("size", "3")]]);
    let program = sibling(Program::default(), 0, &[("size", "2")]);
    let program = protecting(sibling(program, 1, &[("size", "4")]));
    assert_eq!(protected(&edited, &program), [0, 2], "the content tells one of them");
}

#[test]
fn declaration_with_another_id_protects_what_it_looks_like() {
    let base = recorded(&[("dev:main:t.T#a", &[("path", "a"), ("size", "1")])]);
    let new = |name: &str, inputs: &[(&str, Input)]| protecting(named(Program::default(), name, inputs));
    let same = [("path", known("a")), ("size", known("1"))];
    let edited = [("path", known("a")), ("size", known("2"))];
    let other = [("path", known("z")), ("size", known("2"))];
    assert_eq!(protected(&base, &new("dev:main:t.T#b", &same)), [0]);
    assert_eq!(protected(&base, &new("dev:main/G#g:t.T", &same)), [0]);
    assert_eq!(protected(&base, &new("dev:lib.main:t.T#a", &same)), [0]);
    assert_eq!(protected(&base, &new("dev:main:t.T#b", &edited)), [0]);
    assert!(protected(&base, &new("dev:main:t.T#b", &other)).is_empty());
    let spelled = [("path", known("./a")), ("size", known("2"))];
    let spelled = new("dev:main:t.T#b", &spelled);
    assert_eq!(protected(&base, &spelled), [0], "another spelling of the path");
    assert_eq!(likeness(&compared(&base, &spelled), 0), [Likeness::SamePhysicalId("path".to_owned())]);
    let unprotected = named(Program::default(), "dev:main:t.T#b", &same);
    assert!(protected(&base, &unprotected).is_empty());
}

#[test]
fn rollback_finds_a_resource_by_its_record_whatever_its_name_is() {
    let base = siblings(&[&[("words", "x")], &[("words", "x")]]);
    let mut program = Program::default();
    for (at, record) in [(0, "gone"), (1, "u-r0"), (2, "u-r1")] {
        program = sibling(program, at, &[("words", "x")])
            .options(|options| options.recorded = Some(Uid(record.to_owned())));
    }
    let plan = program.ask(&base, &with(MovePolicy::Regroup)).unwrap();
    assert_eq!(
        (plan.summary.replace, plan.summary.delete, plan.summary.create),
        (0, 0, 1),
        "{}",
        show(&plan)
    );
    assert!(moved(&plan).iter().any(|step| step.ends_with("#3")), "{:?}", moved(&plan));
}
