//! Tests of the decoders of project files, with the corpus of the fuzz targets and thousands of damaged copies of it.

#[path = "../../../fuzz/src/mutate.rs"]
#[allow(unreachable_pub, reason = "a library elsewhere")]
mod mutate;

use stead_state::{seal, unseal};

use crate::project;
use crate::saved::SavedPlan;

#[test]
fn damaged_stead_toml_never_panics_the_reader() {
    let config = include_str!("../../../fuzz/corpus/config/stead.toml");
    assert!(project::check(config).is_ok());
    let taken = (0..3000)
        .filter_map(|seed| String::from_utf8(mutate::mutated(config.as_bytes(), seed)).ok())
        .filter(|text| project::check(text).is_ok());
    assert!(taken.count() < 3000);
}

#[test]
fn damage_to_a_saved_plan_is_always_found() {
    let plan = include_str!("../../../fuzz/corpus/saved/plan");
    let body = plan.lines().next().map(|line| format!("{line}\n")).unwrap_or_default();
    let whole = seal(body.clone().into_bytes());
    assert_eq!(unseal(&whole), Some(body.as_bytes()));
    assert!(serde_json::from_str::<SavedPlan>(&body).is_ok());
    for seed in 0..3000 {
        let bytes = mutate::mutated(&whole, seed);
        assert!(bytes == whole || unseal(&bytes).is_none(), "seed {seed}");
        // A damaged body under a correct digest is read or refused, without a panic.
        let _ = serde_json::from_slice::<SavedPlan>(&mutate::mutated(body.as_bytes(), seed)).is_ok();
    }
}
