//! Rivals, parts, renames, imports, and providers and stores at their worst.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_trial::play;

#[test]
fn no_play_ends_badly() {
    let lost: Vec<String> = (0..300).filter_map(|seed| play(seed).err()).collect();
    assert!(lost.is_empty(), "{} plays lost something; the first:\n{}", lost.len(), lost[0]);
}

#[test]
fn the_same_seed_gives_the_same_play() {
    for seed in 0..100 {
        assert_eq!(play(seed), play(seed), "seed {seed}");
    }
}
