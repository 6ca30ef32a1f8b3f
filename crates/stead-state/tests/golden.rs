//! Format 1 as it was first released: every later version reads these files and writes the same bytes.
//!
//! To write them again on purpose: `STEAD_GOLDEN=write cargo test -p stead-state --test golden`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::PathBuf;

use stead_model::{
    CopyRef, Digest, Epoch, Generation, Lifecycle, Map, OpId, PhysicalId, Resource, RunId, Seq, SourceRef,
    StackId, TypeToken, Uid, Value,
};
use stead_state::{AfterDelete, Batch, Head, Intent, Outcome, Owner, Pending, Record, Settlement, Snapshot};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Returns the stored bytes. Panics if `written`, the current encoding, differs from them.
fn golden(name: &str, written: &[u8]) -> Vec<u8> {
    if std::env::var_os("STEAD_GOLDEN").is_some() {
        std::fs::write(path(name), written).unwrap();
    }
    let stored = std::fs::read(path(name)).unwrap();
    assert_eq!(stored, written, "the encoding of {name} has changed");
    stored
}

/// Asserts that no changed bit and no truncation is accepted.
fn every_damage_is_detected(bytes: &[u8], is_valid: impl Fn(&[u8]) -> bool) {
    assert!(is_valid(bytes));
    for at in 0..bytes.len() {
        assert!(!is_valid(&bytes[..at]), "cut at {at}");
        for bit in 0..8 {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1 << bit;
            assert!(!is_valid(&changed), "bit {bit} of byte {at}");
        }
    }
}

