//! Exported files: a round trip keeps the state; a damaged, hostile or too large file is refused as a whole.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_model::{
    CopyRef, Generation, Limits, OpId, PhysicalId, Resource, SourceRef, StackId, TypeToken, Uid, Value,
};
use stead_state::{Export, ExportError, Origin, Snapshot};

fn resource(name: &str, needs: &[usize]) -> Resource {
    let need = |need: &usize| CopyRef { uid: Uid(format!("r{need}")), generation: Generation(1) };
    let mut dependencies: Vec<CopyRef> = needs.iter().map(need).collect();
    dependencies.sort_unstable();
    Resource {
        id: Some(PhysicalId(name.to_owned())),
        inputs: [("text".to_owned(), Value::from("ü\n"))].into(),
        dependencies,
        prevent_delete: true,
        ..Resource::new(
            Uid(name.to_owned()),
            format!("dev:main:t.T#{name}").parse().unwrap(),
            TypeToken("t.T".into()),
            SourceRef { file: "main.ts".into(), line: 1, column: 1 },
        )
    }
}

fn snapshot(resources: Vec<Resource>) -> Snapshot {
    let uids = resources.len() as u64;
    Snapshot { uids, ..Snapshot::empty(StackId("s".into())).with(resources) }
}

fn export(snapshot: Snapshot) -> Export {
    let text = |text: &str| text.to_owned();
    let origin =
        Origin { stead: text("0"), project: text("shop"), environment: text("dev"), target: text("local") };
    Export::new(origin, snapshot)
}

fn exported(snapshot: Snapshot) -> Vec<u8> {
    serde_json::to_vec_pretty(&export(snapshot)).unwrap()
}

fn read(bytes: &[u8]) -> Result<Snapshot, ExportError> {
    let export = Export::decode(bytes, &Limits::default())?;
    export.check_digest()?;
    Ok(export.into_snapshot())
}

fn small() -> Snapshot {
    snapshot(vec![resource("r0", &[]), resource("r1", &[0])])
}

#[test]
fn export_round_trips() {
    assert_eq!(read(&exported(small())).unwrap(), small());
}

#[test]
fn changed_bit_or_truncation_never_changes_the_imported_state() {
    let bytes = exported(small());
    let end = bytes.len();
    for at in 0..end {
        assert!(read(&bytes[..at]).is_err(), "cut at {at}");
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            if let Ok(read) = read(&changed) {
                assert_eq!(read, small(), "bit {bit} of byte {at}");
                assert!(bytes[at].is_ascii_whitespace(), "bit {bit} of byte {at} has no effect");
            }
        }
    }
}

#[test]
fn edited_file_is_accepted_once_its_digest_is_removed() {
    let text = String::from_utf8(exported(small())).unwrap();
    let edited = text.replace("\"ü", "\"u");
    assert_eq!(read(edited.as_bytes()), Err(ExportError::Changed));
    let line = text.lines().find(|line| line.contains("digest")).unwrap();
    assert!(read(edited.replace(line, "").as_bytes()).is_ok());
}

#[test]
fn hostile_files_are_refused_with_the_position() {
    let text = String::from_utf8(exported(small())).unwrap();
    let line = text.lines().find(|line| line.contains("digest")).unwrap().to_owned();
    let text = text.replace(&line, "");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!("{}1{}", "[".repeat(101), "]".repeat(101));
    let value = "\"ü\\n\"";
    for (case, hostile, message) in [
        ("deep", text.replace(value, &deep), "recursion limit exceeded at line"),
        ("nested", text.replace(value, &nested), "nested deeper than 100 levels"),
        ("alone", deep.clone(), "at line 1 column 1"),
        ("huge number", text.replace(value, "1e999"), "number out of range at line"),
        ("twice", text.replace(value, "1, \"text\": 2"), "duplicate key \"text\" at line"),
        (
            "field twice",
            text.replacen("\"uids\"", "\"uids\": 1, \"uids\"", 1),
            "duplicate field `uids` at line",
        ),
        ("control", text.replace("t.T#r0", "t.T#\\u001b[2J"), "contains a control character"),
        ("unknown", text.replacen("\"uids\"", "\"uid\"", 1), "unknown field `uid`"),
        ("counter", text.replacen("\"uids\": 2", "\"uids\": 99999999999999999999", 1), "at line"),
        ("generation", text.replacen("\"generation\": 1", "\"generation\": -1", 1), "at line"),
        (
            "last counter",
            text.replacen("\"uids\": 2", "\"uids\": 18446744073709551615", 1),
            "a counter is out of range",
        ),
        (
            "last generation",
            text.replacen("\"generation\": 1", "\"generation\": 4294967295", 1),
            "its generation is",
        ),
        ("newer", text.replacen("\"format\": 6", "\"format\": 7", 1), "format 7"),
        ("nothing", String::new(), "EOF while parsing a value at line 1 column 0"),
        ("two", format!("{text}{text}"), "trailing characters at line"),
    ] {
        let refused = read(hostile.as_bytes()).expect_err(case).to_string();
        assert!(refused.contains(message), "{case}: {refused}");
    }
}

