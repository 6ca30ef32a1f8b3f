//! Benchmark of patches for all published types, and of reading the bundle. `cargo xtask bench` runs it; it prints Markdown.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a benchmark measures real time")]
#![allow(clippy::print_stdout, reason = "it reports to whoever runs it")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use stead_cloud::{Sampler, create, read};
use stead_model::{Map, Value};
use stead_schema::cfn::{DigestKey, LastApplied, Schema, Update, UpdateInputs, bundle, patch};

/// Runs per patch. The fastest counts, because slower runs shared the core with other processes.
const RUNS: usize = 5;

fn main() {
    let cold = timed(|| bundle::shipped().names().count());
    let names: Vec<&str> = bundle::shipped().names().collect();
    let mut loads: Vec<Duration> =
        names.iter().map(|name| fastest(|| bundle::shipped().schema(name))).collect();
    let schemas: Vec<Schema> = names.iter().filter_map(|name| bundle::shipped().schema(name)).collect();
    let key = DigestKey::new([1; 32]);
    let (mut same, mut changed) = (Vec::new(), Vec::new());
    for schema in schemas.iter().filter(|schema| schema.is_manageable() && schema.handlers.update.is_some()) {
        let last = Sampler::new(schema).desired();
        let Ok(full) = create(schema, &last) else { continue };
        let live = read(schema, &full);
        let last_applied = LastApplied::of(schema, &key, &last);
        let update = |want: &Map| {
            patch(schema, &UpdateInputs { last: &last_applied, settled: None, live: &live, want, key: &key })
        };
        same.push(fastest(|| update(&last)));
        let want = without_one(&last);
        if !matches!(update(&want), Update::Nothing) {
            changed.push(fastest(|| update(&want)));
        }
    }
    println!("| | median | 99th percentile | types |\n|---|---:|---:|---:|");
    row("patch: nothing changes", &mut same);
    row("patch: a property goes", &mut changed);
    row("reading one type from the bundle", &mut loads);
    println!(
        "\nThe index of the bundle is read at the first use, in {:.1} ms; before that it costs nothing.",
        cold.as_secs_f64() * 1e3
    );
}

/// Returns the inputs without their last property.
fn without_one(last: &Map) -> Map {
    let mut want: Map = last.clone();
    let name =
        want.iter().rev().find(|(_, value)| !matches!(value, Value::Null)).map(|(name, _)| name.clone());
    name.and_then(|name| want.remove(&name));
    want
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn fastest<T>(work: impl Fn() -> T) -> Duration {
    (0..RUNS).map(|_| timed(&work)).min().unwrap_or_default()
}

fn row(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |part: f64| times.get((times.len() as f64 * part) as usize).copied().unwrap_or_default();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!("| {what} | {:.0} µs | {:.0} µs | {} |", micros(at(0.5)), micros(at(0.99)), times.len());
}
