//! Many lives, each from its seed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_trial::{Blow, live, rehearse};

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

/// Every place at which a blow can fall, until one falls on nothing.
fn everywhere(blow: impl Fn(u64) -> Blow, second: Option<Blow>) -> u64 {
    for at in 1.. {
        match rehearse(blow(at), second) {
            Ok(true) => {}
            Ok(false) => return at - 1,
            Err(lost) => panic!("{lost}"),
        }
    }
    0
}

#[test]
fn a_crash_at_every_point_of_every_kind_of_step_loses_nothing() {
    assert!(everywhere(Blow::Kill, None) > 50);
    assert!(everywhere(Blow::PowerLoss, None) > 50);
}

#[test]
fn a_crash_in_the_recovery_from_a_crash_loses_nothing() {
    for second in [1, 2, 3, 5, 8, 13, 21, 34] {
        everywhere(Blow::Kill, Some(Blow::PowerLoss(second)));
        everywhere(Blow::PowerLoss, Some(Blow::Kill(second)));
    }
}

#[test]
fn any_one_file_operation_may_fail_and_nothing_is_lost() {
    let operations = everywhere(Blow::DiskFailure, None);
    assert!(operations > 80, "{operations}");
    everywhere(Blow::DiskFailure, Some(Blow::PowerLoss(3)));
}
