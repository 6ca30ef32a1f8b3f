//! Inventories: files without an id, imported files, and retained files that are taken back.

use stead_trial::inventory;

#[test]
fn no_inventory_loses_a_file_or_its_record() {
    let failed: Vec<String> = (0..300).filter_map(|seed| inventory(seed).err()).collect();
    let causes: Vec<&str> = failed.iter().filter_map(|failure| failure.lines().next()).collect();
    assert!(failed.is_empty(), "{causes:#?} failed, the first:\n{}", failed[0]);
}

#[test]
fn the_same_seed_gives_the_same_inventory() {
    for seed in 0..30 {
        assert_eq!(inventory(seed), inventory(seed), "seed {seed}");
    }
}
