//! Ten thousand lives: 9,800 that are always the same, two hundred that nobody has lived before.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

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
    live_all(0, 2_450);
}

#[test]
fn nor_do_the_next() {
    live_all(2_450, 2_450);
}

#[test]
fn nor_those_after_them() {
    live_all(4_900, 2_450);
}

#[test]
fn nor_the_last_of_those_that_are_always_the_same() {
    live_all(7_350, 2_450);
}

/// Other lives every time. One that is lost is told with its seed, and with how to live it again.
#[test]
fn nor_do_those_that_nobody_has_lived_before() {
    live_all(RandomState::new().build_hasher().finish() >> 16, 200);
}

#[test]
fn the_same_seed_gives_the_same_life() {
    for seed in 0..200 {
        assert_eq!(live(seed), live(seed), "seed {seed}");
    }
}
