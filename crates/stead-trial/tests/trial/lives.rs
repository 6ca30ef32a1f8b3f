//! Random lives: 300 with fixed seeds and 100 with fresh ones. `cargo xtask trial` runs thousands.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use stead_trial::{Script, as_test, run_script, run_seed, shrink};

/// Runs `count` lives and panics with the minimized script of the first failing one.
fn run_lives(first: u64, count: u64) {
    let failed: Vec<u64> =
        (first..first + count).filter(|seed| run_script(&Script::draw(*seed, None)).is_err()).collect();
    if let Some(seed) = failed.first() {
        let (shortest, violation) = shrink(&Script::draw(*seed, None)).unwrap();
        let test = as_test(&shortest, &format!("seed_{seed}"));
        let replay = format!("cargo xtask trial --seed {seed} --lives 1");
        panic!(
            "{} of {count} lives failed, the first with seed {seed}: {violation}\n{test}\n{replay}",
            failed.len()
        );
    }
}

#[test]
fn no_life_loses_anything() {
    run_lives(0, 150);
}

#[test]
fn no_life_of_the_second_half_loses_anything() {
    run_lives(150, 150);
}

/// The seed differs in every test run; a failure prints it together with the command that replays the life.
#[test]
fn no_life_with_a_fresh_seed_loses_anything() {
    run_lives(RandomState::new().build_hasher().finish() >> 16, 100);
}

#[test]
fn the_same_seed_gives_the_same_life() {
    for seed in 0..50 {
        assert_eq!(run_seed(seed), run_seed(seed), "seed {seed}");
    }
}
