//! `VerifiedState` accepts a record exactly if `verify` accepts the whole state, at a cost that depends on the record
//! alone.

use std::collections::BTreeSet;

use proptest::prelude::*;
use stead_model::{Generation, Lifecycle, Map, PhysicalId, Resource, StackId, Ties, TypeToken};

use super::*;
use crate::rules::tests::{copy, depends, resource, tied, token, uid};
use crate::{AfterDelete, Outcome, Snapshot};

/// Random numbers that determine a record, valid or not.
type Draw = (u8, u8, u8, u8, u16);

fn letter(number: u8) -> &'static str {
    ["a", "b", "c", "d", "e", "p"][usize::from(number) % 6]
}

/// Returns a copy with random references, some of them to missing resources.
fn drawn(state: &State, name: u8, generation: u32, bits: u16) -> Resource {
    let mut made = resource(letter(name), generation);
    if letter(name) == "p" {
        made.ty = TypeToken("t.Provider".into());
        made.name = "dev:main:t.Provider#p".parse().unwrap();
    }
    let other = letter((bits >> 4) as u8);
    let newest = state.copies_of(&uid(other)).last().map_or(1, |copy| copy.generation.0);
    let mut ties = Ties::default();
    match bits % 16 {
        0..=3 => made = depends(made, other, newest),
        4 => made = depends(made, other, newest + 1),
        5 => made = depends(made, other, newest.saturating_sub(1).max(1)),
        6 => ties.parent = Some(uid(other)),
        7 => ties.deleted_with = Some(uid(other)),
        8 => ties.replace_with = vec![uid(other)],
        9 => ties.provider = Some(copy(other, newest)),
        10 => ties.aliases = vec!["dev:main:t.T#old".parse().unwrap()],
        11 => made.name = format!("dev:main:t.T#{other}").parse().unwrap(),
        _ => {}
    }
    tied(made, ties)
}

fn record(state: &State, (kind, name, generation, op, bits): Draw) -> Record {
    let newest = state.copies_of(&uid(letter(name))).last().map_or(0, |copy| copy.generation.0);
    let next = drawn(state, name, newest + 1, bits);
    let known = drawn(state, name, newest.max(1), bits);
    let pending: Vec<&Pending> = state.pending().collect();
    let chosen =
        pending.get(usize::from(op) % pending.len().max(1)).map(|pending| (pending.op, &pending.intent));
    let key = format!("k{}", state.next_op());
    let begin = |intent| Record::begin(state.next_op(), intent);
    let older = copy(letter(name), u32::from(generation % 3) + 1);
    match (kind % 15, chosen) {
        (0 | 1, _) => begin(Intent::Create { key, resource: Box::new(Resource { id: None, ..next }) }),
        (2, _) => begin(Intent::Update { key, resource: Box::new(known), previous: Map::new() }),
        (3, _) => begin(Intent::Delete { key, copy: known.copy(), after: AfterDelete::Gone }),
        (4, _) => begin(Intent::Delete { key, copy: older, after: AfterDelete::Replacing }),
        (5..=9, Some((op, intent))) => Record::End { op, outcome: fitting(intent) },
        (10, _) => Record::Amend { resource: Box::new(known) },
        (11, _) => {
            let lifecycle = [Lifecycle::Live, Lifecycle::Condemned][usize::from(op) % 2];
            let generation = older.generation;
            Record::Amend { resource: Box::new(Resource { generation, lifecycle, ..known }) }
        }
        (13, Some((op, _))) => Record::Progress { op, token: token(letter(name)) },
        (12, _) => Record::Forget { copy: older, kept: None },
        _ => Record::observed(known.copy(), None, None),
    }
}

fn fitting(intent: &Intent) -> Outcome {
    match intent {
        Intent::Create { resource, .. } => {
            let id = PhysicalId(resource.copy().to_string());
            Outcome::created(id, Map::new())
        }
        Intent::Update { .. } => Outcome::updated(Map::new()),
        Intent::Delete { .. } => Outcome::Deleted,
    }
}

