//! Runs the functions of the fuzz targets over their corpus and thousands of damaged copies of it.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../../fuzz/src/corpus.rs"]
#[allow(unreachable_pub, reason = "a library elsewhere")]
mod corpus;
#[path = "../../../fuzz/src/mutate.rs"]
#[allow(unreachable_pub, reason = "a library elsewhere")]
mod mutate;
#[path = "../../../fuzz/src/schemas.rs"]
#[allow(unreachable_pub, reason = "a library elsewhere")]
mod schemas;

fn survives(target: &str, entry: fn(&[u8])) {
    corpus::survives(target, mutate::mutated, entry);
}

#[test]
fn no_damage_makes_a_reader_of_schemas_panic() {
    survives("schema", schemas::schema);
    survives("patch", schemas::patch);
    survives("transform", schemas::transform);
}
