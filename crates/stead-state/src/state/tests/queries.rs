//! Queries on a state.

use stead_model::Ties;

use super::*;
use crate::rules::tests::{copy, depends, resource, tied, uid};
use crate::{Departure, StackRef};

fn old_name() -> Name {
    resource("before", 1).name
}

/// Two copies of `a`, the older one condemned; `b` is deleted with it, `c` has it as parent; a create, an update and a
/// delete are pending.
fn snapshot() -> Snapshot {
    let old = Resource { lifecycle: Lifecycle::Condemned, ..resource("a", 1) };
    let new = tied(resource("a", 2), Ties { aliases: vec![old_name()], ..Ties::default() });
    let within = Ties { deleted_with: Some(uid("a")), ..Ties::default() };
    let below = Ties { parent: Some(uid("a")), ..Ties::default() };
    let resources = vec![old, new, tied(resource("b", 1), within), tied(resource("c", 1), below)];
    let intents = [
        Intent::Create { key: "1".into(), resource: Box::new(depends(resource("d", 1), "a", 2)) },
        Intent::Update { key: "2".into(), resource: Box::new(resource("c", 1)), previous: Map::new() },
        Intent::Delete { key: "3".into(), copy: copy("a", 1), after: AfterDelete::Gone },
    ];
    let pending = |(op, intent): (u64, Intent)| Pending::new(OpId(op), intent);
    let departure = Departure {
        transfer: "t".into(),
        to: StackRef { environment: "prod".into(), target: "local".into() },
        uids: vec![uid("b")],
    };
    Snapshot {
        uids: 5,
        next_op: OpId(4),
        outputs: [("n".to_owned(), Value::from(1))].into(),
        pending: (1..).zip(intents).map(pending).collect(),
        transfers: Transfers { departing: vec![departure], arrived: Vec::new() },
        pinfile: Some(["t.T.a".to_owned()].into()),
        ..Snapshot::empty(StackId("s".into())).with(resources)
    }
}

#[test]
fn state_returns_the_content_of_its_snapshot() {
    let (state, snapshot) = (State::from(snapshot()), snapshot());
    assert_eq!(verify(&snapshot), []);
    assert_eq!(state.snapshot(None), snapshot);
    assert_eq!((state.stack(), state.uids(), state.next_op()), (&snapshot.stack, 5, OpId(4)));
    assert_eq!((state.outputs(), state.transfers()), (&snapshot.outputs, &snapshot.transfers));
    assert_eq!(state.pinfile(), snapshot.pinfile.as_ref());
    assert_eq!(state.pending().cloned().collect::<Vec<_>>(), snapshot.pending);
    let sorted: Vec<&Resource> = snapshot.resources.iter().map(AsRef::as_ref).collect();
    assert_eq!(state.resources(), sorted);
    assert_eq!((state.len(), state.is_empty(), empty().len(), empty().is_empty()), (3, false, 0, true));
}

#[test]
fn copy_is_found_by_reference_by_uid_and_by_name() {
    let state = State::from(snapshot());
    let generation = |found: Option<&Resource>| found.map(|resource| resource.generation.0);
    assert_eq!(generation(state.by_name(&resource("a", 1).name)), Some(2));
    assert_eq!(generation(state.by_name(&old_name())), None);
    assert_eq!(
        (state.by_former_name(&old_name()), state.by_former_name(&resource("a", 1).name)),
        (Some(&uid("a")), None)
    );
    assert_eq!(generation(state.current(&uid("a"))), Some(2));
    assert_eq!(generation(state.copy(&copy("a", 1))), Some(1));
    assert_eq!(generation(state.copy(&copy("a", 3))), None);
    let resolved = [1, 2, 3].map(|number| generation(state.resolve(&copy("a", number))));
    assert_eq!(resolved, [Some(1), Some(2), Some(2)]);
    assert_eq!(state.copies_of(&uid("a")).map(|copy| copy.generation.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(state.copies_of(&uid("z")).count(), 0);
    let mut alone = State::from(snapshot());
    alone.remove(&copy("a", 2), Removal::Forgotten, &mut Touched::new());
    assert_eq!(generation(alone.current(&uid("a"))), None, "only a condemned copy is left");
}

#[test]
fn deleted_with_lists_contained_copies_and_subject_names_the_resource_of_an_operation() {
    let state = State::from(snapshot());
    let contained: Vec<&Uid> = state.deleted_with(&uid("a")).map(|resource| &resource.uid).collect();
    assert_eq!(contained, [&uid("b")], "a parent is no container");
    let subjects: Vec<Option<Name>> = state.pending().map(|pending| state.subject(&pending.intent)).collect();
    assert_eq!(subjects, ["d", "c", "a"].map(|name| Some(resource(name, 1).name)));
    let gone = Intent::Delete { key: "k".into(), copy: copy("z", 1), after: AfterDelete::Gone };
    assert_eq!(state.subject(&gone), None);
}

#[test]
fn retained_resource_is_listed_until_it_is_managed_again() {
    let mut state =
        State::from(Snapshot { pending: Vec::new(), transfers: Transfers::default(), ..snapshot() });
    let reason = RetainReason { run: stead_model::RunId("run-1".into()), source: None };
    let forget = |name: &str, generation| Record::Forget {
        copy: copy(name, generation),
        kept: Some(Box::new(reason.clone())),
    };
    apply(&mut state, &[forget("b", 1), forget("c", 1)]);
    let listed = |state: &State| state.retained().map(|found| found.id.to_string()).collect::<Vec<_>>();
    assert_eq!(listed(&state), ["b-1", "c-1"]);
    assert_eq!(State::from(state.snapshot(None)).snapshot(None), state.snapshot(None));
    apply(&mut state, &[Record::Adopt { resource: Box::new(resource("b", 1)) }]);
    assert_eq!(listed(&state), ["c-1"]);
    // A forgotten old copy is not listed if the new copy has the same id.
    let same = Resource { id: resource("a", 1).id, ..state.copy(&copy("a", 2)).unwrap().clone() };
    let mut shared = state.clone();
    apply(&mut shared, &[Record::Amend { resource: Box::new(same) }, forget("a", 1)]);
    assert_eq!(listed(&shared), ["c-1"]);
    apply(&mut state, &[forget("a", 1)]);
    assert_eq!(listed(&state), ["a-1", "c-1"]);
}
