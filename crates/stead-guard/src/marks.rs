//! Marks: settings that restrict what may happen to a resource.
//!
//! [`read`] parses the marks of one level, [`levels`] resolves them over all levels, [`outer`] holds the levels around a
//! program, and [`graph`] sets the resolved marks on every resource of a graph.

mod graph;
mod levels;
mod outer;
mod read;

pub use graph::{mark_graph, near_levels};
pub use levels::{ResolvedMark, Row, SettingEffect, explain_policy, explain_prevention, resolve};
pub use outer::OuterLevels;
pub use read::{
    BadMark, LevelMarks, MarkKey, MarkReader, RawMark, RawValue, Spelling, UnknownKeys, service_of,
};
