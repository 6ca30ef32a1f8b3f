//! Runs the functions of the fuzz targets over their corpus and thousands of damaged copies of it.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../../fuzz/src/corpus.rs"]
#[allow(unreachable_pub, reason = "a library elsewhere")]
mod corpus;
#[path = "../../../fuzz/src/entries.rs"]
#[allow(unreachable_pub, reason = "a library elsewhere")]
mod entries;
#[path = "../../../fuzz/src/mutate.rs"]
#[allow(unreachable_pub, reason = "a library elsewhere")]
mod mutate;

fn survives(target: &str, entry: fn(&[u8])) {
    corpus::survives(target, mutate::mutated, entry);
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
