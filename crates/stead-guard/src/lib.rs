//! What may be deleted: decided over the whole plan, before the first side effect.
//!
//! Pure. **Invariants:** a [`DeletePermit`] is made here and nowhere else, one for each copy, and only if
//! nothing in the plan was refused; the engine never edits a mark.

mod decide;
mod graph;
mod levels;
mod marks;
mod outer;
mod permit;
mod pinned;
pub mod pins;
mod refusal;

pub use decide::{Cause, Deletion, Fate, Mark, decide};
pub use graph::{mark_graph, near_levels};
pub use levels::{Choice, Row, Standing, explain_policy, explain_prevention, resolve};
pub use marks::{BadMark, Entry, Foreign, Given, LevelMarks, MarkKey, Reader, Written, service_of};
pub use outer::Outer;
pub use permit::{DeletePermit, Permits};
pub use refusal::{Refusal, cannot_forget};
