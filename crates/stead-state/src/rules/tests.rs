//! A violation of each rule, by number, and a valid state that breaks none.

use stead_model::{
    Ciphertext, Generation, KeyedDigest, Map, OpId, OperationToken, PhysicalId, Secret, SourceRef, StackId,
    Stored, Ties, TypeToken, Value,
};

use super::*;
use crate::{AfterDelete, Intent};

pub(crate) fn resource(name: &str, generation: u32) -> Resource {
    Resource {
        generation: Generation(generation),
        id: Some(PhysicalId(format!("{name}-{generation}"))),
        ..Resource::new(
            uid(name),
            named(name),
            TypeToken("t.T".into()),
            SourceRef { file: "main.ts".into(), line: 1, column: 1 },
        )
    }
}

pub(crate) fn uid(name: &str) -> Uid {
    Uid(format!("uid-{name}"))
}

fn named(name: &str) -> Name {
    format!("dev:main:t.T#{name}").parse().unwrap()
}

fn condemned(name: &str, generation: u32) -> Resource {
    Resource { lifecycle: Lifecycle::Condemned, ..resource(name, generation) }
}

/// A copy of a provider resource.
fn provider(generation: u32) -> Resource {
    let name = "dev:main:t.Provider#p".parse().unwrap();
    Resource { name, ty: TypeToken("t.Provider".into()), ..resource("p", generation) }
}

pub(crate) fn copy(name: &str, generation: u32) -> CopyRef {
    CopyRef { uid: uid(name), generation: Generation(generation) }
}

pub(crate) fn depends(mut resource: Resource, on: &str, generation: u32) -> Resource {
    resource.dependencies.push(copy(on, generation));
    resource
}

pub(crate) fn tied(resource: Resource, ties: Ties) -> Resource {
    Resource { ties, ..resource }
}

fn served(name: &str, by: CopyRef) -> Resource {
    tied(resource(name, 1), Ties { provider: Some(by), ..Ties::default() })
}

fn snapshot(mut resources: Vec<Resource>) -> Snapshot {
    resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    let uids = resources.len() as u64;
    Snapshot { uids, ..Snapshot::empty(StackId("s".into())).with(resources) }
}

fn with_pending(resources: Vec<Resource>, intents: Vec<Intent>) -> Snapshot {
    let numbered = (1..).zip(intents);
    let pending = numbered.map(|(op, intent)| Pending::new(OpId(op), intent)).collect();
    Snapshot { next_op: OpId(99), pending, ..snapshot(resources) }
}

pub(crate) fn token(text: &str) -> OperationToken {
    text.to_owned().try_into().unwrap()
}

fn delete(key: &str, name: &str) -> Intent {
    Intent::Delete { key: key.into(), copy: copy(name, 1), after: AfterDelete::Gone }
}

fn create(key: &str, resource: Resource) -> Intent {
    Intent::Create { key: key.into(), resource: Box::new(resource) }
}

fn breaks_only(number: &str, snapshots: Vec<Snapshot>) {
    for (at, snapshot) in snapshots.iter().enumerate() {
        let violations = verify(snapshot);
        assert!(!violations.is_empty(), "snapshot {at} breaks no rule");
        assert!(violations.iter().all(|found| found.rule == number), "snapshot {at}: {violations:?}");
    }
}

/// Defines a test for each rule, and the list of the tested rules.
macro_rules! violations {
    ($($number:literal $test:ident: [$($snapshot:expr),+ $(,)?];)*) => {
        $(#[test]
        fn $test() {
            breaks_only($number, vec![$($snapshot),+]);
        })*

        const TESTED: &[&str] = &[$($number),*];
    };
}

