//! The crash matrix: a blow at every place of a run with every kind of step, in every kind of store.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use stead_trial::{
    Blow, Boundary, Chance, DISK_ERRORS, DiskFault, Errand, Extent, Medium, PowerCut, StoreFault, StoreLuck,
    Torn, live, points_of_errand, points_of_rehearsal, rehearse_in, rehearse_power_cut,
};

/// Every place at which a blow can fall, until one falls on nothing.
fn everywhere(medium: Medium, blow: impl Fn(u64) -> Blow, second: Option<Blow>) -> u64 {
    for at in 1.. {
        match rehearse_in(medium, blow(at), second) {
            Ok(true) => {}
            Ok(false) => return at - 1,
            Err(lost) => panic!("{lost}"),
        }
    }
    0
}

#[test]
fn a_crash_at_every_point_of_every_kind_of_step_loses_nothing() {
    assert!(everywhere(Medium::Files, Blow::Kill, None) > 50);
    assert!(everywhere(Medium::Files, Blow::PowerLoss, None) > 50);
    assert!(everywhere(Medium::Objects, Blow::Kill, None) > 20);
    assert!(everywhere(Medium::Objects, Blow::PowerLoss, None) > 20);
}

#[test]
fn a_crash_in_the_recovery_from_a_crash_loses_nothing() {
    for second in [1, 2, 3, 5, 8, 13, 21, 34] {
        everywhere(Medium::Files, Blow::Kill, Some(Blow::PowerLoss(second)));
        everywhere(Medium::Files, Blow::PowerLoss, Some(Blow::Kill(second)));
        everywhere(Medium::Objects, Blow::Kill, Some(Blow::Kill(second)));
    }
}

#[test]
fn any_one_operation_of_a_store_may_fail_be_late_or_doubled_and_nothing_is_lost() {
    for luck in [
        StoreLuck::Fails,
        StoreLuck::AnswerLost,
        StoreLuck::Late,
        StoreLuck::EffectLate,
        StoreLuck::Doubled,
        StoreLuck::Down,
    ] {
        let blow = |at| Blow::Network(StoreFault { at: at as u32, luck });
        assert!(everywhere(Medium::Objects, blow, None) > 30, "{luck:?}");
        everywhere(Medium::Objects, blow, Some(Blow::Kill(5)));
    }
}

#[test]
fn any_one_file_operation_may_fail_and_nothing_is_lost() {
    for kind in DISK_ERRORS {
        let operations = everywhere(Medium::Files, |at| failure(at, kind, Extent::Once), None);
        assert!(operations > 80, "{operations}");
    }
    everywhere(Medium::Files, |at| failure(at, DISK_ERRORS[0], Extent::Once), Some(Blow::PowerLoss(3)));
}

fn failure(at: u64, kind: ErrorKind, extent: Extent) -> Blow {
    Blow::DiskFailure(DiskFault { at, kind, extent })
}

#[test]
fn a_disk_that_fails_for_good_at_any_operation_loses_nothing() {
    for extent in [Extent::Store, Extent::Project, Extent::Disk] {
        for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
            assert!(everywhere(Medium::Files, |at| failure(at, kind, extent), None) > 80);
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

const RELIEVED: &str = "run.open.relieved";

/// Every crash point in shipped code, from its sources: a new one that no rehearsal passes fails this test.
#[test]
fn the_matrix_passes_every_crash_point_there_is() {
    let mut passed: BTreeSet<String> = BTreeSet::new();
    for blow in [Blow::Kill(u64::MAX), Blow::Kill(25)] {
        passed.extend(points_of_rehearsal(blow).unwrap().into_iter().map(str::to_owned));
    }
    for errand in Errand::ALL {
        passed.extend(points_of_errand(errand).unwrap().into_iter().map(str::to_owned));
    }
    // A holder is relieved only where there are rivals: in lives.
    let takeover = |seed: &u64| live(*seed).unwrap().reached.iter().any(|mark| mark.ends_with(RELIEVED));
    passed.extend((0..10_000).find(takeover).map(|_| RELIEVED.to_owned()));
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut written = BTreeSet::new();
    for shipped in std::fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("src")) {
        // What the command line does by itself, real processes are killed in.
        if !shipped.starts_with(crates.join("stead-cli")) {
            points_in(&shipped, &mut written);
        }
    }
    assert!(written.len() > 15, "{written:?}");
    let missed: Vec<&String> = written.difference(&passed).collect();
    assert!(missed.is_empty(), "no rehearsal passes {missed:?}");
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