fn empty(uids: u64) -> Snapshot {
    Snapshot { uids, ..Snapshot::empty(StackId("s".into())) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2 * ProptestConfig::default().cases))]

    #[test]
    fn record_is_accepted_exactly_if_the_whole_state_keeps_the_rules(
        draws in proptest::collection::vec(any::<Draw>(), 1..60),
        uids in 3u64..8,
    ) {
        let mut verified = VerifiedState::new(State::from(empty(uids))).unwrap();
        for draw in draws {
            let record = record(verified.state(), draw);
            let mut whole = verified.state().clone();
            let mut next = verified.clone();
            let (folded, verdict) = (whole.apply(&record), next.apply(&record));
            match (folded, verdict) {
                (Err(error), verdict) => prop_assert_eq!(verdict, Err(ApplyError::Replay(error))),
                (Ok(()), verdict) => {
                    let broken: BTreeSet<&str> =
                        verify(&whole.snapshot(None)).iter().map(|found| found.rule).collect();
                    let found: BTreeSet<&str> = match &verdict {
                        Err(ApplyError::Rules(violations)) => violations.iter().map(|found| found.rule).collect(),
                        _ => BTreeSet::new(),
                    };
                    prop_assert_eq!(&found, &broken, "{:?}", record);
                    if verdict.is_ok() {
                        prop_assert!(next.ranks_hold(), "{:?}", record);
                        verified = next;
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2 * ProptestConfig::default().cases))]

    /// Adds and removes random dependencies among twelve resources, so that long chains are reversed often.
    #[test]
    fn cycles_are_found_and_ranks_hold_while_dependencies_change(
        draws in proptest::collection::vec((0..12usize, 0..12usize), 1..120),
    ) {
        let mut resources: Vec<Resource> = (0..12).map(|at| resource(&format!("n{at}"), 1)).collect();
        resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let mut verified = VerifiedState::new(State::from(empty(12).with(resources))).unwrap();
        for (user, need) in draws {
            let mut changed = verified.state().current(&uid(&format!("n{user}"))).unwrap().clone();
            let need = copy(&format!("n{need}"), 1);
            match changed.dependencies.binary_search(&need) {
                Ok(at) => drop(changed.dependencies.remove(at)),
                Err(at) => changed.dependencies.insert(at, need),
            }
            let record = Record::Amend { resource: Box::new(changed) };
            let mut whole = verified.state().clone();
            whole.apply(&record).unwrap();
            let mut next = verified.clone();
            prop_assert_eq!(next.apply(&record).is_ok(), verify(&whole.snapshot(None)).is_empty());
            if verify(&whole.snapshot(None)).is_empty() {
                prop_assert!(next.ranks_hold());
                verified = next;
            }
        }
    }
}

/// Returns the accepted records of a random history, and the final state.
fn history(draws: Vec<Draw>) -> (Vec<Record>, VerifiedState) {
    let mut verified = VerifiedState::new(State::from(empty(8))).unwrap();
    let mut records = Vec::new();
    for draw in draws {
        let record = record(verified.state(), draw);
        let mut next = verified.clone();
        if next.apply(&record).is_ok() {
            verified = next;
            records.push(record);
        }
    }
    (records, verified)
}

proptest! {
    #[test]
    fn state_does_not_depend_on_how_a_history_is_split_into_batches_and_snapshots(
        draws in proptest::collection::vec(any::<Draw>(), 1..60),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..5),
    ) {
        let (records, running) = history(draws);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(records.len() + 1)).collect();
        cuts.extend([0, records.len()]);
        cuts.sort_unstable();
        let mut snapshot = empty(8);
        for (seq, pair) in (0..).zip(cuts.windows(2)) {
            let records = records[pair[0]..pair[1]].to_vec();
            let (epoch, seq) = (stead_model::Epoch(1), stead_model::Seq(seq));
            let batch = crate::Batch { epoch, seq, previous: None, write_id: "w".into(), records };
            let mut state = State::from(snapshot);
            for record in crate::Batch::decode(&batch.encode()).unwrap().records {
                state.apply(&record).unwrap();
            }
            let (bytes, digest) = state.snapshot(None).encode();
            snapshot = Snapshot::decode(&bytes, &digest).unwrap();
        }
        prop_assert_eq!(snapshot, running.state().snapshot(None));
    }
}

