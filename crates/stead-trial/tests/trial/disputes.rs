//! Disputes: stacks that want the same files.

use stead_trial::dispute;

#[test]
fn no_dispute_loses_a_file() {
    let failed: Vec<String> = (0..300).filter_map(|seed| dispute(seed).err()).collect();
    let causes: Vec<&str> = failed.iter().filter_map(|failure| failure.lines().next()).collect();
    assert!(failed.is_empty(), "{causes:#?} failed, the first:\n{}", failed[0]);
}

#[test]
fn the_same_seed_gives_the_same_dispute() {
    for seed in 0..30 {
        assert_eq!(dispute(seed), dispute(seed), "seed {seed}");
    }
}
