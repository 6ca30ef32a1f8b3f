//! The effect of single records: adoptions, settlements, deletions and observations.

use super::*;
use crate::rules::tests::{copy, resource, token, uid};

fn state(resources: Vec<Resource>) -> State {
    State::from(Snapshot { uids: 9, ..Snapshot::empty(StackId("s".into())) }.with(resources))
}

fn condemned(name: &str, generation: u32) -> Resource {
    Resource { lifecycle: Lifecycle::Condemned, ..resource(name, generation) }
}

#[test]
fn adoption_of_a_recorded_copy_or_a_taken_name_is_refused() {
    let adopt = |resource: Resource| Record::Adopt { resource: Box::new(resource) };
    let base = state(vec![resource("a", 1)]);
    let other_name = Resource { name: resource("b", 1).name, ..resource("a", 1) };
    let other_number = Resource { uid: uid("b"), ..resource("a", 1) };
    for known in [other_name, other_number] {
        let refused = base.clone().apply(&adopt(known.clone()));
        assert_eq!(refused, Err(ReplayError::AlreadyRecorded(known.copy())));
    }
    let mut state = base;
    apply(&mut state, &[adopt(resource("b", 1))]);
    assert_eq!(state.len(), 2);
}

#[test]
fn taken_name_is_refused_for_a_current_copy_and_allowed_for_a_condemned_one() {
    let base = state(vec![condemned("a", 1), resource("a", 2), resource("b", 1)]);
    let named_b = |copy: Resource| Resource { name: resource("b", 1).name, ..copy };
    let taken = base.clone().apply(&Record::Amend { resource: Box::new(named_b(resource("a", 2))) });
    assert_eq!(taken, Err(ReplayError::NameTaken(resource("b", 1).name)));
    let mut state = base;
    apply(&mut state, &[Record::Amend { resource: Box::new(named_b(condemned("a", 1))) }]);
    assert_eq!(state.by_name(&resource("b", 1).name).unwrap().uid, uid("b"));
}

/// Returns a state with resource `a` and one pending operation.
fn with_pending(intent: Intent) -> State {
    let mut state = state(vec![resource("a", 1)]);
    apply(&mut state, &[Record::begin(OpId(1), intent)]);
    state
}

fn settled(intent: Intent, settlement: Settlement) -> Result<State, ReplayError> {
    let mut state = with_pending(intent);
    state.apply(&Record::Settle { op: OpId(1), settlement })?;
    assert_eq!(state.pending().count(), 0);
    Ok(state)
}

#[test]
fn settlement_ends_each_kind_of_operation() {
    let create = || Intent::Create { key: "k".into(), resource: Box::new(resource("b", 1)) };
    let changed = Resource { inputs: [("n".to_owned(), Value::from(1))].into(), ..resource("a", 1) };
    let update =
        || Intent::Update { key: "k".into(), resource: Box::new(changed.clone()), previous: Map::new() };
    let delete = || Intent::Delete { key: "k".into(), copy: copy("a", 1), after: AfterDelete::Gone };
    let outputs: Map = [("out".to_owned(), Value::from(2))].into();
    let happened = |id: Option<&str>| {
        let id = id.map(|id| PhysicalId(id.to_owned()));
        Settlement::Happened { id, outputs: outputs.clone() }
    };
    let created = settled(create(), happened(Some("found"))).unwrap();
    let made = created.current(&uid("b")).unwrap();
    assert_eq!((made.id.as_ref().unwrap().as_str(), &made.outputs), ("found", &outputs));
    let without_id = settled(create(), happened(None));
    assert_eq!(without_id.err(), Some(ReplayError::OutcomeMismatch(OpId(1))));
    let updated = settled(update(), happened(None)).unwrap();
    let now = updated.current(&uid("a")).unwrap();
    assert_eq!((&now.inputs, &now.outputs), (&changed.inputs, &outputs));
    assert!(settled(delete(), happened(None)).unwrap().is_empty());
    for intent in [create(), update(), delete()] {
        let before = state(vec![resource("a", 1)]).snapshot(None).resources;
        assert_eq!(settled(intent, Settlement::DidNotHappen).unwrap().snapshot(None).resources, before);
    }
    let unknown = Record::Settle { op: OpId(7), settlement: Settlement::DidNotHappen };
    assert_eq!(with_pending(create()).apply(&unknown), Err(ReplayError::UnknownOperation(OpId(7))));
}

#[test]
fn deleted_current_copy_keeps_its_name_and_deleted_condemned_copy_is_removed() {
    let gone = |state: &State, name: &str, generation| {
        let (op, copy) = (state.next_op(), copy(name, generation));
        let intent = Intent::Delete { key: "k".into(), copy: copy.clone(), after: AfterDelete::Replacing };
        let deleted = vec![Record::begin(op, intent), Record::End { op, outcome: Outcome::Deleted }];
        [deleted, vec![Record::observed(copy, None, None)]]
    };
    let base = state(vec![condemned("a", 1), resource("a", 2)]);
    for records in gone(&base, "a", 2) {
        let mut state = base.clone();
        apply(&mut state, &records);
        let kept = state.by_name(&resource("a", 2).name).unwrap();
        assert_eq!((kept.generation, kept.lifecycle, &kept.id), (Generation(2), Lifecycle::Replacing, &None));
        assert_eq!(state.copies_of(&uid("a")).count(), 2);
        assert_eq!(verify(&state.snapshot(None)), []);
    }
    let alone = state(vec![resource("a", 2)]);
    for records in gone(&base, "a", 1) {
        let mut state = base.clone();
        apply(&mut state, &records);
        assert_eq!(state.snapshot(None).resources, alone.snapshot(None).resources);
    }
}