/// Returns a state of chains of ten resources, each of which depends on one hub.
fn blocks(count: usize) -> VerifiedState {
    let mut resources = vec![resource("hub", 1)];
    for at in 0..count {
        let mut made = depends(resource(&format!("r{at}"), 1), "hub", 1);
        if at % 10 != 0 {
            made = depends(made, &format!("r{}", at - 1), 1);
        }
        made.dependencies.sort_unstable();
        resources.push(made);
    }
    resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    let state = State::from(empty(2 * count as u64).with(resources));
    VerifiedState::new(state).unwrap()
}

/// Returns the number of checks for each kind of step.
fn costs(count: usize) -> Vec<u64> {
    let mut verified = blocks(count);
    let middle = |generation| {
        let mut made = depends(depends(resource("r55", generation), "hub", 1), "r54", 1);
        made.dependencies.sort_unstable();
        made
    };
    let leaf = depends(depends(resource("new", 1), "hub", 1), "r59", 1);
    let steps = [
        Intent::Create { key: "1".into(), resource: Box::new(leaf) },
        Intent::Update { key: "2".into(), resource: Box::new(middle(1)), previous: Map::new() },
        Intent::Create { key: "3".into(), resource: Box::new(middle(2)) },
        Intent::Delete { key: "4".into(), copy: copy("r55", 1), after: AfterDelete::Gone },
        Intent::Delete { key: "5".into(), copy: copy("new", 1), after: AfterDelete::Gone },
    ];
    let mut costs = Vec::new();
    for (op, intent) in (1..).map(OpId).zip(steps) {
        let before = verified.checks();
        let outcome = fitting(&intent);
        verified.apply(&Record::begin(op, intent)).unwrap();
        verified.apply(&Record::End { op, outcome }).unwrap();
        costs.push(verified.checks() - before);
    }
    costs
}

#[test]
fn number_of_checks_does_not_depend_on_the_size_of_the_state() {
    let costs = [100, 1_000, 10_000].map(costs);
    assert_eq!(costs[0], costs[1]);
    assert_eq!(costs[1], costs[2]);
    assert!(costs[0].iter().all(|cost| (1..200).contains(cost)), "{:?}", costs[0]);
}

fn refused(verified: &mut VerifiedState, record: &Record) -> Vec<&'static str> {
    match verified.apply(record) {
        Err(ApplyError::Rules(violations)) => violations.iter().map(|violation| violation.rule).collect(),
        other => panic!("{record:?}: {other:?}"),
    }
}

#[test]
fn removal_checks_the_copies_that_refer_to_the_removed_one() {
    let resources = vec![resource("a", 1), depends(resource("b", 1), "a", 1)];
    let mut verified = VerifiedState::new(State::from(empty(2).with(resources))).unwrap();
    assert_eq!(refused(&mut verified, &Record::Forget { copy: copy("a", 1), kept: None }), ["S06"]);
}

#[test]
fn removal_checks_the_pending_operations_that_refer_to_the_removed_copy() {
    let resources = vec![resource("a", 1), resource("b", 1)];
    let base = VerifiedState::new(State::from(empty(3).with(resources))).unwrap();
    let (key, previous) = (|| "k".to_owned(), Map::new());
    let made = |name: &str| Box::new(depends(resource(name, 1), "a", 1));
    let provided = Ties { provider: Some(copy("a", 1)), ..Ties::default() };
    for intent in [
        Intent::Delete { key: key(), copy: copy("a", 1), after: AfterDelete::Gone },
        Intent::Update { key: key(), resource: Box::new(resource("a", 1)), previous: previous.clone() },
        Intent::Update { key: key(), resource: made("b"), previous },
        Intent::Create { key: key(), resource: made("c") },
        Intent::Create { key: key(), resource: Box::new(tied(resource("c", 1), provided)) },
    ] {
        let mut verified = base.clone();
        verified.apply(&Record::begin(OpId(1), intent.clone())).unwrap();
        let forget = Record::Forget { copy: copy("a", 1), kept: None };
        assert_eq!(refused(&mut verified, &forget), ["S09"], "{intent:?}");
    }
}

