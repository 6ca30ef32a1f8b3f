//! The fault matrix of stack operations: a fault at every point of a move, a rename, a creation and a repair.

use std::io::ErrorKind;

use stead_trial::{DiskFault, Fault, FaultExtent, StackOperation, run_stack_operation};

/// Injects the fault at point 1, 2, 3 … until the operation ends before it. Returns the number of points.
fn at_every_point(operation: StackOperation, fault: impl Fn(u64) -> Fault, second: Option<Fault>) -> u64 {
    for at in 1.. {
        match run_stack_operation(operation, fault(at), second) {
            Ok(true) => {}
            Ok(false) => return at - 1,
            Err(violation) => panic!("{violation}"),
        }
    }
    0
}

#[test]
fn a_crash_at_every_point_of_a_move_leaves_each_resource_in_one_stack() {
    assert!(at_every_point(StackOperation::Move, Fault::Kill, None) > 30);
    assert!(at_every_point(StackOperation::Move, Fault::PowerLoss, None) > 30);
}

#[test]
fn a_crash_at_every_point_of_a_rename_leaves_one_stack() {
    assert!(at_every_point(StackOperation::Rename, Fault::Kill, None) > 15);
    assert!(at_every_point(StackOperation::Rename, Fault::PowerLoss, None) > 15);
}

#[test]
fn a_crash_at_every_point_of_a_creation_or_a_repair_loses_nothing() {
    for operation in [StackOperation::Create, StackOperation::Repair] {
        assert!(at_every_point(operation, Fault::Kill, None) > 2);
        assert!(at_every_point(operation, Fault::PowerLoss, None) > 2);
    }
}

fn with_two_crashes(operation: StackOperation) {
    for second in [1, 2, 3, 5, 8, 13, 21, 34] {
        at_every_point(operation, Fault::Kill, Some(Fault::PowerLoss(second)));
        at_every_point(operation, Fault::PowerLoss, Some(Fault::Kill(second)));
    }
}

#[test]
fn a_crash_in_the_recovery_of_a_move_or_a_rename_loses_nothing() {
    with_two_crashes(StackOperation::Move);
}

#[test]
fn a_crash_in_the_recovery_of_a_rename_loses_nothing() {
    with_two_crashes(StackOperation::Rename);
}

fn full_disk(at: u64) -> Fault {
    Fault::DiskFailure(DiskFault { at, kind: ErrorKind::StorageFull, extent: FaultExtent::Once })
}

#[test]
fn any_one_file_operation_of_a_move_or_a_rename_may_fail() {
    for operation in [StackOperation::Move, StackOperation::Rename] {
        assert!(at_every_point(operation, full_disk, None) > 40);
        at_every_point(operation, full_disk, Some(Fault::PowerLoss(4)));
    }
}
