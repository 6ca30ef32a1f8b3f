//! State, graph and verdicts in; a plan out. The same bytes in give the same bytes out.
//!
//! The planner asks nobody itself: it puts [`Question`]s, the engine collects the providers' answers, and
//! with the same answers it makes the same plan again. **Invariant:** no clock, no I/O, no provider here.

mod aliases;
mod circle;
mod condemn;
mod correlate;
mod deletions;
mod dragged;
mod guarded;
mod identity;
mod ignore;
mod imports;
mod judge;
mod moves;
mod noted;
mod plan;
mod planner;
mod request;
mod secrets;
mod select;
mod steps;
mod ties;

pub use aliases::Aliases;
pub use correlate::{Ambiguity, Difference, Match, Reason, Suggestion, Sureness};
pub use guarded::begun;
pub use noted::Noted;
pub use plan::{Action, Certainty, Drag, Incarnation, Plan, Step, StepId, Summary, Why};
pub use planner::{Found, Planner, Question, Verdict, plan};
pub use request::{Follow, Glob, Moves, Purpose, Reach, Request, Selection};
pub use stead_state::AfterDelete;

#[cfg(test)]
mod tests;