#[test]
fn observation_replaces_the_observed_properties_only() {
    let map = |value: i64| -> Map { [("n".to_owned(), Value::from(value))].into() };
    let base = Resource { inputs: map(1), outputs: map(2), ..resource("a", 1) };
    let observed = |inputs: Option<Map>, outputs: Option<Map>| {
        let mut state = state(vec![base.clone()]);
        apply(&mut state, &[Record::observed(copy("a", 1), inputs, outputs)]);
        let now = state.current(&uid("a")).unwrap();
        (now.inputs.clone(), now.outputs.clone())
    };
    assert_eq!(observed(Some(map(3)), None), (map(3), map(2)));
    assert_eq!(observed(None, Some(map(4))), (map(1), map(4)));
    assert_eq!(observed(Some(map(3)), Some(map(4))), (map(3), map(4)));
}

#[test]
fn alias_belongs_to_the_resource_that_declared_it_last() {
    let formerly = |name: &str, aliases: &[&str]| {
        let aliases = aliases.iter().map(|alias| resource(alias, 1).name).collect();
        Resource { ties: stead_model::Ties { aliases, ..Default::default() }, ..resource(name, 1) }
    };
    let mut state = state(vec![formerly("a", &["x", "y"]), resource("b", 1)]);
    apply(&mut state, &[Record::Amend { resource: Box::new(formerly("b", &["x"])) }]);
    assert_eq!(state.current(&uid("a")).unwrap().ties, formerly("a", &["y"]).ties);
    assert_eq!(state.by_former_name(&resource("x", 1).name), Some(&uid("b")));
    apply(&mut state, &[Record::Amend { resource: Box::new(formerly("b", &["x"])) }]);
    assert_eq!(
        state.current(&uid("b")).unwrap().ties,
        formerly("b", &["x"]).ties,
        "declaring it again changes nothing"
    );
    apply(&mut state, &[Record::Forget { copy: copy("b", 1), kept: None }]);
    assert_eq!(state.by_former_name(&resource("x", 1).name), None);
    assert_eq!(state.by_former_name(&resource("y", 1).name), Some(&uid("a")));
}

#[test]
fn removed_resource_frees_its_name_and_loses_all_ties_to_it() {
    let with = |uids: &[&str]| stead_model::Ties {
        replace_with: uids.iter().map(|name| uid(name)).collect(),
        ..Default::default()
    };
    let user = Resource { ties: with(&["a", "b"]), ..resource("c", 1) };
    let mut state = state(vec![resource("a", 1), resource("b", 1), user]);
    apply(&mut state, &[Record::Forget { copy: copy("a", 1), kept: None }]);
    assert_eq!(state.current(&uid("c")).unwrap().ties, with(&["b"]));
    let heir = Resource { uid: uid("heir"), ..resource("a", 1) };
    apply(&mut state, &[Record::Adopt { resource: Box::new(heir) }]);
    assert_eq!(state.by_name(&resource("a", 1).name).unwrap().uid, uid("heir"));
}

#[test]
fn token_belongs_to_a_pending_operation_until_its_end() {
    let mut state = state(vec![resource("a", 1), resource("b", 1)]);
    let delete =
        |name: &str| Intent::Delete { key: name.into(), copy: copy(name, 1), after: AfterDelete::Gone };
    let progress = |op: u64, text: &str| Record::Progress { op: OpId(op), token: token(text) };
    assert_eq!(state.apply(&progress(1, "t")), Err(ReplayError::UnknownOperation(OpId(1))));
    let begin = Record::Begin { op: OpId(1), intent: delete("a"), at: Some(7) };
    apply(&mut state, &[begin, Record::begin(OpId(2), delete("b")), progress(1, "t1"), progress(1, "t2")]);
    let told = |state: &State, op: u64| state.operation(OpId(op)).map(|one| (one.at, one.token.clone()));
    assert_eq!(told(&state, 1), Some((Some(7), Some(token("t2")))));
    assert_eq!(told(&state, 2), Some((None, None)));
    // Doubt keeps the token, and so does the next attempt.
    let doubt = Outcome::InDoubt { message: "no answer".into() };
    apply(&mut state, &[Record::End { op: OpId(1), outcome: doubt }, Record::Resume { op: OpId(1) }]);
    assert_eq!(told(&State::from(state.snapshot(None)), 1), Some((Some(7), Some(token("t2")))));
    apply(&mut state, &[Record::End { op: OpId(1), outcome: Outcome::Deleted }]);
    assert_eq!(state.apply(&progress(1, "t3")), Err(ReplayError::UnknownOperation(OpId(1))));
}
