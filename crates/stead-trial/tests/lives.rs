//! Many lives, each from its seed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::io::ErrorKind;

use stead_trial::{
    Blow, Boundary, Chance, DISK_ERRORS, DiskFault, Extent, PowerCut, Torn, live, rehearse,
    rehearse_power_cut,
};

#[test]
fn no_life_loses_anything() {
    let lives = 1_000;
    let mut lost = Vec::new();
    let mut reached = BTreeSet::new();
    for seed in 0..lives {
        match live(seed) {
            Ok(life) => reached.extend(life.reached),
            Err(report) => lost.push(report),
        }
    }
    for mark in ["an answer was kept", "an answer was told", "guard refused", "drift"] {
        assert!(reached.contains(mark), "no life has seen that {mark}");
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
    for kind in DISK_ERRORS {
        let operations = everywhere(|at| failure(at, kind, Extent::Once), None);
        assert!(operations > 80, "{operations}");
    }
    everywhere(|at| failure(at, DISK_ERRORS[0], Extent::Once), Some(Blow::PowerLoss(3)));
}

fn failure(at: u64, kind: ErrorKind, extent: Extent) -> Blow {
    Blow::DiskFailure(DiskFault { at, kind, extent })
}

#[test]
fn a_disk_that_fails_for_good_at_any_operation_loses_nothing() {
    for extent in [Extent::Store, Extent::Project, Extent::Disk] {
        for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
            assert!(everywhere(|at| failure(at, kind, extent), None) > 80);
        }
    }
}

#[test]
fn whatever_survives_of_what_was_not_synced_the_next_run_recovers() {
    let mut cases = 0;
    for sync in 1.. {
        let nothing = PowerCut { sync, survivors: 0, torn: Torn::Whole };
        let Some(boundary) = cut(nothing) else { break };
        let torn = if boundary.writing { &Torn::ALL[..] } else { &Torn::ALL[..1] };
        for &torn in torn {
            for survivors in subsets(boundary.unsynced) {
                assert_eq!(cut(PowerCut { sync, survivors, torn }), Some(boundary));
                cases += 1;
            }
        }
    }
    assert!(cases > 500, "{cases}");
}

fn cut(cut: PowerCut) -> Option<Boundary> {
    rehearse_power_cut(cut).unwrap_or_else(|lost| panic!("{lost}"))
}

/// Every subset of a few; of many, the first so many, all but one, and some drawn ones.
fn subsets(count: usize) -> Vec<u64> {
    if count <= 4 {
        return (0..1 << count).collect();
    }
    let all = if count >= 64 { u64::MAX } else { (1 << count) - 1 };
    let first = (0..=count).map(|kept| if kept >= 64 { u64::MAX } else { (1 << kept) - 1 });
    let but_one = (0..count.min(64)).map(|lost| all & !(1 << lost));
    let mut chance = Chance::new(count as u64);
    let drawn = (0..4).map(|_| chance.draw() & all);
    first.chain(but_one).chain(drawn).collect()
}
