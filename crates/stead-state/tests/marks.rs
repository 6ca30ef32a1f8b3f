//! What state keeps of marks, and of what it let go of: bytes that an older stead wrote are read as ever.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use stead_model::{
    DeletionPolicy, Level, Limits, MarkSource, Marked, Marks, PhysicalId, Resource, RunId, SourceRef, StackId,
};
use stead_state::{Export, ExportError, Kept, Origin, Record, Snapshot, State};

const OLD: &str = r#"{"uid":"u","generation":1,"name":"dev:main:t.T#a","type":"t.T","id":"x","preventDelete":true,"deletionPolicy":"retain","source":{"file":"main.ts","line":1,"column":1}}"#;

fn old() -> Resource {
    serde_json::from_str(OLD).unwrap()
}

fn source(level: Level, key: &str) -> Arc<MarkSource> {
    let place = Some(SourceRef { file: "stead.toml".into(), line: 7, column: 1 });
    Arc::new(MarkSource { level, key: key.into(), place })
}

fn state(resource: Resource) -> State {
    State::from(Snapshot { uids: 1, ..Snapshot::empty(StackId("s".into())).with(vec![resource]) })
}

fn again(state: &State) -> State {
    let (bytes, digest) = state.snapshot(None).encode();
    State::from(Snapshot::decode(&bytes, &digest).unwrap())
}

#[test]
fn a_record_of_an_older_stead_keeps_its_marks_as_its_own() {
    let marks = old().recorded_marks();
    assert!(marks.prevents_deletion() && marks.retains());
    assert_eq!(marks.prevent_delete.unwrap().source.level, Level::Resource("dev:main:t.T#a".into()));
    assert_eq!(serde_json::to_string(&old()).unwrap(), OLD, "and is written as it was");
}

#[test]
fn marks_are_recorded_with_where_they_were_set_and_a_line_that_moved_is_no_change() {
    let mut resource = old();
    resource.marks.protected = true;
    let marks = |line: u32| {
        let environment = Level::Environment("prod".into());
        let mut set_by = source(environment, "t/prevent-delete").as_ref().clone();
        set_by.place.as_mut().unwrap().line = line;
        Marks {
            prevent_delete: Some(Marked { value: false, source: Arc::new(set_by) }),
            deletion_policy: None,
        }
    };
    resource.set_marks(&marks(7));
    assert!(resource.prevents_deletion(), "what was set on the record itself stays");
    let text = serde_json::to_string(&resource).unwrap();
    insta::assert_snapshot!(text, @r#"{"uid":"u","generation":1,"name":"dev:main:t.T#a","type":"t.T","id":"x","source":{"file":"main.ts","line":1,"column":1},"marks":{"preventDelete":{"level":"environment","of":"prod","key":"t/prevent-delete","place":{"file":"stead.toml","line":7,"column":1}},"protected":true}}"#);
    let read: Resource = serde_json::from_str(&text).unwrap();
    assert_eq!(read, resource);
    assert!(!read.marks_differ(&marks(8)));
    assert!(read.marks_differ(&Marks::default()), "that nobody says `false` any more is a change");
}

#[test]
fn what_was_let_go_of_is_kept_in_the_snapshot_until_it_is_managed_again() {
    let mut state = state(old());
    let copy = old().copy();
    let set_by = source(Level::Project("shop".into()), "deletion-policy");
    let kept = Kept { run: RunId("run-3".into()), source: Some(set_by) };
    state.apply(&Record::Forget { copy, kept: Some(Box::new(kept.clone())) }).unwrap();
    let mut state = again(&state);
    let retained: Vec<_> = state.retained().cloned().collect();
    assert_eq!((retained.len(), &retained[0].kept, &retained[0].id), (1, &kept, &PhysicalId("x".into())));
    insta::assert_snapshot!(serde_json::to_string(&retained[0]).unwrap(), @r#"{"name":"dev:main:t.T#a","type":"t.T","id":"x","run":"run-3","source":{"level":"project","of":"shop","key":"deletion-policy","place":{"file":"stead.toml","line":7,"column":1}}}"#);
    let adopted = Resource { deletion_policy: Some(DeletionPolicy::Delete), ..old() };
    state.apply(&Record::Adopt { resource: Box::new(adopted) }).unwrap();
    assert_eq!(again(&state).retained().count(), 0);
}

#[test]
fn an_export_carries_both_and_nothing_in_them_can_drive_a_terminal() {
    let export = |edit: &dyn Fn(&mut Snapshot)| {
        let mut resource = old();
        resource.marks.prevent_delete = Some(source(Level::Project("shop".into()), "prevent-delete"));
        let mut state = state(resource);
        let kept = Some(Box::new(Kept { run: RunId("run-3".into()), source: None }));
        let other = Resource {
            uid: stead_model::Uid("v".into()),
            name: "dev:main:t.T#b".parse().unwrap(),
            id: Some(PhysicalId("y".into())),
            ..old()
        };
        state.apply(&Record::Adopt { resource: Box::new(other.clone()) }).unwrap();
        state.apply(&Record::Forget { copy: other.copy(), kept }).unwrap();
        let mut snapshot = state.snapshot(None);
        edit(&mut snapshot);
        let origin = Origin {
            stead: "0".into(),
            project: "shop".into(),
            environment: "dev".into(),
            target: "t".into(),
        };
        let bytes = serde_json::to_vec(&Export::new(origin, snapshot.clone())).unwrap();
        Export::decode(&bytes, &Limits::default()).map(|export| (export.into_snapshot(), snapshot))
    };
    let (read, written) = export(&|_| {}).unwrap();
    assert_eq!(read, written);
    let moved = read.in_environment(&"prod".parse().unwrap());
    assert_eq!(moved.retained[0].name.to_string(), "prod:main:t.T#b");
    let escape = |snapshot: &mut Snapshot| {
        let resource = Arc::make_mut(&mut snapshot.resources[0]);
        resource.marks.prevent_delete = Some(source(Level::Project("\u{1b}[2J".into()), "prevent-delete"));
    };
    assert!(matches!(export(&escape), Err(ExportError::MarkSource(_))));
    let escape = |snapshot: &mut Snapshot| snapshot.retained[0].id = PhysicalId("\u{1b}[2J".into());
    assert!(matches!(export(&escape), Err(ExportError::ControlCharacter(_))));
}

#[test]
fn what_a_newer_copy_still_is_was_not_let_go_of() {
    let newer = Resource { generation: stead_model::Generation(2), ..old() };
    let older = Resource { lifecycle: stead_model::Lifecycle::Condemned, ..old() };
    let snapshot = Snapshot::empty(StackId("s".into())).with(vec![older, newer]);
    let mut state = State::from(Snapshot { uids: 1, ..snapshot });
    let kept = Some(Box::new(Kept { run: RunId("run-3".into()), source: None }));
    state.apply(&Record::Forget { copy: old().copy(), kept }).unwrap();
    assert_eq!(state.retained().count(), 0);
}
