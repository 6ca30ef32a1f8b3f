//! Canaries: secrets are in the clear nowhere, and the key opens all of them.

use stead_trial::canary;

#[test]
fn no_canary_is_in_the_clear_or_lost() {
    let failed: Vec<String> = (0..400).filter_map(|seed| canary(seed).err()).collect();
    assert!(failed.is_empty(), "{} failed: {}", failed.len(), failed[0]);
}

#[test]
fn the_same_seed_gives_the_same_canary() {
    for seed in 0..5 {
        assert_eq!(canary(seed), canary(seed), "seed {seed}");
    }
}
