//! Steps that change only the record.

use super::*;
use crate::RecordChange;
use stead_model::DeletionPolicy;

/// Returns the record changes of `b` for the given options and recorded values.
fn changes(set: impl FnOnce(&mut Options), record: impl Fn(&mut Resource)) -> Vec<RecordChange> {
    let base = edited(&state(&[("a", &[], &[]), ("b", &[], &[]), ("c", &[], &[])]), |name, resource| {
        if name == "b" {
            record(resource);
        }
    });
    let program = Program::default().node("a", &[]).node("c", &[]).node("b", &[]).options(set);
    let plan = program.plan(&base);
    match plan.steps.iter().map(|step| (&step.action, &step.why)).collect::<Vec<_>>().as_slice() {
        [] => Vec::new(),
        [(Action::Record { .. }, Why::RecordOnly { changes })] => changes.clone(),
        other => panic!("{other:?}"),
    }
}

fn nothing(_: &mut Resource) {}

#[test]
fn unchanged_record_has_no_step() {
    assert_eq!(changes(|_| {}, nothing), []);
}

#[test]
fn each_changed_tie_is_listed() {
    let a = || CopyRef { uid: Uid("u-a".into()), generation: Generation(1) };
    assert_eq!(changes(|options| options.provider = Some(NodeId(0)), nothing), [RecordChange::Provider]);
    assert_eq!(
        changes(|options| options.deleted_with = Some(NodeId(0)), nothing),
        [RecordChange::DeletedWith, RecordChange::Dependencies]
    );
    assert_eq!(
        changes(|options| options.replace_with = vec![NodeId(0)], nothing),
        [RecordChange::ReplaceWith]
    );
    assert_eq!(
        changes(|options| options.depends_on = vec![NodeId(0)], nothing),
        [RecordChange::Dependencies]
    );
    assert_eq!(changes(|_| {}, |old| old.ties.parent = Some(a().uid)), [RecordChange::Parent]);
    assert_eq!(changes(|_| {}, |old| old.ties.deleted_with = Some(a().uid)), [RecordChange::DeletedWith]);
    assert_eq!(changes(|_| {}, |old| old.dependencies = vec![a()]), [RecordChange::Dependencies]);
    let former = "dev:main:t.T#former".parse().unwrap();
    assert_eq!(changes(|options| options.aliases = vec![former], nothing), [RecordChange::FormerNames]);
}

#[test]
fn each_changed_mark_is_listed() {
    assert_eq!(changes(|options| options.pinned = Some(true), nothing), [RecordChange::Pinned]);
    assert_eq!(changes(|_| {}, |old| old.imported = true), [RecordChange::Declared]);
    assert_eq!(changes(|options| options.undeclared = true, |old| old.imported = true), []);
    assert_eq!(changes(|_| {}, |old| old.pinned = true), [RecordChange::Unpinned]);
    assert_eq!(
        changes(|options| options.prevent_delete = Some(true), nothing),
        [RecordChange::PreventDelete]
    );
    assert_eq!(changes(|_| {}, |old| old.prevent_delete = true), [RecordChange::PreventDelete]);
    let retain = |options: &mut Options| options.deletion_policy = Some(DeletionPolicy::Retain);
    assert_eq!(changes(retain, nothing), [RecordChange::DeletionPolicy]);
    let recorded = |old: &mut Resource| old.deletion_policy = Some(DeletionPolicy::Retain);
    assert_eq!(changes(retain, recorded), [RecordChange::MarkSource]);
}
