//! One planted violation a rule, by number; and a sound state that breaks none.

use stead_model::{Generation, OpId, PhysicalId, SourceRef, StackId};

use super::*;
use crate::{AfterDelete, Pending};

fn resource(name: &str, generation: u32) -> Resource {
    Resource {
        uid: Uid(format!("uid-{name}")),
        generation: Generation(generation),
        name: format!("dev:main:t.T#{name}").parse().unwrap(),
        resource: stead_model::TypeToken("t.T".into()),
        lifecycle: Lifecycle::Live,
        id: Some(PhysicalId(format!("{name}-{generation}"))),
        inputs: BTreeMap::new(),
        outputs: BTreeMap::new(),
        dependencies: Vec::new(),
        property_dependencies: BTreeMap::new(),
        ties: Default::default(),
        prevent_delete: false,
        deletion_policy: None,
        source: SourceRef { file: "main.ts".into(), line: 1, column: 1 },
    }
}

fn condemned(name: &str, generation: u32) -> Resource {
    Resource { lifecycle: Lifecycle::Condemned, ..resource(name, generation) }
}

fn depends(mut resource: Resource, on: &str, generation: u32) -> Resource {
    let copy = CopyRef { uid: Uid(format!("uid-{on}")), generation: Generation(generation) };
    resource.dependencies.push(copy);
    resource
}

fn snapshot(resources: Vec<Resource>) -> Snapshot {
    let uids = resources.len() as u64;
    Snapshot { uids, resources, ..Snapshot::empty(StackId("s".into())) }
}

fn broken(snapshot: &Snapshot) -> Vec<&'static str> {
    verify(snapshot).into_iter().map(|violation| violation.rule).collect()
}

#[test]
fn a_sound_state_breaks_no_rule() {
    let sound = snapshot(vec![
        condemned("a", 1),
        resource("a", 2),
        depends(condemned("b", 1), "a", 1),
        depends(resource("b", 2), "a", 2),
        depends(resource("c", 1), "b", 7), // that copy is gone; the current one stands for it
        Resource { lifecycle: Lifecycle::Replacing, id: None, ..resource("d", 1) },
    ]);
    assert_eq!(verify(&sound), []);
}

#[test]
fn s01_a_copy_stored_twice() {
    assert_eq!(broken(&snapshot(vec![condemned("a", 1), condemned("a", 1)])), ["S01"]);
}

#[test]
fn s02_two_current_copies() {
    assert_eq!(broken(&snapshot(vec![resource("a", 1), resource("a", 2)])), ["S02"]);
}

#[test]
fn s03_one_name_for_two_resources() {
    let other = Resource { uid: Uid("other".into()), ..resource("a", 1) };
    assert_eq!(broken(&snapshot(vec![resource("a", 1), other])), ["S03"]);
}

#[test]
fn s04_ids_that_do_not_fit() {
    let without = Resource { id: None, ..resource("a", 1) };
    let empty = Resource { id: Some(PhysicalId(String::new())), ..resource("b", 1) };
    let deleted = Resource { lifecycle: Lifecycle::Replacing, ..resource("c", 1) };
    assert_eq!(broken(&snapshot(vec![without, empty, deleted])), ["S04", "S04", "S04"]);
}

#[test]
fn s05_a_condemned_copy_newer_than_the_current_one() {
    assert_eq!(broken(&snapshot(vec![resource("a", 1), condemned("a", 2)])), ["S05"]);
}

#[test]
fn s06_a_dependency_that_does_not_exist() {
    assert_eq!(broken(&snapshot(vec![depends(resource("a", 1), "gone", 1)])), ["S06"]);
}

#[test]
fn s07_a_source_that_is_no_dependency() {
    let mut odd = resource("a", 1);
    odd.property_dependencies.insert("x".into(), vec![Uid("uid-b".into())]);
    assert_eq!(broken(&snapshot(vec![odd, resource("b", 1)])), ["S07"]);
}

#[test]
fn s08_a_circle() {
    let circle = vec![depends(resource("a", 1), "b", 1), depends(resource("b", 1), "a", 1)];
    assert_eq!(broken(&snapshot(circle)), ["S08", "S08"]);
}

#[test]
fn s09_pending_operations_on_what_does_not_exist() {
    let pending = |op, intent| Pending { op: OpId(op), intent, doubt: None };
    let key = String::from("k");
    let stranger = Resource { uid: Uid("other".into()), ..resource("a", 1) };
    let mut odd = snapshot(vec![resource("a", 1)]);
    odd.next_op = OpId(9);
    odd.pending = vec![
        pending(1, Intent::Create { key: key.clone(), resource: Box::new(stranger) }),
        pending(
            2,
            Intent::Update {
                key: key.clone(),
                resource: Box::new(resource("b", 1)),
                previous: BTreeMap::new(),
            },
        ),
        pending(3, Intent::Delete { key, copy: resource("c", 1).copy(), after: AfterDelete::Gone }),
    ];
    assert_eq!(broken(&odd), ["S09", "S09", "S09"]);
}

#[test]
fn s10_counters_behind_what_they_counted() {
    let mut behind = snapshot(vec![resource("a", 1)]);
    behind.uids = 0;
    behind.next_op = OpId(1);
    let intent = Intent::Delete { key: "k".into(), copy: resource("a", 1).copy(), after: AfterDelete::Gone };
    behind.pending = vec![Pending { op: OpId(1), intent, doubt: None }];
    assert_eq!(broken(&behind), ["S10", "S10"]);
}
