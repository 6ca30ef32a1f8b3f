//! The simulated surroundings of Stead: disk, files, processes, clock and cloud, all driven by one seed.

pub(crate) mod cloud;
pub(crate) mod disk;
mod files;
pub(crate) mod journal_witness;
pub(crate) mod process;
pub(crate) mod site;
pub(crate) mod trace;
