//! The fault matrix of a run: a fault at every possible point of a run with every kind of step, in every kind of store.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use stead_trial::{
    DISK_ERRORS, DiskFault, Fault, FaultExtent, PowerCut, Rng, StackOperation, StoreBehaviour, StoreFault,
    StoreKind, SyncBoundary, TornWrite, crash_points_of_run, crash_points_of_stack_operation, run_seed,
    run_with_faults_in, run_with_power_cut,
};

/// Injects the fault at point 1, 2, 3 … until a run ends before it. Returns the number of points.
fn at_every_point(store_kind: StoreKind, fault: impl Fn(u64) -> Fault, second: Option<Fault>) -> u64 {
    for at in 1.. {
        match run_with_faults_in(store_kind, fault(at), second) {
            Ok(true) => {}
            Ok(false) => return at - 1,
            Err(violation) => panic!("{violation}"),
        }
    }
    0
}

#[test]
fn a_crash_at_every_point_of_every_kind_of_step_loses_nothing() {
    assert!(at_every_point(StoreKind::Files, Fault::Kill, None) > 50);
    assert!(at_every_point(StoreKind::Objects, Fault::Kill, None) > 20);
}

#[test]
fn a_power_loss_at_every_point_of_every_kind_of_step_loses_nothing() {
    assert!(at_every_point(StoreKind::Files, Fault::PowerLoss, None) > 50);
    assert!(at_every_point(StoreKind::Objects, Fault::PowerLoss, None) > 20);
}

/// Crash points of the recovery at which the second fault is injected.
const SECOND: [u64; 8] = [1, 2, 3, 5, 8, 13, 21, 34];

#[test]
fn a_crash_in_the_recovery_from_a_crash_loses_nothing() {
    for second in SECOND {
        at_every_point(StoreKind::Objects, Fault::Kill, Some(Fault::Kill(second)));
    }
}

#[test]
fn a_power_loss_in_the_recovery_from_a_crash_loses_nothing() {
    for second in SECOND {
        at_every_point(StoreKind::Files, Fault::Kill, Some(Fault::PowerLoss(second)));
    }
}

#[test]
fn a_crash_in_the_recovery_from_a_power_loss_loses_nothing() {
    for second in SECOND {
        at_every_point(StoreKind::Files, Fault::PowerLoss, Some(Fault::Kill(second)));
    }
}

fn with_store_behaviour(behaviour: StoreBehaviour) {
    let fault = |at| Fault::Network(StoreFault { at: at as u32, behaviour });
    assert!(at_every_point(StoreKind::Objects, fault, None) > 30, "{behaviour:?}");
    at_every_point(StoreKind::Objects, fault, Some(Fault::Kill(5)));
}

#[test]
fn any_one_store_operation_may_fail_and_nothing_is_lost() {
    for behaviour in [StoreBehaviour::Fails, StoreBehaviour::AnswerLost, StoreBehaviour::Down] {
        with_store_behaviour(behaviour);
    }
}

#[test]
fn any_one_store_operation_may_be_late_or_doubled_and_nothing_is_lost() {
    for behaviour in [StoreBehaviour::Late, StoreBehaviour::EffectLate, StoreBehaviour::Doubled] {
        with_store_behaviour(behaviour);
    }
}

fn disk_failure(at: u64, kind: ErrorKind, extent: FaultExtent) -> Fault {
    Fault::DiskFailure(DiskFault { at, kind, extent })
}

fn with_disk_error_once(kinds: &[ErrorKind]) {
    for kind in kinds {
        let operations =
            at_every_point(StoreKind::Files, |at| disk_failure(at, *kind, FaultExtent::Once), None);
        assert!(operations > 80, "{operations}");
    }
}

#[test]
fn any_one_file_operation_may_fail_and_nothing_is_lost() {
    with_disk_error_once(&DISK_ERRORS[..2]);
}

#[test]
fn any_one_file_operation_of_a_broken_or_read_only_disk_may_fail() {
    with_disk_error_once(&DISK_ERRORS[2..4]);
}

#[test]
fn any_one_file_operation_may_be_denied_or_interrupted() {
    with_disk_error_once(&DISK_ERRORS[4..]);
}

#[test]
fn a_power_loss_in_the_recovery_from_a_failed_file_operation_loses_nothing() {
    let full = |at| disk_failure(at, ErrorKind::StorageFull, FaultExtent::Once);
    at_every_point(StoreKind::Files, full, Some(Fault::PowerLoss(3)));
}