#[test]
fn file_with_an_out_of_range_counter_is_refused() {
    let (far, copies) = (u64::MAX / 2, u32::MAX / 2);
    let counted = |uids: u64, next_op: u64, generation: u32| {
        let last = Resource { generation: Generation(generation), ..resource("r0", &[]) };
        read(&exported(Snapshot { uids, next_op: OpId(next_op), ..snapshot(vec![last]) }))
    };
    assert!(counted(far, far, copies).is_ok());
    for (uids, next_op, generation) in
        [(far + 1, far, copies), (far, far + 1, copies), (far, far, copies + 1)]
    {
        assert!(counted(uids, next_op, generation).is_err(), "{uids} {next_op} {generation}");
    }
}

#[test]
fn one_more_than_100000_resources_or_a_chain_of_10000_is_refused() {
    let chain = |length: usize, at: usize| if 0 < at && at < length { vec![at - 1] } else { Vec::new() };
    let stack = |count: usize, length: usize| {
        snapshot((0..count).map(|at| resource(&format!("r{at}"), &chain(length, at))).collect())
    };
    let fits = |snapshot: Snapshot| read(&serde_json::to_vec(&export(snapshot)).unwrap());
    assert_eq!(fits(stack(100_000, 10_000)).unwrap().resources.len(), 100_000);
    let refused = fits(stack(100_001, 0)).unwrap_err().to_string();
    assert_eq!(refused, "it has 100001 resources; a stack holds at most 100000");
    let refused = fits(stack(10_001, 10_001)).unwrap_err().to_string();
    assert_eq!(refused, "it has a chain of 10001 dependencies; it may have at most 10000");
}

#[test]
fn one_more_than_a_million_dependencies_is_refused() {
    // 1,000 resources that each depend on the same 1,000.
    let star = |extra: usize| {
        let first = (0..1000).map(|at| resource(&format!("r{at}"), &[]));
        let all: Vec<usize> = (0..1000).collect();
        let second = (1000..2000).map(|at| resource(&format!("r{at}"), &all));
        let third = (0..extra).map(|at| resource(&format!("s{at}"), &[0]));
        snapshot(first.chain(second).chain(third).collect())
    };
    let limits = Limits::default();
    assert_eq!(limits.exceeded(&stead_state::extent(&star(0))), None);
    let excess = limits.exceeded(&stead_state::extent(&star(1)));
    assert_eq!(excess.unwrap(), "1000001 dependencies; a stack holds at most 1000000");
}

#[test]
fn decompression_bomb_is_refused() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![0u8; 1 << 20];
    for _ in 0..1024 {
        gzip.write_all(&zeros).unwrap();
    }
    let bomb = gzip.finish().unwrap();
    let digest = stead_model::Digest::of(&bomb);
    let refused = Snapshot::decode(&bomb, &digest).unwrap_err().to_string();
    assert!(refused.contains("the line is too long"), "{refused}");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"{\"format\":3,\"stack\":\"s\",\"run\":null,\"serial\":0,\"uids\":0,\"next_op\":1,")
        .unwrap();
    gzip.write_all(b"\"resources\":400001,\"outputs\":{},\"pending\":[]}\n").unwrap();
    let claims = gzip.finish().unwrap();
    let refused = Snapshot::decode(&claims, &stead_model::Digest::of(&claims)).unwrap_err().to_string();
    assert!(refused.contains("at most 400000"), "{refused}");
}
