//! The guards: marks and pins, which decide whether a resource may be deleted.
//!
//! - [`marks`]: `prevent-delete` and `deletion-policy`, read from all levels and resolved for each resource.
//! - [`pins`]: the pinfile, applied to a graph before planning.
//! - [`deletion`]: [`decide`], which permits all deletions of a plan or refuses the plan.
//!
//! This crate is pure. **Invariants:** only [`decide`] creates a [`DeletePermit`], one for each copy, and only if it
//! refuses no deletion of the plan; no function changes a mark in state.

mod deletion;
mod marks;
pub mod pins;

pub use deletion::{
    Cause, DeletePermit, Deletion, DeletionEffect, Mark, Permits, Refusal, decide, forget_refusal,
};
pub use marks::{
    BadMark, LevelMarks, MarkKey, MarkReader, OuterLevels, RawMark, RawValue, ResolvedMark, Row,
    SettingEffect, Spelling, UnknownKeys, explain_policy, explain_prevention, mark_graph, near_levels,
    resolve, service_of,
};