fn with_permanent_disk_failure(extent: FaultExtent) {
    for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
        assert!(at_every_point(StoreKind::Files, |at| disk_failure(at, kind, extent), None) > 80);
    }
}

#[test]
fn a_disk_that_fails_for_good_at_any_operation_loses_nothing() {
    with_permanent_disk_failure(FaultExtent::Disk);
}

#[test]
fn a_store_folder_that_fails_for_good_at_any_operation_loses_nothing() {
    with_permanent_disk_failure(FaultExtent::Store);
}

#[test]
fn a_project_folder_that_fails_for_good_at_any_operation_loses_nothing() {
    with_permanent_disk_failure(FaultExtent::Project);
}

/// Cuts the power at half of all syncs, with every combination of surviving unsynced changes.
///
/// Syncs of bytes and of names alternate, so that each half takes two of four successive syncs.
fn with_power_cuts(half: u64) {
    let mut cases = 0;
    for sync in (1..).filter(|sync| sync / 2 % 2 == half) {
        let nothing_survives = PowerCut { sync, survivors: 0, torn: TornWrite::Whole };
        let Some(boundary) = power_cut(nothing_survives) else { break };
        let torn = if boundary.writing { &TornWrite::ALL[..] } else { &TornWrite::ALL[..1] };
        for &torn in torn {
            for survivors in subsets(boundary.unsynced) {
                assert_eq!(power_cut(PowerCut { sync, survivors, torn }), Some(boundary));
                cases += 1;
            }
        }
    }
    assert!(cases > 150, "{cases}");
}

#[test]
fn whatever_survives_of_what_was_not_synced_the_next_run_recovers() {
    with_power_cuts(0);
}

#[test]
fn the_next_run_recovers_from_a_power_cut_at_the_other_half_of_the_syncs_too() {
    with_power_cuts(1);
}

fn power_cut(cut: PowerCut) -> Option<SyncBoundary> {
    run_with_power_cut(cut).unwrap_or_else(|violation| panic!("{violation}"))
}

/// Returns all subsets of up to four changes. Of more changes: every prefix, all but one, and four random subsets.
fn subsets(count: usize) -> Vec<u64> {
    if count <= 4 {
        return (0..1 << count).collect();
    }
    let all = if count >= 64 { u64::MAX } else { (1 << count) - 1 };
    let prefixes = (0..=count).map(|kept| if kept >= 64 { u64::MAX } else { (1 << kept) - 1 });
    let all_but_one = (0..count.min(64)).map(|lost| all & !(1 << lost));
    let mut rng = Rng::new(count as u64);
    let random = (0..4).map(|_| rng.draw() & all);
    prefixes.chain(all_but_one).chain(random).collect()
}

const RELIEVED: &str = "run.open.relieved";

/// Collects the crash points from the sources of the shipped crates: a new point that no scenario passes fails this test.
#[test]
fn the_matrix_passes_every_crash_point_there_is() {
    let mut passed: BTreeSet<String> = BTreeSet::new();
    for fault in [Fault::Kill(u64::MAX), Fault::Kill(25)] {
        passed.extend(crash_points_of_run(fault).unwrap().into_iter().map(str::to_owned));
    }
    for operation in StackOperation::ALL {
        let points = crash_points_of_stack_operation(operation).unwrap();
        passed.extend(points.into_iter().map(str::to_owned));
    }
    // A living holder is fenced only in lives, where rivals exist.
    let takeover = |seed: &u64| run_seed(*seed).unwrap().reached.iter().any(|mark| mark.ends_with(RELIEVED));
    passed.extend((0..10_000).find(takeover).map(|_| RELIEVED.to_owned()));
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut points = BTreeSet::new();
    for shipped in std::fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("src")) {
        // The tests of the command line kill real processes at its own crash points.
        if !shipped.starts_with(crates.join("stead-cli")) {
            points_in(&shipped, &mut points);
        }
    }
    assert!(points.len() > 15, "{points:?}");
    let missed: Vec<&String> = points.difference(&passed).collect();
    assert!(missed.is_empty(), "no scenario passes {missed:?}");
}

fn points_in(folder: &Path, found: &mut BTreeSet<String>) {
    let entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    for path in entries {
        if path.is_dir() {
            points_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for rest in text.split("crash_point(\"").skip(1) {
                found.extend(rest.split('"').next().map(str::to_owned));
            }
        }
    }
}
