//! Cloud lives: the shipped AWS provider against the embedded cloud, with its faults.

use stead_trial::{cloud_crowd, cloud_life};

#[test]
fn no_resource_is_doubled_lost_or_forgotten() {
    let failed: Vec<String> = (0..300).filter_map(|seed| cloud_life(seed).err()).collect();
    assert!(failed.is_empty(), "{} failed: {}", failed.len(), failed[0]);
}

#[test]
fn the_same_seed_gives_the_same_life() {
    for seed in 0..5 {
        assert_eq!(cloud_life(seed), cloud_life(seed), "seed {seed}");
    }
}

#[test]
fn five_hundred_resources_come_up_change_and_go() {
    let crowd = cloud_crowd(1, 500).unwrap_or_else(|lost| panic!("{lost}"));
    assert!(crowd.resources >= 500 && crowd.died > 0 && crowd.settled > 0, "{crowd:?}");
}