violations! {
    "S01" s01_copy_stored_twice: [
        snapshot(vec![condemned("a", 1), condemned("a", 1)]),
        snapshot(vec![condemned("a", 1), resource("a", 1)]),
    ];
    "S02" s02_two_current_copies: [snapshot(vec![resource("a", 1), resource("a", 2)])];
    "S03" s03_two_resources_with_one_name: [
        snapshot(vec![resource("a", 1), Resource { uid: Uid("other".into()), ..resource("a", 1) }]),
    ];
    "S04" s04_id_does_not_match_the_lifecycle: [
        snapshot(vec![Resource { id: None, ..resource("a", 1) }]),
        snapshot(vec![Resource { id: Some(PhysicalId(String::new())), ..resource("b", 1) }]),
        snapshot(vec![Resource { lifecycle: Lifecycle::Replacing, ..resource("c", 1) }]),
    ];
    "S05" s05_condemned_copy_newer_than_the_current_one: [
        snapshot(vec![resource("a", 1), condemned("a", 2)]),
    ];
    "S06" s06_missing_dependency: [
        snapshot(vec![depends(resource("a", 1), "gone", 1)]),
        // The only copy left is condemned, and it is another generation.
        snapshot(vec![condemned("b", 2), depends(resource("c", 1), "b", 1)]),
    ];
    "S07" s07_source_of_a_property_is_no_dependency: [{
        let mut odd = resource("a", 1);
        odd.property_dependencies.insert("x", vec![uid("b")]);
        snapshot(vec![odd, resource("b", 1)])
    }];
    "S08" s08_cycle: [
        snapshot(vec![depends(resource("a", 1), "b", 1), depends(resource("b", 1), "a", 1)]),
        snapshot(vec![
            tied(resource("a", 1), Ties { parent: Some(uid("b")), ..Ties::default() }),
            depends(resource("b", 1), "c", 1),
            tied(resource("c", 1), Ties { deleted_with: Some(uid("a")), ..Ties::default() }),
        ]),
        snapshot(vec![
            Resource { dependencies: vec![copy("a", 1)], ..provider(1) },
            tied(resource("a", 1), Ties { replace_with: vec![uid("b")], ..Ties::default() }),
            served("b", copy("p", 1)),
        ]),
    ];
    "S09" s09_pending_operation_refers_to_a_missing_copy: [
        with_pending(vec![resource("a", 1)], vec![create("k", Resource { uid: uid("o"), ..resource("a", 1) })]),
        with_pending(vec![resource("a", 1)], vec![create("k", resource("a", 1))]),
        with_pending(vec![], vec![create("k", depends(resource("a", 1), "gone", 1))]),
        with_pending(vec![], vec![delete("k", "c")]),
        with_pending(vec![], vec![Intent::Update {
            key: "k".into(),
            resource: Box::new(resource("b", 1)),
            previous: Map::new(),
        }]),
    ];
    "S10" s10_counter_behind_a_number_in_use: [
        Snapshot { uids: 0, ..snapshot(vec![resource("a", 1)]) },
        Snapshot { next_op: OpId(1), ..with_pending(vec![resource("a", 1)], vec![delete("k", "a")]) },
        Snapshot { serial: 4, ..snapshot(vec![Resource { version: 5, ..resource("a", 1) }]) },
    ];
    "S11" s11_copy_without_uid_or_generation: [
        snapshot(vec![Resource { uid: Uid(String::new()), ..resource("a", 1) }]),
        snapshot(vec![resource("a", 0)]),
    ];
    "S12" s12_type_does_not_match_the_name: [
        snapshot(vec![Resource { ty: TypeToken("t.U".into()), ..resource("a", 1) }]),
        snapshot(vec![Resource {
            name: "dev#global".parse().unwrap(),
            ty: TypeToken(String::new()),
            ..resource("a", 1)
        }]),
    ];
    "S13" s13_missing_provider: [snapshot(vec![served("a", copy("p", 1))])];
    "S14" s14_provider_of_another_type: [snapshot(vec![resource("p", 1), served("a", copy("p", 1))])];
    "S15" s15_condemned_provider_without_a_successor: [snapshot(vec![
        Resource { lifecycle: Lifecycle::Condemned, ..provider(1) },
        served("a", copy("p", 1)),
    ])];
    "S16" s16_missing_parent: [
        snapshot(vec![tied(resource("a", 1), Ties { parent: Some(uid("gone")), ..Ties::default() })]),
    ];
    "S17" s17_deleted_with_a_missing_resource: [
        snapshot(vec![tied(resource("a", 1), Ties { deleted_with: Some(uid("gone")), ..Ties::default() })]),
    ];
    "S18" s18_replaced_with_a_missing_resource: [
        snapshot(vec![tied(resource("a", 1), Ties { replace_with: vec![uid("gone")], ..Ties::default() })]),
    ];
    "S19" s19_alias_of_two_resources_or_equal_to_the_name: [
        snapshot(vec![
            tied(resource("a", 1), Ties { aliases: vec![named("old")], ..Ties::default() }),
            tied(resource("b", 1), Ties { aliases: vec![named("old")], ..Ties::default() }),
        ]),
        snapshot(vec![tied(resource("a", 1), Ties { aliases: vec![named("a")], ..Ties::default() })]),
    ];
    "S20" s20_reference_to_a_generation_that_was_never_created: [
        snapshot(vec![resource("a", 2), depends(resource("b", 1), "a", 3)]),
        snapshot(vec![provider(1), served("a", copy("p", 2))]),
    ];
    "S21" s21_unsorted_lists: [
        Snapshot { uids: 2, ..snapshot(vec![]).with(vec![resource("b", 1), resource("a", 1)]) },
        snapshot(vec![resource("a", 1), depends(depends(resource("b", 1), "a", 1), "a", 1)]),
        {
            let mut odd = with_pending(vec![resource("a", 1), resource("b", 1)], vec![
                delete("k1", "a"),
                delete("k2", "b"),
            ]);
            odd.pending.reverse();
            odd
        },
    ];
    "S22" s22_two_operations_on_one_copy: [
        with_pending(vec![resource("a", 1)], vec![delete("k1", "a"), delete("k2", "a")]),
        with_pending(vec![resource("a", 1), resource("b", 1)], vec![delete("k", "a"), delete("k", "b")]),
        with_pending(vec![resource("a", 1)], vec![delete("", "a")]),
        {
            let mut odd = with_pending(vec![resource("a", 1), resource("b", 1)], vec![
                delete("k1", "a"),
                delete("k2", "b"),
            ]);
            odd.pending.iter_mut().for_each(|one| one.token = Some(token("t")));
            odd
        },
        with_pending(vec![], vec![
            create("k1", resource("a", 1)),
            create("k2", Resource { uid: uid("other"), ..resource("a", 1) }),
        ]),
    ];
    "S23" s23_secret_without_its_key: [
        snapshot(vec![secret("a", Secret::new(Value::from("open")))]),
        snapshot(vec![secret("a", Secret::stored(Stored::Sealed(Ciphertext("s1:k:AAAA".into()))))]),
        snapshot(vec![secret("a", Secret::stored(Stored::WriteOnly {
            digest: KeyedDigest("d1:k:AAAA".into()),
            ciphertext: None,
        }))]),
        with_pending(vec![], vec![create("k1", secret("a", Secret::new(Value::from("open"))))]),
    ];
}

