//! Two stacks before, during and after a transfer.

use stead_model::{PhysicalId, SourceRef, StackId, TypeToken};

use super::*;
use crate::{Intent, Snapshot, relocated, verify};

fn resource(name: &str, needs: &[&str]) -> Resource {
    let copy = |name: &&str| CopyRef { uid: Uid((*name).to_owned()), generation: Generation(1) };
    Resource {
        id: Some(PhysicalId(name.to_owned())),
        dependencies: needs.iter().map(copy).collect(),
        prevent_delete: name == "kept",
        ..Resource::new(
            Uid(name.to_owned()),
            format!("dev:main:t.T#{name}").parse().unwrap(),
            TypeToken("t.T".into()),
            SourceRef { file: "main.ts".into(), line: 1, column: 1 },
        )
    }
}

fn state(stack: &str, resources: Vec<Resource>) -> State {
    let uids = resources.len() as u64;
    State::from(Snapshot { uids, ..Snapshot::empty(StackId(stack.to_owned())).with(resources) })
}

fn source() -> State {
    state("s", vec![resource("a", &[]), resource("b", &["a"]), resource("kept", &["b"]), resource("z", &[])])
}

fn chosen(names: &[&str]) -> BTreeSet<Uid> {
    names.iter().map(|name| Uid((*name).to_owned())).collect()
}

fn place(environment: &str) -> StackRef {
    StackRef { environment: environment.to_owned(), target: "local".to_owned() }
}

fn departure(names: &[&str]) -> Record {
    let uids = chosen(names).into_iter().collect();
    Record::Depart { departure: Departure { transfer: "t1".into(), to: place("prod"), uids } }
}

#[test]
fn outside_links_are_the_dependencies_and_dependents_of_the_chosen_resources() {
    let links = source().outside_links(&chosen(&["b"]));
    assert_eq!((links.dependencies, links.dependents), (chosen(&["a"]), chosen(&["kept"])));
    assert_eq!(source().outside_links(&chosen(&["a", "b", "kept"])), crate::OutsideLinks::default());
}

#[test]
fn departing_resource_cannot_be_changed_until_the_transfer_ends() {
    let mut state = source();
    state.apply(&departure(&["a", "b", "kept"])).unwrap();
    let copy = resource("a", &[]).copy();
    let forget = Record::Forget { copy: copy.clone(), kept: None };
    let delete = Intent::Delete { key: "k".into(), copy, after: crate::AfterDelete::Gone };
    let begin = Record::begin(state.next_op(), delete);
    let amend = Record::Amend { resource: Box::new(resource("a", &[])) };
    let observed = Record::observed(resource("a", &[]).copy(), None, None);
    for record in [&forget, &begin, &amend, &observed, &departure(&["a"])] {
        assert_eq!(state.apply(record), Err(ReplayError::Departing(Uid("a".into()))), "{record:?}");
    }
    let mut gone = state.clone();
    gone.apply(&Record::Departed { transfer: "t1".into() }).unwrap();
    assert_eq!(gone.resources().len(), 1);
    assert!(gone.transfers().is_empty());
    assert_eq!(verify(&gone.snapshot(None)), []);
    state.apply(&Record::Stayed { transfer: "t1".into() }).unwrap();
    assert_eq!(state.snapshot(None), crate::Snapshot { serial: 2, ..source().snapshot(None) });
    state.apply(&forget).unwrap();
    assert!(state.apply(&Record::Stayed { transfer: "t1".into() }).is_err());
}

#[test]
fn resource_with_a_pending_operation_cannot_depart() {
    let mut state = source();
    let intent =
        Intent::Delete { key: "k".into(), copy: resource("z", &[]).copy(), after: crate::AfterDelete::Gone };
    state.apply(&Record::begin(state.next_op(), intent)).unwrap();
    assert_eq!(state.apply(&departure(&["z"])), Err(ReplayError::Departing(Uid("z".into()))));
    assert!(matches!(state.apply(&departure(&["missing"])), Err(ReplayError::UnknownCopy(_))));
    state.apply(&departure(&["a"])).unwrap();
    assert!(
        state.transfers().is_departing(&Uid("a".into())) && !state.transfers().is_departing(&Uid("z".into()))
    );
}

#[test]
fn arrival_with_a_taken_uid_or_name_is_refused() {
    let base = state("t", vec![resource("a", &[])]);
    let same_uid = Resource { name: resource("new", &[]).name, ..resource("a", &[]) };
    let same_name = Resource { uid: Uid("new".into()), ..resource("a", &[]) };
    for taken in [same_uid, same_name] {
        let arrival = Arrival { transfer: "t1".into(), from: place("dev") };
        let arrive = Record::Arrive { arrival, resources: vec![resource("z", &[]), taken.clone()] };
        let mut state = base.clone();
        assert_eq!(state.apply(&arrive), Err(ReplayError::NameOrUidTaken(taken.name)));
        assert_eq!(state.snapshot(None), base.snapshot(None));
    }
}

#[test]
fn arrived_resources_have_new_names_and_their_old_uids_and_marks() {
    let prod = "prod:acme".parse().unwrap();
    let moved: Vec<Resource> =
        ["a", "b", "kept"].map(|name| source().copies_of(&Uid(name.into())).next().unwrap().clone()).into();
    let moved: Vec<Resource> = moved.iter().map(|resource| relocated(resource, &prod)).collect();
    let arrive = Record::Arrive {
        arrival: Arrival { transfer: "t1".into(), from: place("dev") },
        resources: moved.clone(),
    };
    let mut target = state("t", vec![resource("other", &[])]);
    target.apply(&arrive).unwrap();
    assert_eq!(verify(&target.snapshot(None)), []);
    let kept = target.by_name(&"prod:acme:main:t.T#kept".parse().unwrap()).unwrap();
    assert!(kept.prevent_delete && kept.uid == Uid("kept".into()));
    assert_eq!(target.apply(&arrive), Err(ReplayError::UnknownTransfer("t1".into())));
    target.apply(&Record::Acknowledge { transfer: "t1".into() }).unwrap();
    assert!(target.transfers().is_empty());
    assert_eq!(target.apply(&arrive), Err(ReplayError::NameOrUidTaken(moved[0].name.clone())));
}

#[test]
fn snapshot_contains_unfinished_transfers() {
    let mut state = source();
    state.apply(&departure(&["z"])).unwrap();
    let (bytes, digest) = state.snapshot(None).encode();
    let read = Snapshot::decode(&bytes, &digest).unwrap();
    assert_eq!(read, state.snapshot(None));
    assert_eq!(State::from(read).transfers().departing.len(), 1);
}
