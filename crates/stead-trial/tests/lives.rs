//! Many lives, each from its seed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_trial::live;

#[test]
fn no_life_loses_anything() {
    let lives = 1_000;
    let mut lost = Vec::new();
    for seed in 0..lives {
        if let Err(report) = live(seed) {
            lost.push(report);
        }
    }
    assert!(lost.is_empty(), "{} of {lives} lives lost something; the first:\n{}", lost.len(), lost[0]);
}

#[test]
fn the_same_seed_gives_the_same_life() {
    for seed in 0..100 {
        assert_eq!(live(seed), live(seed), "seed {seed}");
    }
}
