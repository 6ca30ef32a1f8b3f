//! An exported state is imported unchanged.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use proptest::prelude::*;
use stead_model::{
    CopyRef, Generation, Lifecycle, Limits, Map, Number, OpId, PhysicalId, Resource, RunId, SourceRef,
    StackId, Ties, TypeToken, Uid, Value,
};
use stead_state::{Export, Intent, Origin, Pending, Snapshot};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(|number| Value::Number(Number::from_u64(number))),
        any::<f64>().prop_filter_map("finite", Number::from_f64).prop_map(Value::Number),
        "[^\\p{Cc}]*".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[^\\p{Cc}]*", inner, 0..4)
                .prop_map(|map| Value::Map(map.into_iter().collect())),
        ]
    })
}

fn map() -> impl Strategy<Value = Map> {
    proptest::collection::btree_map("[^\\p{Cc}]*", value(), 0..4).prop_map(|map| map.into_iter().collect())
}

fn resource(at: usize, (inputs, outputs, bits, id): (Map, Map, u8, String)) -> Resource {
    let before = || CopyRef { uid: Uid(format!("u{}", at / 2)), generation: Generation(1) };
    let bit = |number: u8| (bits >> number) & 1 == 1;
    let ties = Ties {
        parent: bit(0).then(|| before().uid),
        provider: bit(1).then(before),
        deleted_with: bit(2).then(|| before().uid),
        replace_with: if bit(3) { vec![before().uid] } else { Vec::new() },
        aliases: Vec::new(),
    };
    Resource {
        lifecycle: if bit(4) { Lifecycle::Replacing } else { Lifecycle::Live },
        id: (!bit(4)).then_some(PhysicalId(id)),
        inputs,
        outputs,
        dependencies: if bit(5) { vec![before()] } else { Vec::new() },
        ties,
        prevent_delete: bit(6),
        deletion_policy: bit(7).then_some(stead_model::DeletionPolicy::Retain),
        pinned: bit(6) != bit(7),
        ..Resource::new(
            Uid(format!("u{at}")),
            format!("dev:main:t.T#r{at}").parse().unwrap(),
            TypeToken("t.T".into()),
            SourceRef { file: "main.ts".into(), line: 1, column: 1 },
        )
    }
}

proptest! {
    #[test]
    fn random_state_survives_export_and_import(
        drawn in proptest::collection::vec((map(), map(), any::<u8>(), "[^\\p{Cc}]*"), 0..6),
        outputs in map(),
        uids in 0..u64::MAX / 2,
    ) {
        let mut resources: Vec<Resource> =
            drawn.into_iter().enumerate().map(|(at, drawn)| resource(at, drawn)).collect();
        resources.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let intent = |resource: &Resource| Intent::Create { key: "k".into(), resource: Box::new(resource.clone()) };
        let pending = resources.first().map(|first| Pending::new(OpId(3), intent(first)));
        let snapshot = Snapshot {
            stack: StackId("s".into()),
            run: Some(RunId("run-1".into())),
            serial: uids,
            uids,
            next_op: OpId(4),
            outputs,
            pending: pending.into_iter().collect(),
            transfers: Default::default(),
            resources: resources.into_iter().map(std::sync::Arc::new).collect(),
            retained: Vec::new(),
            pinfile: None,
            keyring: Default::default(),
            places: Default::default(),
        };
        let origin = Origin {
            stead: "0.1.0".into(),
            project: "shop".into(),
            environment: "dev".into(),
            target: "local".into(),
        };
        let text = serde_json::to_string_pretty(&Export::new(origin, snapshot.clone())).unwrap();
        let back = Export::decode(text.as_bytes(), &Limits::default()).unwrap();
        prop_assert!(back.check_digest().is_ok());
        prop_assert_eq!(back.into_snapshot(), snapshot);
    }
}
