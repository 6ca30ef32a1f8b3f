//! The stored formats as they were released: every later version reads the files of all formats, and writes the same
//! bytes as the files of the current one.
//!
//! To write them again on purpose: `STEAD_GOLDEN=write cargo test -p stead-state --test golden`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::PathBuf;

use stead_model::{
    Ciphertext, CopyRef, Digest, Epoch, Generation, KeyId, KeyedDigest, Keyring, Lifecycle, Map, OpId,
    OperationToken, PhysicalId, ProviderData, ProviderPlace, ProviderPlaces, Resource, RingKey, RunId,
    Secret, Seq, SourceRef, StackId, Stored, TypeToken, Uid, Value, Wrap,
};
use stead_state::{
    Absent, AfterDelete, Batch, Command, Head, Intent, Outcome, Owner, Pending, Record, RunEnd, RunRecord,
    Settlement, Snapshot, Spooled, seal,
};

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
        name: format!("prod:acme:net.vpc/Network#a:aws.s3.Bucket#{name}").parse().unwrap(),
        id: Some(PhysicalId(format!("id-{name}"))),
        inputs: [
            ("big".to_owned(), Value::from(9_007_199_254_740_993)),
            ("text".to_owned(), Value::from("ünï\"\\\n")),
            ("tree".to_owned(), Value::from(vec![Value::Null, Value::Map(Map::new()), Value::from(true)])),
        ]
        .into(),
        outputs: [("arn".to_owned(), Value::from("arn:x"))].into(),
        ..Resource::new(
            Uid(format!("uid-{name}")),
            "dev#x".parse().unwrap(),
            TypeToken("aws.s3.Bucket".into()),
            SourceRef { file: "net/vpc.ts".into(), line: 3, column: 14 },
        )
    }
}

