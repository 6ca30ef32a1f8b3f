//! Runs the functions of the fuzz targets over their corpus and thousands of damaged copies of it.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../../fuzz/src/entries.rs"]
#[allow(unreachable_pub, reason = "a library elsewhere")]
mod entries;
#[path = "../../../fuzz/src/mutate.rs"]
#[allow(unreachable_pub, reason = "a library elsewhere")]
mod mutate;

use std::panic::catch_unwind;
use std::path::PathBuf;

fn survives(target: &str, entry: fn(&[u8])) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no corpus");
    for file in files {
        let seed_bytes = std::fs::read(&file).unwrap();
        entry(&seed_bytes);
        for seed in 0..1500 {
            let bytes = mutate::mutated(&seed_bytes, seed);
            if catch_unwind(|| entry(&bytes)).is_err() {
                panic!("{} with seed {seed}: {}", file.display(), String::from_utf8_lossy(&bytes));
            }
        }
    }
}

#[test]
fn no_damage_makes_a_decoder_panic() {
    survives("head", entries::head);
    survives("batch", entries::batch);
    survives("snapshot", entries::snapshot);
    survives("spool", entries::spool);
    survives("history", entries::history);
    survives("export", entries::export);
    survives("name", entries::name);
    survives("pattern", entries::pattern);
}
