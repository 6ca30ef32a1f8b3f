//! Questions to the providers that a plan depends on: checks, differences and reads.

mod batches;
mod canonical;
pub(crate) mod declared_part;
pub(crate) mod limits;
pub(crate) mod provider_limits;
pub(crate) mod read;
mod refresh;
pub(crate) mod retry;
mod verdicts;

pub use refresh::{Drift, Refreshed};
