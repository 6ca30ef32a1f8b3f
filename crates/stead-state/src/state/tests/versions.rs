//! The version of each record: the serial of the stack at its last change.

use stead_model::{ProviderData, Ties};

use super::*;
use crate::rules::tests::{copy, resource, tied, uid};

fn state(resources: Vec<Resource>) -> State {
    let empty = Snapshot { uids: 9, serial: 10, ..Snapshot::empty(StackId("s".into())) };
    State::from(empty.with(resources))
}

/// Returns the versions of all copies, by name and generation.
fn versions(state: &State) -> Vec<(String, u32, u64)> {
    let version = |resource: &&Resource| {
        (resource.uid.as_str().replace("uid-", ""), resource.generation.0, resource.version)
    };
    state.resources().iter().map(version).collect()
}

fn amend(resource: Resource) -> Record {
    Record::Amend { resource: Box::new(resource) }
}

#[test]
fn record_raises_the_serial_and_the_versions_of_the_copies_that_it_changes() {
    let mut state = state(vec![resource("a", 1), resource("b", 1)]);
    apply(&mut state, &[Record::Reserve { uids: 9 }, amend(resource("a", 1)), Record::Seal { by: Epoch(3) }]);
    assert_eq!(state.serial(), 12, "a seal is no change");
    assert_eq!(versions(&state), [("a".into(), 1, 12), ("b".into(), 1, 0)]);
    let create = Intent::Create { key: "k".into(), resource: Box::new(resource("a", 2)) };
    let begin = Record::begin(OpId(1), create);
    let outcome = Outcome::created(PhysicalId("i".into()), Map::new());
    apply(&mut state, &[begin, Record::End { op: OpId(1), outcome }]);
    let replaced = [("a".into(), 1, 14), ("a".into(), 2, 14), ("b".into(), 1, 0)];
    assert_eq!(versions(&state), replaced, "the condemned copy changed, too");
}

#[test]
fn lost_alias_and_lost_tie_change_the_version_of_the_loser() {
    let former = || Ties { aliases: vec![resource("old", 1).name], ..Ties::default() };
    let mut state = state(vec![tied(resource("a", 1), former()), resource("b", 1)]);
    apply(&mut state, &[amend(tied(resource("b", 1), former()))]);
    assert_eq!(versions(&state), [("a".into(), 1, 11), ("b".into(), 1, 11)]);
    let child = tied(resource("a", 1), Ties { parent: Some(uid("b")), ..Ties::default() });
    apply(&mut state, &[amend(child), Record::Forget { copy: copy("b", 1), kept: None }]);
    assert_eq!(versions(&state), [("a".into(), 1, 13)]);
}

#[test]
fn version_in_a_record_of_the_journal_has_no_effect() {
    let mut state = state(vec![resource("a", 1)]);
    apply(&mut state, &[amend(Resource { version: 99, ..resource("a", 1) })]);
    assert_eq!(versions(&state), [("a".into(), 1, 11)]);
}

#[test]
fn data_of_the_provider_stays_until_the_provider_has_new_data() {
    let data = |version: u64| ProviderData { schema_version: Some(version), ..ProviderData::default() };
    let old = Resource { provider_data: Some(data(1).into()), ..resource("a", 1) };
    let mut state = state(vec![old.clone()]);
    let update = |op: u64| {
        let (key, resource) = (op.to_string(), Box::new(old.clone()));
        Record::begin(OpId(op), Intent::Update { key, resource, previous: Map::new() })
    };
    let kept = |state: &State| state.copy(&copy("a", 1)).unwrap().provider_data.as_deref().cloned();
    apply(&mut state, &[update(1), Record::End { op: OpId(1), outcome: Outcome::updated(Map::new()) }]);
    apply(&mut state, &[Record::observed(copy("a", 1), Some(Map::new()), None)]);
    assert_eq!(kept(&state), Some(data(1)));
    let outcome = Outcome::Updated { outputs: Map::new(), provider_data: Some(data(2).into()) };
    apply(&mut state, &[update(2), Record::End { op: OpId(2), outcome }]);
    assert_eq!(kept(&state), Some(data(2)));
    let (inputs, outputs, provider_data) = (Some(Map::new()), None, Some(data(3).into()));
    apply(&mut state, &[Record::Observed { copy: copy("a", 1), inputs, outputs, provider_data }]);
    assert_eq!(kept(&state), Some(data(3)));
}

#[test]
fn successor_of_a_state_has_a_higher_serial_and_new_versions_where_it_differs() {
    let versioned = |name: &str, version| Resource { version, ..resource(name, 1) };
    let before = state(vec![versioned("a", 7), versioned("b", 8)]).snapshot(None);
    let b = Resource { pinned: true, ..versioned("b", 8) };
    let after = Snapshot { serial: 3, ..before.clone() }.with(vec![versioned("a", 2), b, versioned("c", 1)]);
    let next = State::from(after.clone().succeeding(Some(&before)));
    assert_eq!(next.serial(), 11);
    assert_eq!(versions(&next), [("a".into(), 1, 7), ("b".into(), 1, 11), ("c".into(), 1, 11)]);
    let alone = State::from(after.succeeding(None));
    assert_eq!(versions(&alone), [("a".into(), 1, 4), ("b".into(), 1, 4), ("c".into(), 1, 4)]);
}