#[test]
fn change_of_one_copy_checks_all_copies_of_the_resource() {
    let amend = |generation: u32, lifecycle: Lifecycle| Record::Amend {
        resource: Box::new(Resource { lifecycle, ..resource("a", generation) }),
    };
    let old = Resource { lifecycle: Lifecycle::Condemned, ..resource("a", 1) };
    let mut verified = VerifiedState::new(State::from(empty(1).with(vec![old, resource("a", 2)]))).unwrap();
    assert_eq!(refused(&mut verified.clone(), &amend(1, Lifecycle::Live)), ["S02"], "two would be current");
    verified.apply(&amend(2, Lifecycle::Condemned)).unwrap();
    assert_eq!(refused(&mut verified, &amend(1, Lifecycle::Live)), ["S05"], "an older one would be current");
}

#[test]
fn second_pending_operation_with_the_same_copy_key_or_name_is_refused() {
    let delete = |key: &str, name: &str| Intent::Delete {
        key: key.into(),
        copy: copy(name, 1),
        after: AfterDelete::Gone,
    };
    let create = |key: &str, number: &str| {
        let resource = Resource { uid: uid(number), ..resource("new", 1) };
        Intent::Create { key: key.into(), resource: Box::new(resource) }
    };
    let resources = vec![resource("a", 1), resource("b", 1)];
    let base = VerifiedState::new(State::from(empty(4).with(resources))).unwrap();
    for (first, second) in [
        (delete("1", "a"), delete("2", "a")),
        (delete("1", "a"), delete("1", "b")),
        (create("1", "new"), create("2", "other")),
    ] {
        let mut verified = base.clone();
        verified.apply(&Record::begin(OpId(1), first.clone())).unwrap();
        let begin = Record::begin(OpId(2), second);
        assert_eq!(refused(&mut verified.clone(), &begin), ["S22"]);
        let outcome = Outcome::Failed { message: "no".into() };
        verified.apply(&Record::End { op: OpId(1), outcome }).unwrap();
        verified.apply(&begin).unwrap();
    }
}

#[test]
fn initial_ranks_follow_the_dependencies() {
    let chain = vec![depends(resource("a", 1), "b", 1), depends(resource("b", 1), "c", 1), resource("c", 1)];
    assert!(VerifiedState::new(State::from(empty(3).with(chain))).unwrap().ranks_hold());
}

#[test]
fn slots_of_removed_copies_are_reused() {
    let mut verified = VerifiedState::new(State::from(empty(99))).unwrap();
    for name in (0..50).map(|number| format!("r{number}")) {
        verified.apply(&Record::Adopt { resource: Box::new(resource(&name, 1)) }).unwrap();
        verified.apply(&Record::Forget { copy: copy(&name, 1), kept: None }).unwrap();
    }
    assert_eq!(verified.index.slot_count(), 1);
}

#[test]
fn every_check_is_counted() {
    let checks = |kind: fn(&Check) -> bool| {
        RULES.iter().flat_map(|rule| rule.checks).filter(|check| kind(check)).count() as u64
    };
    let (of_copy, of_resource) = (
        checks(|check| matches!(check, Check::Copy(_))),
        checks(|check| matches!(check, Check::AllCopies(_))),
    );
    let of_pending = checks(|check| matches!(check, Check::Pending(_)));
    let of_counters = checks(|check| matches!(check, Check::Counters(_)));
    assert!([of_copy, of_resource, of_pending, of_counters].iter().all(|count| *count > 0));
    let mut verified =
        VerifiedState::new(State::from(empty(3).with(vec![resource("a", 1), resource("b", 1)]))).unwrap();
    let mut cost = |record: Record| {
        let before = verified.checks();
        verified.apply(&record).unwrap();
        verified.checks() - before
    };
    let intent = Intent::Create { key: "k".into(), resource: Box::new(resource("c", 1)) };
    let outcome = fitting(&intent);
    assert_eq!(cost(Record::begin(OpId(1), intent)), of_pending + of_counters);
    assert_eq!(cost(Record::End { op: OpId(1), outcome }), of_copy + of_resource + of_counters);
    let amend =
        |user: &str, need: &str| Record::Amend { resource: Box::new(depends(resource(user, 1), need, 1)) };
    // The ranks are `a` < `b` < `c`. The first change keeps the order and costs one comparison; the second also visits
    // `a`, its user `b`, and `c` to reorder them.
    let rank_steps = [cost(amend("b", "a")), cost(amend("a", "c"))]
        .map(|cost| cost - (of_copy + of_resource + of_counters));
    assert_eq!(rank_steps, [1, 4]);
}

