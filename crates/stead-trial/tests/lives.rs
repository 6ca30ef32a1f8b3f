//! Ten thousand lives, each from its seed. `cargo xtask trial --seed S` lives others.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_trial::{Script, live, perform, shrink};

/// Lives so many lives, and tells of the first that loses something as shortly as it can be told.
fn live_all(first: u64, count: u64) {
    let lost: Vec<u64> =
        (first..first + count).filter(|seed| perform(&Script::draw(*seed, None)).is_err()).collect();
    if let Some(seed) = lost.first() {
        let (shortest, end) = shrink(&Script::draw(*seed, None)).unwrap();
        let test = stead_trial::as_test(&shortest, &format!("seed_{seed}"));
        let replay = format!("cargo xtask trial --seed {seed} --lives 1");
        panic!(
            "{} of {count} lives lost something; the first is {seed}: {end}\n{test}\n{replay}",
            lost.len()
        );
    }
}

#[test]
fn no_life_loses_anything() {
    live_all(0, 2_500);
}

#[test]
fn nor_do_the_next() {
    live_all(2_500, 2_500);
}

#[test]
fn nor_those_after_them() {
    live_all(5_000, 2_500);
}

#[test]
fn nor_the_last_of_ten_thousand() {
    live_all(7_500, 2_500);
}

#[test]
fn the_same_seed_gives_the_same_life() {
    for seed in 0..200 {
        assert_eq!(live(seed), live(seed), "seed {seed}");
    }
}