fn unpacked(bytes: &[u8]) -> String {
    use std::io::Read as _;
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

fn resource(name: &str) -> Resource {
    Resource {
        uid: Uid(format!("uid-{name}")),
        generation: Generation(1),
        name: format!("prod:acme:net%2Fvpc/Network#a:aws.s3.Bucket#{name}").parse().unwrap(),
        ty: TypeToken("aws.s3.Bucket".into()),
        lifecycle: Lifecycle::Live,
        id: Some(PhysicalId(format!("id-{name}"))),
        inputs: [
            ("big".to_owned(), Value::from(9_007_199_254_740_993)),
            ("text".to_owned(), Value::from("ünï\"\\\n")),
            ("tree".to_owned(), Value::from(vec![Value::Null, Value::Map(Map::new()), Value::from(true)])),
        ]
        .into(),
        outputs: [("arn".to_owned(), Value::from("arn:x"))].into(),
        dependencies: Vec::new(),
        property_dependencies: Default::default(),
        ties: Default::default(),
        prevent_delete: false,
        deletion_policy: None,
        source: SourceRef { file: "net/vpc.ts".into(), line: 3, column: 14 },
        marks: Default::default(),
        pinned: false,
    }
}

fn copy(name: &str) -> CopyRef {
    CopyRef { uid: Uid(format!("uid-{name}")), generation: Generation(1) }
}

fn dependent() -> Resource {
    Resource {
        dependencies: vec![copy("a")],
        property_dependencies: [("text".to_owned(), vec![Uid("uid-a".into())])].into(),
        ties: Default::default(),
        prevent_delete: true,
        deletion_policy: None,
        ..resource("b")
    }
}

#[test]
fn encoding_of_head_is_unchanged() {
    let owner = Owner {
        user: "ada".into(),
        host: "h".into(),
        pid: 7,
        since: "2026-01-01T00:00:00Z".into(),
        run: RunId("run-3".into()),
        claim: "/p/claim".into(),
    };
    let head = Head {
        stack: StackId("5f8d0347-3297-47bb-a1cc-79d2fcd6f36a".into()),
        epoch: Epoch(3),
        owner: Some(owner),
        snapshot: Some(Digest::of(b"")),
        base: Epoch(2),
        absent: None,
    };
    let bytes = golden("head", &head.encode());
    assert_eq!(Head::decode(&bytes).unwrap(), head);
    every_damage_is_detected(&bytes, |bytes| Head::decode(bytes).is_ok());
}

#[test]
fn encoding_of_a_batch_with_every_record_is_unchanged() {
    let records = vec![
        Record::Reserve { uids: 2 },
        Record::Begin {
            op: OpId(1),
            intent: Intent::Create { key: "k-1".into(), resource: Box::new(resource("a")) },
        },
        Record::End {
            op: OpId(1),
            outcome: Outcome::Created { id: PhysicalId("id-a".into()), outputs: Map::new() },
        },
        Record::Begin {
            op: OpId(2),
            intent: Intent::Update {
                key: "k-2".into(),
                resource: Box::new(dependent()),
                previous: resource("b").inputs,
            },
        },
        Record::Resume { op: OpId(2) },
        Record::End { op: OpId(2), outcome: Outcome::InDoubt { message: "no answer".into() } },
        Record::Settle { op: OpId(2), settlement: Settlement::Happened { id: None, outputs: Map::new() } },
        Record::Begin {
            op: OpId(3),
            intent: Intent::Delete { key: "k-3".into(), copy: copy("a"), after: AfterDelete::Replacing },
        },
        Record::Settle { op: OpId(3), settlement: Settlement::DidNotHappen },
        Record::Amend { resource: Box::new(dependent()) },
        Record::Observed { copy: copy("a"), inputs: Some(Map::new()), outputs: None },
        Record::Forget { copy: copy("a"), kept: None },
        Record::Outputs { outputs: [("url".to_owned(), Value::from("x"))].into() },
        Record::Pinfile { paths: ["t.T.a".to_owned()].into() },
        Record::Seal { by: Epoch(4) },
    ];
    let batch = Batch {
        epoch: Epoch(3),
        seq: Seq(1),
        previous: Some(Digest::of(b"x")),
        write_id: "w-1".into(),
        records,
    };
    let bytes = golden("batch", &batch.encode());
    assert_eq!(Batch::decode(&bytes).unwrap(), batch);
    every_damage_is_detected(&bytes, |bytes| Batch::decode(bytes).is_ok());
}

#[test]
fn encoding_of_a_snapshot_is_unchanged() {
    let old = Resource { lifecycle: Lifecycle::Condemned, ..resource("a") };
    let new = Resource { generation: Generation(2), ..resource("a") };
    let gone = Resource { lifecycle: Lifecycle::Replacing, id: None, ..resource("c") };
    let snapshot = Snapshot {
        stack: StackId("5f8d0347-3297-47bb-a1cc-79d2fcd6f36a".into()),
        run: Some(RunId("run-3".into())),
        uids: 3,
        next_op: OpId(4),
        outputs: [("url".to_owned(), Value::from("x"))].into(),
        pending: vec![Pending {
            op: OpId(3),
            intent: Intent::Delete { key: "k-3".into(), copy: copy("a"), after: AfterDelete::Gone },
            doubt: Some("no answer".into()),
        }],
        transfers: Default::default(),
        resources: [old, new, dependent(), gone].map(std::sync::Arc::new).into(),
        retained: Vec::new(),
        pinfile: None,
    };
    assert_eq!(stead_state::verify(&snapshot), []);
    // The compression may change. The unpacked text may not, and files with the old compression stay readable.
    let (written, _) = snapshot.encode();
    if std::env::var_os("STEAD_GOLDEN").is_some() {
        std::fs::write(path("snapshot"), &written).unwrap();
    }
    let stored = std::fs::read(path("snapshot")).unwrap();
    assert_eq!(unpacked(&stored), unpacked(&written));
    for bytes in [stored, written] {
        let digest = Digest::of(&bytes);
        assert_eq!(Snapshot::decode(&bytes, &digest).unwrap(), snapshot);
        every_damage_is_detected(&bytes, |bytes| Snapshot::decode(bytes, &digest).is_ok());
    }
}
