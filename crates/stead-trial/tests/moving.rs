//! A blow at every place of a move between stacks and of a rename.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::ErrorKind;

use stead_trial::{Blow, DiskFault, Errand, Extent, run_errand};

fn everywhere(errand: Errand, blow: impl Fn(u64) -> Blow, second: Option<Blow>) -> u64 {
    for at in 1.. {
        match run_errand(errand, blow(at), second) {
            Ok(true) => {}
            Ok(false) => return at - 1,
            Err(lost) => panic!("{lost}"),
        }
    }
    0
}

#[test]
fn a_crash_at_every_point_of_a_move_leaves_each_resource_in_one_stack() {
    assert!(everywhere(Errand::Move, Blow::Kill, None) > 30);
    assert!(everywhere(Errand::Move, Blow::PowerLoss, None) > 30);
}

#[test]
fn a_crash_at_every_point_of_a_rename_leaves_one_stack() {
    assert!(everywhere(Errand::Rename, Blow::Kill, None) > 15);
    assert!(everywhere(Errand::Rename, Blow::PowerLoss, None) > 15);
}

#[test]
fn a_crash_at_every_point_of_making_or_repairing_a_stack_loses_nothing() {
    for errand in [Errand::Found, Errand::Repair] {
        assert!(everywhere(errand, Blow::Kill, None) > 2);
        assert!(everywhere(errand, Blow::PowerLoss, None) > 2);
    }
}

#[test]
fn a_crash_in_the_recovery_of_a_move_or_a_rename_loses_nothing() {
    for errand in [Errand::Move, Errand::Rename] {
        for second in [1, 2, 3, 5, 8, 13, 21, 34] {
            everywhere(errand, Blow::Kill, Some(Blow::PowerLoss(second)));
            everywhere(errand, Blow::PowerLoss, Some(Blow::Kill(second)));
        }
    }
}

fn full_disk(at: u64) -> Blow {
    Blow::DiskFailure(DiskFault { at, kind: ErrorKind::StorageFull, extent: Extent::Once })
}

#[test]
fn any_one_file_operation_of_a_move_or_a_rename_may_fail() {
    for errand in [Errand::Move, Errand::Rename] {
        assert!(everywhere(errand, full_disk, None) > 40);
        everywhere(errand, full_disk, Some(Blow::PowerLoss(4)));
    }
}