#[test]
fn record_that_closes_a_cycle_over_any_kind_of_reference_is_refused() {
    let base = || {
        let provider = Resource {
            name: "dev:main:t.Provider#p".parse().unwrap(),
            ty: TypeToken("t.Provider".into()),
            ..depends(resource("p", 1), "b", 1)
        };
        let resources = vec![provider, resource("a", 1), depends(resource("b", 1), "a", 1)];
        let mut resources = resources;
        resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        VerifiedState::new(State::from(empty(3).with(resources))).unwrap()
    };
    let ties = [
        Ties { parent: Some(uid("b")), ..Ties::default() },
        Ties { deleted_with: Some(uid("b")), ..Ties::default() },
        Ties { replace_with: vec![uid("b")], ..Ties::default() },
        Ties { provider: Some(copy("p", 1)), ..Ties::default() },
    ];
    let mut closing: Vec<Resource> = ties.into_iter().map(|ties| tied(resource("a", 1), ties)).collect();
    closing.push(depends(resource("a", 1), "b", 1));
    for resource in closing {
        match base().apply(&Record::Amend { resource: Box::new(resource.clone()) }) {
            Err(ApplyError::Rules(found)) => assert_eq!(found[0].rule, "S08", "{resource:?}"),
            other => panic!("{resource:?}: {other:?}"),
        }
    }
}

#[test]
fn deletion_of_a_container_marks_its_content_and_removes_the_ties() {
    let with = Ties { parent: Some(uid("a")), deleted_with: Some(uid("a")), ..Ties::default() };
    let resources = vec![resource("a", 1), tied(resource("b", 1), with)];
    let base = || VerifiedState::new(State::from(empty(2).with(resources.clone()))).unwrap();
    let mut deleted = base();
    let intent = Intent::Delete { key: "k".into(), copy: copy("a", 1), after: AfterDelete::Gone };
    deleted.apply(&Record::begin(OpId(1), intent)).unwrap();
    deleted.apply(&Record::End { op: OpId(1), outcome: Outcome::Deleted }).unwrap();
    let left = deleted.state().current(&uid("b")).unwrap();
    assert_eq!((left.lifecycle, &left.id, left.ties.is_empty()), (Lifecycle::Replacing, &None, true));
    let mut forgotten = base();
    forgotten.apply(&Record::Forget { copy: copy("a", 1), kept: None }).unwrap();
    let left = forgotten.state().current(&uid("b")).unwrap();
    assert_eq!((left.lifecycle, left.ties.is_empty()), (Lifecycle::Live, true));
    assert_eq!(left.generation, Generation(1));
}

#[test]
fn token_of_another_pending_operation_is_refused_until_that_one_ends() {
    let mut verified =
        VerifiedState::new(State::from(empty(2).with(vec![resource("a", 1), resource("b", 1)]))).unwrap();
    let progress = |op: u64, text: &str| Record::Progress { op: OpId(op), token: token(text) };
    for (op, name) in [(1, "a"), (2, "b")] {
        let intent = Intent::Delete { key: name.into(), copy: copy(name, 1), after: AfterDelete::Gone };
        verified.apply(&Record::begin(OpId(op), intent)).unwrap();
    }
    verified.apply(&progress(1, "old")).unwrap();
    verified.apply(&progress(1, "t")).unwrap();
    verified.apply(&progress(1, "t")).unwrap();
    assert_eq!(refused(&mut verified.clone(), &progress(2, "t")), ["S22"]);
    verified.clone().apply(&progress(2, "old")).unwrap();
    verified.apply(&Record::End { op: OpId(1), outcome: Outcome::Deleted }).unwrap();
    verified.apply(&progress(2, "t")).unwrap();
    assert!(matches!(verified.apply(&progress(1, "u")), Err(ApplyError::Replay(_))));
}
