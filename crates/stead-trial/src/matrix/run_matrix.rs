//! The fault matrix of a run: one scenario with every kind of step, and a fault at every possible point.

use std::collections::BTreeSet;

use crate::faults::behaviour::StoreFault;
use crate::faults::plan::FaultPlan;
use crate::faults::process_faults::{DiskFault, PowerCut, ProcessFaults, SyncBoundary};
use crate::life::program::{DeclaredResource, Program, ResourceFlag, Tie};
use crate::life::script::{Command, Round, StoreKind};
use crate::life::simulation::{Simulation, on_runtime};
use crate::oracle::model::Violation;

/// A fault of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process is killed at the n-th crash point.
    Kill(u64),
    /// The machine loses power at the n-th crash point.
    PowerLoss(u64),
    /// A file operation fails, or all from one on.
    DiskFailure(DiskFault),
    /// The machine loses power in the middle of a sync.
    PowerCut(PowerCut),
    /// An operation of an object store fails, is delayed or doubled.
    Network(StoreFault),
}

/// Creates resources, changes them all with the first fault, recovers with the second one, and then converges.
///
/// Returns false if the run ended before the first fault could be injected.
pub fn run_with_faults(first: Fault, second: Option<Fault>) -> Result<bool, String> {
    run_with_faults_in(StoreKind::Files, first, second)
}

/// As `run_with_faults`, with any kind of store.
pub fn run_with_faults_in(
    store_kind: StoreKind,
    first: Fault,
    second: Option<Fault>,
) -> Result<bool, String> {
    Ok(run_scenario(store_kind, first, second)?.fault_seen)
}

/// Returns the crash points that the scenario passes.
pub fn crash_points_of_run(first: Fault) -> Result<BTreeSet<&'static str>, String> {
    Ok(run_scenario(StoreKind::Files, first, None)?.points)
}

/// As `run_with_faults`, with a power cut. Returns the unsynced work, or `None` if the run ended before.
pub fn run_with_power_cut(cut: PowerCut) -> Result<Option<SyncBoundary>, String> {
    Ok(run_scenario(StoreKind::Files, Fault::PowerCut(cut), None)?.boundary)
}

/// Result of the scenario.
struct ScenarioResult {
    fault_seen: bool,
    boundary: Option<SyncBoundary>,
    points: BTreeSet<&'static str>,
}

fn run_scenario(
    store_kind: StoreKind,
    first: Fault,
    second: Option<Fault>,
) -> Result<ScenarioResult, String> {
    let mut simulation = Simulation::new(store_kind, before());
    let outcome = on_runtime(async {
        simulation.run_round(&Round::default()).await?;
        simulation.program = after();
        let fault_seen = simulation.up_with_fault(first).await?;
        let boundary = simulation.boundary;
        if let Some(second) = second {
            simulation.up_with_fault(second).await?;
        }
        simulation.run_round(&Round::default()).await?;
        simulation.converge().await?;
        let points = std::mem::take(&mut simulation.site.trace.entries().points);
        Ok(ScenarioResult { fault_seen, boundary, points })
    });
    outcome.map_err(|Violation { oracle, detail }| {
        format!("{first:?}, {second:?}: {oracle}: {detail}\n{}", simulation.trace())
    })
}

impl Simulation {
    /// Runs `up` with a fault. Returns false if the fault was not injected.
    async fn up_with_fault(&mut self, fault: Fault) -> Result<bool, Violation> {
        let before = self.site.trace.entries().faults;
        self.run_round(&Round {
            seed: 7,
            command: Command::Up,
            fault_plan: fault.fault_plan(),
            ..Round::default()
        })
        .await?;
        Ok(self.site.trace.entries().faults > before)
    }
}

impl Fault {
    pub(crate) fn fault_plan(self) -> FaultPlan {
        let process = match self {
            Fault::Kill(at) => ProcessFaults { dies_at: Some(at), ..ProcessFaults::default() },
            Fault::PowerLoss(at) => {
                ProcessFaults { dies_at: Some(at), power: true, ..ProcessFaults::default() }
            }
            Fault::DiskFailure(fault) => {
                ProcessFaults { disk_fault: Some(fault), ..ProcessFaults::default() }
            }
            Fault::PowerCut(cut) => ProcessFaults { power_cut: Some(cut), ..ProcessFaults::default() },
            Fault::Network(_) => ProcessFaults::default(),
        };
        let store = if let Fault::Network(fault) = self { vec![fault] } else { Vec::new() };
        FaultPlan { process, store, ..FaultPlan::default() }
    }
}

fn resource(size: i64, place: u64, from: Option<&str>) -> DeclaredResource {
    DeclaredResource { size, place, from: from.map(str::to_owned), ..DeclaredResource::default() }
}

fn before() -> Program {
    let resources = [
        ("kept", DeclaredResource { flags: vec![ResourceFlag::Pinned], ..resource(1, 0, None) }),
        ("updated", resource(1, 0, None)),
        ("replaced", resource(1, 0, None)),
        ("follower", resource(1, 0, Some("replaced"))),
        ("swapped", DeclaredResource { flags: vec![ResourceFlag::DeleteFirst], ..resource(1, 0, None) }),
        ("removed", resource(1, 0, Some("updated"))),
        ("ground", DeclaredResource { flags: vec![ResourceFlag::DeleteFirst], ..resource(1, 0, None) }),
        (
            "house",
            DeclaredResource { flags: vec![ResourceFlag::CreateOnlyInput], ..resource(1, 0, Some("ground")) },
        ),
        (
            "room",
            DeclaredResource { tie: Some((Tie::DeletedWith, "house".to_owned())), ..resource(1, 0, None) },
        ),
        ("leaving", resource(1, 0, Some("ground"))),
    ];
    Program { resources: resources.map(|(name, resource)| (name.to_owned(), resource)).into() }
}

/// One resource for each kind of step: unchanged, updated, replaced in both orders, dependent on a replaced one, new,
/// and removed; and a delete-first replacement that deletes its dependents first, with their contents.
fn after() -> Program {
    let resources = [
        ("kept", resource(1, 0, None)),
        ("updated", DeclaredResource { flags: vec![ResourceFlag::Pinned], ..resource(2, 0, None) }),
        ("replaced", resource(2, 1, None)),
        ("follower", resource(1, 0, Some("replaced"))),
        ("swapped", DeclaredResource { flags: vec![ResourceFlag::DeleteFirst], ..resource(1, 1, None) }),
        ("new", resource(1, 0, Some("swapped"))),
        ("ground", DeclaredResource { flags: vec![ResourceFlag::DeleteFirst], ..resource(1, 1, None) }),
        (
            "house",
            DeclaredResource { flags: vec![ResourceFlag::CreateOnlyInput], ..resource(1, 0, Some("ground")) },
        ),
        (
            "room",
            DeclaredResource { tie: Some((Tie::DeletedWith, "house".to_owned())), ..resource(1, 0, None) },
        ),
    ];
    Program { resources: resources.map(|(name, resource)| (name.to_owned(), resource)).into() }
}
