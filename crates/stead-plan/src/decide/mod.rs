//! Decides about each declared resource: create, update, replace, or leave unchanged.
//!
//! The planner walks the graph in dependency order, asks about each resource, and judges the provider's verdict.

mod identity;
mod ignore;
mod imports;
mod judge;
mod planner;
mod record_change;
mod requested;
mod secrets;

pub use planner::{LiveObject, PlaceChange, Planner, Question, ServedBy, Verdict, plan};
pub use record_change::RecordChange;
pub use secrets::secret_identity;

pub(crate) use identity::Identity;
pub(crate) use judge::{Decision, Replacement};
pub(crate) use planner::Decided;
