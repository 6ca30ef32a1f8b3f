//! The trial: whole lives of a stack in a simulated world that tries to lose something.
//!
//! The engine, planner, guards, journal and file store are those that ship; disk, clock, randomness and
//! cloud are simulated, from one seed. **Invariant:** the same seed gives the same life, event for event.

mod chance;
mod cloud;
mod deep;
mod disk;
mod fate;
mod life;
mod moving;
mod oracle;
mod play;
mod process;
mod program;
mod rehearsal;
pub mod teeth;

pub use chance::Chance;
pub use cloud::Cloud;
pub use deep::rise_and_fall;
pub use disk::Disk;
pub use fate::{Boundary, DISK_ERRORS, DiskFault, Extent, PowerCut, Torn};
pub use life::{Life, Reached, live};
pub use moving::{Errand, run_errand};
pub use play::play;
pub use rehearsal::{Blow, rehearse, rehearse_power_cut};
