//! The trial: whole lives of a stack in a simulated world that tries to lose something.
//!
//! The engine, planner, guards, journal and stores are those that ship; disk, clock, randomness and cloud are
//! simulated, from one seed. **Invariant:** the same seed gives the same life, event for event.

mod amend;
mod chance;
mod cloud;
mod deep;
mod disk;
mod edit;
mod fate;
mod files;
mod ledger;
mod life;
mod luck;
mod marks;
mod model;
mod moving;
mod observe;
mod operate;
mod oracle;
mod pinboard;
mod play;
mod process;
mod program;
mod reach;
mod rehearsal;
mod script;
mod shrink;
mod stage;
mod start;
pub mod teeth;
mod watched;

pub use chance::Chance;
pub use cloud::Cloud;
pub use deep::rise_and_fall;
pub use disk::Disk;
pub use edit::Edit;
pub use fate::{Boundary, DISK_ERRORS, DiskFault, Extent, Fate, Place, PowerCut, Rare, Torn};
pub use life::{Broken, Life, live, perform};
pub use luck::{CloudFault, Lie, Luck, StoreFault, StoreLuck};
pub use marks::MARKS;
pub use model::Loss;
pub use moving::{Errand, points_of_errand, run_errand};
pub use play::play;
pub use process::Skew;
pub use program::{Declared, Program, Tie, Trait};
pub use rehearsal::{Blow, points_of_rehearsal, rehearse, rehearse_in, rehearse_power_cut};
pub use script::{Act, Medium, Outside, Rival, Script, Task, Twice, Weather};
pub use shrink::{as_test, relive, shrink, shrink_by};
pub use start::Start;

/// As in the binary that ships: a life makes and drops tens of thousands of small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
