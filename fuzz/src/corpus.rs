//! Runs the function of a fuzz target over its corpus and damaged copies of it, in the tests of the crates.

use std::panic::catch_unwind;
use std::path::Path;

/// Damaged copies of each file of a corpus.
const COPIES: u64 = 1500;

/// Panics with the file and the seed if a file of the corpus, or a damaged copy made by `damaged`, makes the function panic.
pub fn survives(target: &str, damaged: fn(&[u8], u64) -> Vec<u8>, entry: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no corpus");
    for file in files {
        let whole = std::fs::read(&file).unwrap();
        entry(&whole);
        for seed in 0..COPIES {
            let bytes = damaged(&whole, seed);
            if catch_unwind(|| entry(&bytes)).is_err() {
                panic!("{} with seed {seed}: {}", file.display(), String::from_utf8_lossy(&bytes));
            }
        }
    }
}
