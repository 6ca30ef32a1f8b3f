//! The oracles: a reference model of the cloud, checks of stored snapshots and pins, and coverage marks.

pub(crate) mod coverage;
pub(crate) mod leaks;
pub(crate) mod model;
pub(crate) mod pins;
pub(crate) mod snapshots;
