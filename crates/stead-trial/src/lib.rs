//! The simulator: random lives of a stack against simulated surroundings that inject faults.
//!
//! The engine, planner, guards, journal and stores are the shipped code; disk, clock, randomness and cloud are
//! simulated from one seed. A life is one generated test case: a script of commands, edits of the program and faults. Oracles
//! compare the recorded state with a reference model after every command. **Invariant:** the same seed gives the same life,
//! event for event.

mod aws;
mod canary;
mod dispute;
mod faults;
mod inventory;
mod life;
mod matrix;
mod oracle;
pub mod planted;
mod play;
mod secret;
mod world;

pub use aws::{Crowd, cloud_crowd, cloud_life};
pub use canary::canary;
pub use dispute::dispute;
pub use faults::behaviour::{CloudBehaviour, CloudFault, StoreBehaviour, StoreFault, WrongAnswer};
pub use faults::plan::{FaultPlan, Interrupts};
pub use faults::process_faults::{
    CrashPlace, DISK_ERRORS, DiskFault, FaultExtent, PowerCut, ProcessFaults, RareCrash, SyncBoundary,
    TornWrite,
};
pub use faults::rng::Rng;
pub use inventory::inventory;
pub use life::edit::Edit;
pub use life::initial_stack::InitialStack;
pub use life::program::{DeclaredResource, Program, ResourceFlag, Tie};
pub use life::script::{Command, OutsideChange, Rival, Round, Script, StoreKind};
pub use life::shrink::{as_test, replay, shrink, shrink_by};
pub use life::simulation::{FailedLife, LifeReport, run_script, run_seed};
pub use matrix::deep_chain::apply_deep_chain;
pub use matrix::run_matrix::{
    Fault, crash_points_of_run, run_with_faults, run_with_faults_in, run_with_power_cut,
};
pub use matrix::stack_matrix::{StackOperation, crash_points_of_stack_operation, run_stack_operation};
pub use oracle::coverage::MARKS;
pub use oracle::model::Violation;
pub use play::play;
pub use world::cloud::Cloud;
pub use world::disk::Disk;
pub use world::process::ClockSkew;

/// The allocator of the shipped binary: a life allocates tens of thousands of small values.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