fn secret(name: &str, secret: Secret) -> Resource {
    Resource { inputs: [("password".to_owned(), Value::Secret(secret))].into(), ..resource(name, 1) }
}

#[test]
fn every_rule_has_a_test() {
    let numbers: Vec<&str> = RULES.iter().map(|rule| rule.number).collect();
    assert_eq!(TESTED, numbers);
    assert!(RULES.iter().all(|rule| !rule.checks.is_empty() && !rule.demand.is_empty()));
}

#[test]
fn every_rule_is_in_the_format_document() {
    let document = include_str!("../../../../docs/format/state.md");
    for rule in RULES {
        let row = format!("| {} | {} |", rule.number, rule.demand);
        assert!(document.contains(&row), "docs/format/state.md lacks {row}");
    }
}

#[test]
fn valid_state_breaks_no_rule() {
    let ties = Ties {
        parent: Some(uid("a")),
        provider: Some(copy("p", 1)), // This copy is gone, so the reference means the current one.
        deleted_with: Some(uid("d")),
        replace_with: vec![uid("a"), uid("b")],
        // `a` is the current name of another resource, which is allowed.
        aliases: vec![named("a"), named("old")],
    };
    let valid = snapshot(vec![
        condemned("a", 1),
        resource("a", 2),
        depends(condemned("b", 1), "a", 1),
        depends(resource("b", 2), "a", 2),
        depends(resource("c", 1), "b", 1),
        Resource { lifecycle: Lifecycle::Replacing, id: None, ..resource("d", 1) },
        tied(resource("e", 1), ties),
        provider(2),
    ]);
    assert_eq!(verify(&valid), []);
}

#[test]
fn violation_displays_rule_subject_and_problem() {
    let violation = Violation { rule: "S04", subject: "a".into(), problem: "it has no id".into() };
    assert_eq!(violation.to_string(), "S04 a: it has no id");
}
