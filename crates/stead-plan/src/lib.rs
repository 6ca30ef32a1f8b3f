//! State, graph and verdicts in; a plan out. The same bytes in give the same bytes out.
//!
//! The planner asks nobody itself: it puts [`Question`]s, the engine collects the providers' answers, and
//! with the same answers it makes the same plan again. **Invariant:** no clock, no I/O, no provider here.

mod deletions;
mod plan;
mod planner;
mod secrets;
mod steps;

pub use plan::{Action, Incarnation, Plan, Purpose, Step, StepId, Summary, Why};
pub use planner::{Planner, Question, Verdict, plan};

#[cfg(test)]
mod tests;
