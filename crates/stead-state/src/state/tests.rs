//! Replay of random histories gives the state of the run that wrote them; single cases by name.

mod fold;
mod queries;
mod versions;

use proptest::prelude::*;
use stead_model::{Digest, Epoch, PhysicalId, Seq, SourceRef, TypeToken, Value};

use stead_model::Generation;

use super::*;
use crate::{Batch, verify};

fn resource(name: u8, generation: u32) -> Resource {
    Resource {
        generation: Generation(generation),
        ..Resource::new(
            Uid(format!("u{name}")),
            format!("dev:main:t.T#r{name}").parse().unwrap(),
            TypeToken("t.T".into()),
            SourceRef { file: "main.ts".into(), line: 1, column: 1 },
        )
    }
}

fn empty() -> State {
    State::from(Snapshot::empty(StackId("s".into())))
}

fn create(op: u64, name: u8, generation: u32) -> [Record; 2] {
    let intent = Intent::Create { key: format!("k{op}"), resource: Box::new(resource(name, generation)) };
    let id = PhysicalId(format!("{name}-{generation}"));
    let outcome = Outcome::created(id, [("n".to_owned(), Value::from(op as i64))].into());
    [Record::begin(OpId(op), intent), Record::End { op: OpId(op), outcome }]
}

fn apply(state: &mut State, records: &[Record]) {
    records.iter().for_each(|record| state.apply(record).unwrap());
}

#[test]
fn replacement_condemns_the_old_copy_and_its_deletion_leaves_the_new_one() {
    let mut state = empty();
    apply(&mut state, &[Record::Reserve { uids: 1 }]);
    apply(&mut state, &create(1, 0, 1));
    apply(&mut state, &create(2, 0, 2));
    let name = resource(0, 1).name;
    assert_eq!(state.by_name(&name).unwrap().generation, Generation(2));
    let old = resource(0, 1).copy();
    assert_eq!(state.copy(&old).unwrap().lifecycle, Lifecycle::Condemned);
    let intent = Intent::Delete { key: "d".into(), copy: old.clone(), after: AfterDelete::Gone };
    apply(
        &mut state,
        &[Record::begin(OpId(3), intent), Record::End { op: OpId(3), outcome: Outcome::Deleted }],
    );
    assert!(state.copy(&old).is_none());
    assert_eq!(state.resolve(&old).unwrap().generation, Generation(2));
    assert_eq!(state.by_name(&name).unwrap().generation, Generation(2));
    assert_eq!(verify(&state.snapshot(None)), []);
}

#[test]
fn operation_without_an_end_is_pending_and_then_in_doubt() {
    let mut state = empty();
    let [begin, end] = create(1, 0, 1);
    apply(&mut state, std::slice::from_ref(&begin));
    assert!(state.by_name(&resource(0, 1).name).is_none(), "a pending create is not a resource");
    state.mark_pending_in_doubt();
    assert!(state.pending().next().unwrap().doubt.is_some());
    apply(&mut state, &[Record::Resume { op: OpId(1) }, end]);
    assert!(state.by_name(&resource(0, 1).name).is_some());
    assert_eq!(state.apply(&begin), Err(ReplayError::RepeatedOperation(OpId(1))));
}

#[test]
fn impossible_record_is_refused() {
    let mut state = empty();
    let [_, end] = create(1, 0, 1);
    assert_eq!(state.apply(&end), Err(ReplayError::UnknownOperation(OpId(1))));
    let amend = Record::Amend { resource: Box::new(resource(0, 1)) };
    assert!(matches!(state.apply(&amend), Err(ReplayError::UnknownCopy(_))));
    let [begin, _] = create(1, 0, 1);
    apply(&mut state, &[begin]);
    let odd = Record::End { op: OpId(1), outcome: Outcome::Deleted };
    assert_eq!(state.apply(&odd), Err(ReplayError::OutcomeMismatch(OpId(1))));
}

/// Turns random numbers into a history that a run could have written.
fn history(draws: &[(u8, u8)]) -> Vec<Record> {
    let mut state = empty();
    let mut records = vec![Record::Reserve { uids: 8 }];
    for (op, (name, kind)) in (1u64..).zip(draws) {
        let name = name % 8;
        let current = state.by_name(&resource(name, 1).name).cloned();
        let step: Vec<Record> = match (kind % 5, current) {
            (0, None) => create(op, name, 1).into(),
            (1, None)
                if !state.pending().any(|pending| pending.intent.copy().uid == resource(name, 1).uid) =>
            {
                create(op, name, 1)[..1].to_vec()
            }
            (_, None) => continue,
            (0 | 1, Some(current)) => create(op, name, current.generation.0 + 1).into(),
            (2, Some(current)) => {
                let intent = Intent::Update {
                    key: format!("k{op}"),
                    previous: current.inputs.clone(),
                    resource: Box::new(current),
                };
                let outputs = [("n".to_owned(), Value::from(op as i64))].into();
                let outcome = Outcome::updated(outputs);
                vec![Record::begin(OpId(op), intent), Record::End { op: OpId(op), outcome }]
            }
            (kind, Some(current)) => {
                let after = if kind == 3 { AfterDelete::Gone } else { AfterDelete::Replacing };
                let intent = Intent::Delete { key: format!("k{op}"), copy: current.copy(), after };
                let outcome = if current.lifecycle == Lifecycle::Replacing {
                    Outcome::Failed { message: "already gone".into() }
                } else {
                    Outcome::Deleted
                };
                vec![Record::begin(OpId(op), intent), Record::End { op: OpId(op), outcome }]
            }
        };
        step.iter().for_each(|record| state.apply(record).unwrap());
        records.extend(step);
    }
    records
}

proptest! {
    #[test]
    fn replaying_in_any_batches_gives_the_same_bytes(
        draws in proptest::collection::vec(any::<(u8, u8)>(), 0..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let records = history(&draws);
        let mut whole = empty();
        apply(&mut whole, &records);
        // The same history, with a snapshot stored and read again half-way.
        let at = cut.index(records.len() + 1).min(records.len());
        let mut first = empty();
        apply(&mut first, &records[..at]);
        let (bytes, digest) = first.snapshot(None).encode();
        let mut second = State::from(Snapshot::decode(&bytes, &digest).unwrap());
        let batch = Batch {
            epoch: Epoch(1), seq: Seq(0), previous: None, write_id: "w".into(),
            records: records[at..].to_vec(),
        };
        apply(&mut second, &Batch::decode(&batch.encode()).unwrap().records);
        prop_assert_eq!(whole.snapshot(None).encode(), second.snapshot(None).encode());
    }

    #[test]
    fn changed_byte_of_a_batch_or_a_snapshot_is_detected(
        draws in proptest::collection::vec(any::<(u8, u8)>(), 1..6),
        at in any::<prop::sample::Index>(),
        mask in 1u8..=255,
    ) {
        let records = history(&draws);
        let batch = Batch { epoch: Epoch(1), seq: Seq(0), previous: Some(Digest::of(b"x")), write_id: "w".into(), records };
        let mut bytes = batch.encode();
        let at_byte = at.index(bytes.len());
        bytes[at_byte] ^= mask;
        prop_assert!(Batch::decode(&bytes).is_err());
        let mut state = empty();
        apply(&mut state, &history(&draws));
        let (mut bytes, digest) = state.snapshot(None).encode();
        let at_byte = at.index(bytes.len());
        bytes[at_byte] ^= mask;
        prop_assert!(Snapshot::decode(&bytes, &digest).is_err());
    }
}
