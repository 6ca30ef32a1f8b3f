//! The faults of one command: of its process, its provider calls and its store operations.

use serde::{Deserialize, Serialize};

use crate::Rng;
use crate::faults::behaviour::{
    CLOUD_BEHAVIOURS, CloudBehaviour, CloudFault, STORE_BEHAVIOURS, StoreBehaviour, StoreFault,
};
use crate::faults::process_faults::{
    CRASH_PLACES, CrashPlace, DISK_ERRORS, DiskFault, FaultExtent, PowerCut, ProcessFaults, RareCrash,
    TornWrite,
};
use crate::life::script::StoreKind;
use crate::world::process::ClockSkew;

/// Faults injected while one command runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FaultPlan {
    #[serde(rename = "fate")]
    pub process: ProcessFaults,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cloud: Vec<CloudFault>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub store: Vec<StoreFault>,
    /// Number of events after which Ctrl-C is pressed, once or twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<(u32, Interrupts)>,
}

/// Number of times that Ctrl-C is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interrupts {
    Once,
    Twice,
}

impl FaultPlan {
    /// Returns true if no fault is planned.
    pub(crate) fn is_empty(&self) -> bool {
        *self == FaultPlan::default()
    }

    /// Returns true if a run may fail because of these faults. Delays and doubled operations are no reason to fail.
    pub(crate) fn can_fail_a_run(&self) -> bool {
        let FaultPlan { process, cloud, store, interrupt } = self;
        let harmless =
            |fault: &StoreFault| matches!(fault.behaviour, StoreBehaviour::Late | StoreBehaviour::Doubled);
        *process != ProcessFaults::default()
            || !cloud.is_empty()
            || !store.iter().all(harmless)
            || interrupt.is_some()
    }

    pub(crate) fn draw(rng: &mut Rng, store_kind: StoreKind) -> FaultPlan {
        let mut plan = FaultPlan::default();
        let process = &mut plan.process;
        if rng.one_in(2) {
            process.dies_at = Some(1 + rng.below(36));
            process.power = rng.one_in(2);
        } else if rng.one_in(6) {
            let place = *rng.pick(&CRASH_PLACES).unwrap_or(&CrashPlace::Pinfile);
            process.rare = Some(RareCrash { place, nth: 1 + rng.below(2) });
            process.power = rng.one_in(2);
        } else if store_kind == StoreKind::Files && rng.one_in(20) {
            let torn = *rng.pick(&TornWrite::ALL).unwrap_or(&TornWrite::Whole);
            process.power_cut = Some(PowerCut { sync: 1 + rng.below(40), survivors: rng.draw(), torn });
        }
        if rng.one_in(12) {
            process.disk_fault = Some(disk_fault(rng));
        }
        if rng.one_in(8) {
            let mut off = || rng.below(200_000) as i64 - 100_000;
            let (off, jump) = (off(), off());
            process.skew = ClockSkew { off, fast: rng.below(101) as i64 - 50, jump };
        }
        if rng.one_in(2) {
            for _ in 0..1 + rng.below(3) {
                let behaviour = *rng.pick(&CLOUD_BEHAVIOURS).unwrap_or(&CloudBehaviour::Refused);
                plan.cloud.push(CloudFault { at: 1 + rng.below(5) as u32, behaviour });
            }
        }
        if store_kind == StoreKind::Objects && rng.one_in(4) {
            for _ in 0..1 + rng.below(2) {
                let behaviour = *rng.pick(&STORE_BEHAVIOURS).unwrap_or(&StoreBehaviour::Fails);
                plan.store.push(StoreFault { at: 1 + rng.below(30) as u32, behaviour });
            }
        }
        if rng.one_in(24) {
            let twice = if rng.one_in(2) { Interrupts::Twice } else { Interrupts::Once };
            plan.interrupt = Some((1 + rng.below(12) as u32, twice));
        }
        plan
    }
}

fn disk_fault(rng: &mut Rng) -> DiskFault {
    let extents =
        [FaultExtent::Once, FaultExtent::Once, FaultExtent::Store, FaultExtent::Project, FaultExtent::Disk];
    DiskFault {
        at: 1 + rng.below(120),
        kind: *rng.pick(&DISK_ERRORS).unwrap_or(&std::io::ErrorKind::Other),
        extent: *rng.pick(&extents).unwrap_or(&FaultExtent::Once),
    }
}
