//! The marks and the retained resources in state. Bytes that an older version wrote stay readable.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use stead_model::{
    DeletionPolicy, Level, Limits, MarkSource, Marked, Marks, PhysicalId, Resource, RunId, SourceRef, StackId,
};
use stead_state::{Export, ExportError, Origin, Record, RetainReason, Snapshot, State};

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
fn marks_in_an_older_record_count_as_set_on_the_resource() {
    let marks = old().recorded_marks();
    assert!(marks.prevents_deletion() && marks.retains());
    assert_eq!(marks.prevent_delete.unwrap().source.level, Level::Resource("dev:main:t.T#a".into()));
    assert_eq!(serde_json::to_string(&old()).unwrap(), OLD, "the encoding is unchanged");
}

#[test]
fn marks_are_recorded_with_their_source_and_a_moved_line_is_no_change() {
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
    assert!(resource.prevents_deletion(), "protection of the record itself stays");
    let text = serde_json::to_string(&resource).unwrap();
    insta::assert_snapshot!(text, @r#"{"uid":"u","generation":1,"name":"dev:main:t.T#a","type":"t.T","id":"x","source":{"file":"main.ts","line":1,"column":1},"marks":{"preventDelete":{"level":"environment","of":"prod","key":"t/prevent-delete","place":{"file":"stead.toml","line":7,"column":1}},"protected":true}}"#);
    let read: Resource = serde_json::from_str(&text).unwrap();
    assert_eq!(read, resource);
    assert!(!read.marks_differ(&marks(8)));
    assert!(read.marks_differ(&Marks::default()), "a removed `false` is a change");
}

#[test]
fn retained_resource_stays_in_the_snapshot_until_it_is_managed_again() {
    let mut state = state(old());
    let copy = old().copy();
    let set_by = source(Level::Project("shop".into()), "deletion-policy");
    let reason = RetainReason { run: RunId("run-3".into()), source: Some(set_by) };
    state.apply(&Record::Forget { copy, kept: Some(Box::new(reason.clone())) }).unwrap();
    let mut state = again(&state);
    let retained: Vec<_> = state.retained().cloned().collect();
    assert_eq!((retained.len(), &retained[0].reason, &retained[0].id), (1, &reason, &PhysicalId("x".into())));
    insta::assert_snapshot!(serde_json::to_string(&retained[0]).unwrap(), @r#"{"name":"dev:main:t.T#a","type":"t.T","id":"x","run":"run-3","source":{"level":"project","of":"shop","key":"deletion-policy","place":{"file":"stead.toml","line":7,"column":1}}}"#);
    let adopted = Resource { deletion_policy: Some(DeletionPolicy::Delete), ..old() };
    state.apply(&Record::Adopt { resource: Box::new(adopted) }).unwrap();
    assert_eq!(again(&state).retained().count(), 0);
}

#[test]
fn export_contains_marks_and_retained_resources_and_refuses_control_characters() {
    let export = |edit: &dyn Fn(&mut Snapshot)| {
        let mut resource = old();
        resource.marks.prevent_delete = Some(source(Level::Project("shop".into()), "prevent-delete"));
        let mut state = state(resource);
        let kept = Some(Box::new(RetainReason { run: RunId("run-3".into()), source: None }));
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
fn old_copy_with_the_id_of_the_current_one_is_not_listed_as_retained() {
    let newer = Resource { generation: stead_model::Generation(2), ..old() };
    let older = Resource { lifecycle: stead_model::Lifecycle::Condemned, ..old() };
    let snapshot = Snapshot::empty(StackId("s".into())).with(vec![older, newer]);
    let mut state = State::from(Snapshot { uids: 1, ..snapshot });
    let kept = Some(Box::new(RetainReason { run: RunId("run-3".into()), source: None }));
    state.apply(&Record::Forget { copy: old().copy(), kept }).unwrap();
    assert_eq!(state.retained().count(), 0);
}
