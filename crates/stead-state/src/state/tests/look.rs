//! What a state says of what it holds.

use stead_model::Ties;

use super::*;
use crate::rules::tests::{copy, depends, resource, tied, uid};
use crate::{Departure, StackRef};

fn old_name() -> Name {
    resource("before", 1).name
}

/// `a` twice, the older one condemned; `b` inside it, `c` below it; a create, an update and a delete under way.
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
    let pending = |(op, intent): (u64, Intent)| Pending { op: OpId(op), intent, doubt: None };
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
fn a_state_says_what_its_snapshot_holds() {
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
fn a_copy_is_found_by_itself_by_its_resource_and_by_its_name() {
    let state = State::from(snapshot());
    let generation = |found: Option<&Resource>| found.map(|resource| resource.generation.0);
    assert_eq!(generation(state.by_name(&resource("a", 1).name)), Some(2));
    assert_eq!(generation(state.by_name(&old_name())), None);
    assert_eq!(
        (state.formerly(&old_name()), state.formerly(&resource("a", 1).name)),
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
    alone.remove(&copy("a", 2), Ending::Forgotten, &mut Touched::new());
    assert_eq!(generation(alone.current(&uid("a"))), None, "only a condemned copy is left");
}

#[test]
fn what_is_inside_another_and_what_an_operation_is_about() {
    let state = State::from(snapshot());
    let inside: Vec<&Uid> = state.inside(&uid("a")).map(|resource| &resource.uid).collect();
    assert_eq!(inside, [&uid("b")], "not what is only below it");
    let subjects: Vec<Option<Name>> = state.pending().map(|pending| state.subject(&pending.intent)).collect();
    assert_eq!(subjects, ["d", "c", "a"].map(|name| Some(resource(name, 1).name)));
    let gone = Intent::Delete { key: "k".into(), copy: copy("z", 1), after: AfterDelete::Gone };
    assert_eq!(state.subject(&gone), None);
}

#[test]
fn what_was_let_go_of_is_listed_until_it_is_managed_again() {
    let mut state =
        State::from(Snapshot { pending: Vec::new(), transfers: Transfers::default(), ..snapshot() });
    let kept = Kept { run: stead_model::RunId("run-1".into()), source: None };
    let forget = |name: &str, generation| Record::Forget {
        copy: copy(name, generation),
        kept: Some(Box::new(kept.clone())),
    };
    apply(&mut state, &[forget("b", 1), forget("c", 1)]);
    let listed = |state: &State| state.retained().map(|found| found.id.to_string()).collect::<Vec<_>>();
    assert_eq!(listed(&state), ["b-1", "c-1"]);
    assert_eq!(State::from(state.snapshot(None)).snapshot(None), state.snapshot(None));
    apply(&mut state, &[Record::Adopt { resource: Box::new(resource("b", 1)) }]);
    assert_eq!(listed(&state), ["c-1"]);
    // An old copy whose real thing the new one is goes without a word; another's is listed.
    let same = Resource { id: resource("a", 1).id, ..state.copy(&copy("a", 2)).unwrap().clone() };
    let mut shared = state.clone();
    apply(&mut shared, &[Record::Note { resource: Box::new(same) }, forget("a", 1)]);
    assert_eq!(listed(&shared), ["c-1"]);
    apply(&mut state, &[forget("a", 1)]);
    assert_eq!(listed(&state), ["a-1", "c-1"]);
}
