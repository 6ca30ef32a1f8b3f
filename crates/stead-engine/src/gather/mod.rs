//! Asks the providers what a plan needs to know: checks, differences, and reads.

pub(crate) mod limits;
pub(crate) mod provider_limits;
pub(crate) mod read;
mod refresh;
pub(crate) mod retry;
mod verdicts;

pub use refresh::{Drift, Refreshed};