/// Returns data of a provider, with every field.
fn provider_data() -> Option<std::sync::Arc<ProviderData>> {
    let identity = Some(serde_json::from_str(r#"{"arn":"arn:x"}"#).unwrap());
    let private = Some("AAEC/w==".to_owned().try_into().unwrap());
    Some(ProviderData { private, schema_version: Some(3), identity }.into())
}

fn copy(name: &str) -> CopyRef {
    CopyRef { uid: Uid(format!("uid-{name}")), generation: Generation(1) }
}

fn dependent() -> Resource {
    Resource {
        dependencies: vec![copy("a")],
        property_dependencies: [("text".to_owned(), vec![Uid("uid-a".into())])].into(),
        prevent_delete: true,
        ..resource("b")
    }
}

fn owner(command: Option<Command>) -> Owner {
    Owner {
        user: "ada".into(),
        host: "h".into(),
        pid: 7,
        since: "2026-01-01T00:00:00Z".into(),
        run: RunId("run-3".into()),
        claim: "/p/claim".into(),
        command,
    }
}

fn head(command: Option<Command>) -> Head {
    Head {
        stack: StackId("5f8d0347-3297-47bb-a1cc-79d2fcd6f36a".into()),
        epoch: Epoch(3),
        owner: Some(owner(command)),
        snapshot: Some(Digest::of(b"")),
        base: Epoch(2),
        absent: None,
    }
}

#[test]
fn encoding_of_head_is_unchanged() {
    let command =
        Command { name: "up".into(), targets: vec!["*db*".into()], options: vec!["refresh".into()] };
    let head = head(Some(command));
    let bytes = golden("v6/head", &head.encode());
    assert_eq!(Head::decode(&bytes).unwrap(), head);
    for old in ["v2/head", "v3/head", "v4/head", "v5/head"] {
        assert_eq!(Head::decode(&golden_bytes(old)).unwrap(), head);
    }
    every_damage_is_detected(&bytes, |bytes| Head::decode(bytes).is_ok());
}

#[test]
fn head_of_format_1_is_read() {
    let bytes = golden_bytes("v1/head");
    assert_eq!(Head::decode(&bytes).unwrap(), head(None));
    every_damage_is_detected(&bytes, |bytes| Head::decode(bytes).is_ok());
    let absent = |text: &str| {
        let line = format!("{{\"format\":1,\"stack\":\"s\",\"epoch\":3,\"base\":4,\"absent\":{text}}}\n");
        Head::decode(&seal(line.into_bytes())).map(|head| head.absent)
    };
    let (to, from, at) = ("qa".to_owned(), "dev".to_owned(), Epoch(3));
    assert_eq!(absent(r#"{"why":"removed"}"#).unwrap(), Some(Absent::Removed));
    assert_eq!(absent(r#"{"why":"renamed","to":"qa","at":3}"#).unwrap(), Some(Absent::Renamed { to, at }));
    assert_eq!(
        absent(r#"{"why":"arriving","from":"dev","at":3}"#).unwrap(),
        Some(Absent::Arriving { from, at })
    );
    for refused in [r#"{"why":"removed","more":1}"#, r#"{"why":"renamed","to":"qa"}"#, "{}", "1"] {
        assert!(absent(refused).is_err(), "{refused}");
    }
}

/// Returns one of every record that format 1 had.
fn old_records() -> Vec<Record> {
    let create = Intent::Create { key: "k-1".into(), resource: Box::new(resource("a")) };
    let (key, previous) = ("k-2".into(), resource("b").inputs);
    let update = Intent::Update { key, resource: Box::new(dependent()), previous };
    let delete = Intent::Delete { key: "k-3".into(), copy: copy("a"), after: AfterDelete::Replacing };
    vec![
        Record::Reserve { uids: 2 },
        Record::begin(OpId(1), create),
        Record::End { op: OpId(1), outcome: Outcome::created(PhysicalId("id-a".into()), Map::new()) },
        Record::begin(OpId(2), update),
        Record::Resume { op: OpId(2) },
        Record::End { op: OpId(2), outcome: Outcome::InDoubt { message: "no answer".into() } },
        Record::Settle { op: OpId(2), settlement: Settlement::Happened { id: None, outputs: Map::new() } },
        Record::begin(OpId(3), delete),
        Record::Settle { op: OpId(3), settlement: Settlement::DidNotHappen },
        Record::Amend { resource: Box::new(dependent()) },
        Record::observed(copy("a"), Some(Map::new()), None),
        Record::Forget { copy: copy("a"), kept: None },
        Record::Outputs { outputs: [("url".to_owned(), Value::from("x"))].into() },
        Record::Pinfile { paths: ["t.T.a".to_owned()].into() },
        Record::Seal { by: Epoch(4) },
    ]
}

fn keyring() -> Keyring {
    let wrap = Wrap { manager: "passphrase".into(), data: "p1:1000000:c2FsdA==:d3JhcHBlZA==".into() };
    Keyring { keys: vec![RingKey { id: KeyId("0011223344556677".into()), wraps: vec![wrap] }] }
}

/// Returns a secret of every stored form.
fn secrets() -> Map {
    let ciphertext = || Ciphertext("s1:0011223344556677:AAAA".into());
    let digest = || KeyedDigest("d1:0011223344556677:AAAA".into());
    let stored = [
        ("a", Stored::Sealed(ciphertext())),
        ("b", Stored::WriteOnly { digest: digest(), ciphertext: None }),
        ("c", Stored::WriteOnly { digest: digest(), ciphertext: Some(ciphertext()) }),
        ("d", Stored::Ephemeral),
    ];
    stored.into_iter().map(|(key, stored)| (key.to_owned(), Value::Secret(Secret::stored(stored)))).collect()
}

fn places() -> ProviderPlaces {
    let parts = [("account", "123456789012"), ("region", "eu-west-1"), ("endpoint", "http://127.0.0.1:4566")];
    let place = ProviderPlace::of(parts.map(|(name, value)| (name, value.to_owned())));
    ProviderPlaces([("aws".to_owned(), place)].into())
}

fn token() -> OperationToken {
    "3fdb1d4f-3b0f-4f6e-8b1a-b1a4e0f3c9d2".to_owned().try_into().unwrap()
}

fn batch(records: Vec<Record>) -> Batch {
    let (previous, write_id) = (Some(Digest::of(b"x")), "w-1".into());
    Batch { epoch: Epoch(3), seq: Seq(1), previous, write_id, records }
}

#[test]
fn encoding_of_a_batch_with_every_record_is_unchanged() {
    let mut records = old_records();
    let (id, outputs) = (PhysicalId("id-a".into()), Map::new());
    let created = Outcome::Created { id, outputs: outputs.clone(), provider_data: provider_data() };
    let updated = Outcome::Updated { outputs: outputs.clone(), provider_data: provider_data() };
    records.extend([created, updated, Outcome::Deleted].map(|outcome| Record::End { op: OpId(4), outcome }));
    let (inputs, outputs) = (None, Some(outputs));
    records.push(Record::Observed { copy: copy("a"), inputs, outputs, provider_data: provider_data() });
    records.push(Record::Adopt { resource: Box::new(Resource { imported: true, ..resource("d") }) });
    let before = batch(records.clone());
    for old in ["v2/batch", "v3/batch"] {
        assert_eq!(Batch::decode(&golden_bytes(old)).unwrap(), before);
    }
    records.push(Record::Keys { keyring: keyring() });
    let sensitive = vec!["password".parse().unwrap()];
    let secret = Resource { inputs: secrets(), sensitive, ..resource("s") };
    records.push(Record::Amend { resource: Box::new(secret) });
    assert_eq!(Batch::decode(&golden_bytes("v4/batch")).unwrap(), batch(records.clone()));
    let intent = Intent::Delete { key: "k-5".into(), copy: copy("d"), after: AfterDelete::Gone };
    records.push(Record::Begin { op: OpId(5), intent, at: Some(1_790_000_000) });
    records.push(Record::Progress { op: OpId(5), token: token() });
    assert_eq!(Batch::decode(&golden_bytes("v5/batch")).unwrap(), batch(records.clone()));
    records.push(Record::Places { places: places() });
    let batch = batch(records);
    let bytes = golden("v6/batch", &batch.encode());
    assert_eq!(Batch::decode(&bytes).unwrap(), batch);
    every_damage_is_detected(&bytes, |bytes| Batch::decode(bytes).is_ok());
}

#[test]
fn batch_of_format_1_is_read() {
    let bytes = golden_bytes("v1/batch");
    assert_eq!(Batch::decode(&bytes).unwrap(), batch(old_records()));
    every_damage_is_detected(&bytes, |bytes| Batch::decode(bytes).is_ok());
}

fn snapshot() -> Snapshot {
    let old = Resource { lifecycle: Lifecycle::Condemned, ..resource("a") };
    let new = Resource { generation: Generation(2), ..resource("a") };
    let gone = Resource { lifecycle: Lifecycle::Replacing, id: None, ..resource("c") };
    Snapshot {
        stack: StackId("5f8d0347-3297-47bb-a1cc-79d2fcd6f36a".into()),
        run: Some(RunId("run-3".into())),
        serial: 4,
        uids: 3,
        next_op: OpId(4),
        outputs: [("url".to_owned(), Value::from("x"))].into(),
        pending: vec![Pending {
            doubt: Some("no answer".into()),
            ..Pending::new(
                OpId(3),
                Intent::Delete { key: "k-3".into(), copy: copy("a"), after: AfterDelete::Gone },
            )
        }],
        transfers: Default::default(),
        resources: [old, new, dependent(), gone].map(std::sync::Arc::new).into(),
        retained: Vec::new(),
        pinfile: None,
        keyring: Default::default(),
        places: Default::default(),
    }
}

#[test]
fn encoding_of_a_snapshot_is_unchanged() {
    let mut snapshot = Snapshot { serial: 20, ..snapshot() };
    for (at, resource) in snapshot.resources.iter_mut().enumerate() {
        let changed = Resource {
            version: 17 + at as u64,
            imported: at == 2,
            provider_data: provider_data().filter(|_| at == 1),
            ..resource.as_ref().clone()
        };
        *resource = changed.into();
    }
    assert_eq!(stead_state::verify(&snapshot), []);
    for old in ["v2/snapshot", "v3/snapshot"].map(golden_bytes) {
        let digest = Digest::of(&old);
        assert_eq!(Snapshot::decode(&old, &digest).unwrap(), snapshot);
    }
    snapshot.keyring = keyring();
    let secret = &mut snapshot.resources[3];
    *secret = Resource { outputs: secrets(), ..secret.as_ref().clone() }.into();
    assert_eq!(stead_state::verify(&snapshot), []);
    let old = golden_bytes("v4/snapshot");
    assert_eq!(Snapshot::decode(&old, &Digest::of(&old)).unwrap(), snapshot);
    snapshot.pending[0].at = Some(1_790_000_000);
    snapshot.pending[0].token = Some(token());
    assert_eq!(stead_state::verify(&snapshot), []);
    let old = golden_bytes("v5/snapshot");
    assert_eq!(Snapshot::decode(&old, &Digest::of(&old)).unwrap(), snapshot);
    snapshot.places = places();
    // The compression may change. The unpacked text may not, and files with the old compression stay readable.
    let (written, _) = snapshot.encode();
    if std::env::var_os("STEAD_GOLDEN").is_some() {
        std::fs::write(path("v6/snapshot"), &written).unwrap();
    }
    let stored = std::fs::read(path("v6/snapshot")).unwrap();
    assert_eq!(unpacked(&stored), unpacked(&written));
    for bytes in [stored, written] {
        let digest = Digest::of(&bytes);
        assert_eq!(Snapshot::decode(&bytes, &digest).unwrap(), snapshot);
        every_damage_is_detected(&bytes, |bytes| Snapshot::decode(bytes, &digest).is_ok());
    }
}

#[test]
fn snapshot_of_format_1_is_read_with_the_operation_counter_as_its_serial() {
    let bytes = golden_bytes("v1/snapshot");
    assert_eq!(Snapshot::decode(&bytes, &Digest::of(&bytes)).unwrap(), snapshot());
}

#[test]
fn history_and_spooled_answers_of_format_1_are_read() {
    let line = r#"{"format":1,"run":"run-3","command":"up","user":"ada","host":"h","started":"s","ended":"e","result":"succeeded","snapshot":"DIGEST"}"#;
    let digest = Digest::of(b"");
    let bytes = line.replace("DIGEST", digest.as_str()) + "\n";
    let record = RunRecord::decode(bytes.as_bytes()).unwrap();
    assert_eq!((record.command.as_str(), record.result), ("up", RunEnd::Succeeded));
    assert_eq!((record.targets.len(), record.base, record.snapshot), (0, None, digest));
    let spooled = |rest: &str| {
        let line = format!("{{\"format\":1,\"stack\":\"s\",\"epoch\":2,\"op\":7,\"key\":\"k\",{rest}}}\n");
        Spooled::decode(&seal(line.into_bytes()))
    };
    let outcome = Outcome::created(PhysicalId("i".into()), Map::new());
    let (stack, inputs) = (StackId("s".into()), Some(Map::new()));
    let expected = Spooled { stack, epoch: Epoch(2), op: OpId(7), key: "k".into(), outcome, inputs };
    let read = spooled(r#""outcome":"created","id":"i","outputs":{},"inputs":{}"#).unwrap();
    assert_eq!(read, expected);
    let deleted = spooled(r#""outcome":"deleted""#).unwrap();
    assert_eq!(deleted, Spooled { outcome: Outcome::Deleted, inputs: None, ..expected });
    assert!(spooled(r#""outcome":"deleted","id":"i""#).is_err());
}

/// Names in both spellings: folders, a dot in the name of a file, packages, and names that are equal in both.
const SPELLINGS: &[(&str, &str)] = &[
    ("dev:lib.net:t.T#a", "dev:lib%2Fnet:t.T#a"),
    ("dev:lib.net/Site#a.b:t.T", "dev:lib%2Fnet/Site#a.b:t.T"),
    ("dev:zone%2Ev2:t.T", "dev:zone.v2:t.T"),
    ("dev:zone.v2:t.T", "dev:zone%2Fv2:t.T"),
    ("dev:@acme.lodash%2Emerge.src.index:t.T", "dev:@acme%2Flodash.merge%2Fsrc%2Findex:t.T"),
    ("dev:main:t.T#x%2Fy.z", "dev:main:t.T#x%2Fy.z"),
    ("dev#orders.db", "dev#orders.db"),
];

/// Returns the text of the current format in the spelling of another one.
fn respelled(text: &str, format: u32) -> String {
    // Quotes around the name keep a name from being replaced inside another one, and each only once.
    let quoted = |name: &str| format!("\"{name}\"");
    let marked = SPELLINGS
        .iter()
        .enumerate()
        .fold(text.to_owned(), |text, (at, (new, _))| text.replace(&quoted(new), &format!("\"<{at}>\"")));
    let old = SPELLINGS
        .iter()
        .enumerate()
        .fold(marked, |text, (at, (_, old))| text.replace(&format!("\"<{at}>\""), &quoted(old)));
    old.replacen("\"format\":6", &format!("\"format\":{format}"), 1)
}

/// Returns a resource for each name, with the next name as an alias and the one after it as the origin of a mark.
fn spelled_resources() -> Vec<Resource> {
    let name = |at: usize| SPELLINGS[at % SPELLINGS.len()].0;
    let one = |at: usize| {
        let source = SourceRef { file: "f.ts".into(), line: 1, column: 1 };
        let (uid, ty) = (Uid(format!("uid-{at}")), TypeToken("t.T".into()));
        let mut one = Resource::new(uid, name(at).parse().unwrap(), ty, source);
        one.id = Some(PhysicalId(format!("id-{at}")));
        one.ties.aliases = vec![name(at + 1).parse().unwrap()];
        let level = stead_model::Level::Enclosing(name(at + 2).to_owned());
        one.prevent_delete = true;
        one.marks.prevent_delete =
            Some(stead_model::MarkSource { level, key: "k".into(), place: None }.into());
        one
    };
    let mut all: Vec<Resource> = (0..SPELLINGS.len()).map(one).collect();
    all.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    all
}

#[test]
fn names_of_formats_1_and_2_are_read_by_their_own_spelling() {
    let resources = spelled_resources();
    let create = Intent::Create { key: "k".into(), resource: Box::new(resources[0].clone()) };
    let retained = r#"{"name":"dev:zone%2Ev2:t.T","type":"t.T","id":"i","run":"run-1"}"#;
    let state = Snapshot {
        resources: resources.iter().cloned().map(std::sync::Arc::new).collect(),
        pending: vec![Pending::new(OpId(3), create.clone())],
        retained: vec![serde_json::from_str(retained).unwrap()],
        serial: 4,
        ..snapshot()
    };
    let written = unpacked(&state.encode().0);
    let old = respelled(&written, 2);
    assert!(old.contains("lib%2Fnet") && !old.contains("%2E"), "{old}");
    let packed = zipped(old.as_bytes());
    assert_eq!(Snapshot::decode(&packed, &Digest::of(&packed)).unwrap(), state);

    let records = vec![
        Record::begin(OpId(3), create),
        Record::Amend { resource: Box::new(resources[1].clone()) },
        Record::Adopt { resource: Box::new(resources[2].clone()) },
    ];
    let batch = batch(records);
    let text = String::from_utf8(batch.encode()).unwrap();
    let body = &text[..text[..text.len() - 1].rfind('\n').unwrap() + 1];
    for format in [1, 2] {
        let old = seal(respelled(body, format).into_bytes());
        assert_eq!(Batch::decode(&old).unwrap(), batch);
    }
    // `%2E` is no code of the old spelling.
    let mixed = seal(body.replacen("\"format\":6", "\"format\":2", 1).into_bytes());
    assert!(Batch::decode(&mixed).is_err());
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// Returns every line of the golden files of the current format, and of objects that have none.
fn lines() -> Vec<(&'static str, String)> {
    let (snapshot, _) = Snapshot {
        retained: vec![serde_json::from_str(
            r#"{"name":"dev#x","type":"t.T","id":"i","run":"run-1","source":{"level":"flag","key":"k","place":{"file":"f","line":1,"column":1}}}"#,
        )
        .unwrap()],
        ..snapshot()
    }
    .encode();
    let spooled = Spooled {
        stack: StackId("s".into()),
        epoch: Epoch(2),
        op: OpId(7),
        key: "k".into(),
        outcome: Outcome::Created {
            id: PhysicalId("i".into()),
            outputs: Map::new(),
            provider_data: provider_data(),
        },
        inputs: None,
    };
    let renamed = Absent::Renamed { to: "qa".into(), at: Epoch(3) };
    let absent = Head { absent: Some(renamed), ..head(Some(Command::new("up"))) };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    vec![
        ("head", text(absent.encode())),
        ("batch", text(golden_bytes("v6/batch"))),
        ("snapshot", unpacked(&golden_bytes("v6/snapshot"))),
        ("snapshot", unpacked(&snapshot)),
        ("spooled", text(spooled.encode())),
    ]
}

fn golden_bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

/// Returns the JSON pointers of all objects in a value whose keys are names of fields, and not keys of a user.
fn objects(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
    let of_users = ["inputs", "outputs", "previous", "identity", "propertyDependencies"];
    match value {
        serde_json::Value::Object(fields) => {
            found.push(at.to_owned());
            for (key, value) in fields.iter().filter(|(key, _)| !of_users.contains(&key.as_str())) {
                objects(value, &format!("{at}/{key}"), found);
            }
        }
        serde_json::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn unknown_field_in_any_object_of_any_line_is_refused() {
    let mut tried = 0;
    for (kind, text) in lines() {
        let sealed = kind != "snapshot";
        let body: Vec<&str> = text.lines().collect();
        let last = body.len() - usize::from(sealed);
        for at in 0..last {
            let line: serde_json::Value = serde_json::from_str(body[at]).unwrap();
            let mut pointers = Vec::new();
            objects(&line, "", &mut pointers);
            for pointer in pointers {
                let mut changed = line.clone();
                let object = changed.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
                object.insert("unheard-of".to_owned(), 1.into());
                let mut lines: Vec<String> = body[..last].iter().map(|line| (*line).to_owned()).collect();
                lines[at] = changed.to_string();
                let bytes = (lines.join("\n") + "\n").into_bytes();
                let refused = match kind {
                    "head" => Head::decode(&seal(bytes)).is_err(),
                    "batch" => Batch::decode(&seal(bytes)).is_err(),
                    "spooled" => Spooled::decode(&seal(bytes)).is_err(),
                    _ => {
                        let bytes = zipped(&bytes);
                        Snapshot::decode(&bytes, &Digest::of(&bytes)).is_err()
                    }
                };
                assert!(refused, "{kind}, line {}, {pointer}", at + 1);
                tried += 1;
            }
        }
    }
    assert!(tried > 80, "{tried}");
}
