//! What a step says that changes only the record.

use super::*;
use crate::Noted;
use stead_model::DeletionPolicy;

/// What is noted of `b`, recorded after `a` and `c`, when its options and its record are set so.
fn noted(set: impl FnOnce(&mut Options), record: impl Fn(&mut Resource)) -> Vec<Noted> {
    let base = edited(&state(&[("a", &[], &[]), ("b", &[], &[]), ("c", &[], &[])]), |name, resource| {
        if name == "b" {
            record(resource);
        }
    });
    let program = Program::default().node("a", &[]).node("c", &[]).node("b", &[]).options(set);
    let plan = program.plan(&base);
    match plan.steps.iter().map(|step| (&step.action, &step.why)).collect::<Vec<_>>().as_slice() {
        [] => Vec::new(),
        [(Action::Record { .. }, Why::Bookkeeping { noted })] => noted.clone(),
        other => panic!("{other:?}"),
    }
}

fn nothing(_: &mut Resource) {}

#[test]
fn what_is_as_recorded_is_no_step() {
    assert_eq!(noted(|_| {}, nothing), []);
}

#[test]
fn each_tie_that_changes_is_named() {
    let a = || CopyRef { uid: Uid("u-a".into()), generation: Generation(1) };
    assert_eq!(noted(|options| options.provider = Some(NodeId(0)), nothing), [Noted::Provider]);
    assert_eq!(
        noted(|options| options.deleted_with = Some(NodeId(0)), nothing),
        [Noted::DeletedWith, Noted::Dependencies]
    );
    assert_eq!(noted(|options| options.replace_with = vec![NodeId(0)], nothing), [Noted::ReplaceWith]);
    assert_eq!(noted(|options| options.depends_on = vec![NodeId(0)], nothing), [Noted::Dependencies]);
    assert_eq!(noted(|_| {}, |old| old.ties.parent = Some(a().uid)), [Noted::Parent]);
    assert_eq!(noted(|_| {}, |old| old.ties.deleted_with = Some(a().uid)), [Noted::DeletedWith]);
    assert_eq!(noted(|_| {}, |old| old.dependencies = vec![a()]), [Noted::Dependencies]);
    let former = "dev:main:t.T#former".parse().unwrap();
    assert_eq!(noted(|options| options.aliases = vec![former], nothing), [Noted::FormerNames]);
}

#[test]
fn each_mark_that_changes_is_named() {
    assert_eq!(noted(|options| options.pinned = Some(true), nothing), [Noted::Pinned]);
    assert_eq!(noted(|_| {}, |old| old.pinned = true), [Noted::Unpinned]);
    assert_eq!(noted(|options| options.prevent_delete = Some(true), nothing), [Noted::PreventDelete]);
    assert_eq!(noted(|_| {}, |old| old.prevent_delete = true), [Noted::PreventDelete]);
    let retain = |options: &mut Options| options.deletion_policy = Some(DeletionPolicy::Retain);
    assert_eq!(noted(retain, nothing), [Noted::DeletionPolicy]);
    let recorded = |old: &mut Resource| old.deletion_policy = Some(DeletionPolicy::Retain);
    assert_eq!(noted(retain, recorded), [Noted::MarkSource]);
}
