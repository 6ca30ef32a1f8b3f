//! Plays: rival processes, targeted runs, renames, imports, and unreliable providers and stores.

use stead_trial::play;

#[test]
fn no_play_ends_badly() {
    let failed: Vec<String> = (0..150).filter_map(|seed| play(seed).err()).collect();
    assert!(failed.is_empty(), "{} plays failed, the first:\n{}", failed.len(), failed[0]);
}

#[test]
fn no_play_of_the_second_half_ends_badly() {
    let failed: Vec<String> = (150..300).filter_map(|seed| play(seed).err()).collect();
    assert!(failed.is_empty(), "{} plays failed, the first:\n{}", failed.len(), failed[0]);
}

#[test]
fn the_same_seed_gives_the_same_play() {
    for seed in 0..50 {
        assert_eq!(play(seed), play(seed), "seed {seed}");
    }
}
