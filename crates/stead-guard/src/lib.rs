//! What may be deleted: decided over the whole plan, before the first side effect.
//!
//! Pure. **Invariants:** a [`DeletePermit`] is made here and nowhere else, one for each copy, and only if
//! nothing in the plan was refused; the engine never edits a mark.

mod decide;
mod levels;
mod marks;
mod permit;

pub use decide::{Cause, Deletion, Fate, Mark, Refusal, decide};
pub use levels::{Choice, Row, Standing, explain_policy, explain_prevention, resolve};
pub use marks::{BadMark, Entry, Foreign, Given, LevelMarks, MarkKey, Reader, Written, service_of};
pub use permit::{DeletePermit, Permits};
