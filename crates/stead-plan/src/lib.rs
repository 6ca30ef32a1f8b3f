//! Makes a plan from state, graph and verdicts. The same bytes in give the same bytes out.
//!
//! The way through: `correlate` matches declared resources with recorded ones; `decide` puts [`Question`]s and judges the providers'
//! [`Verdict`]s, one resource at a time; `assemble` turns the decisions into ordered steps; `check` refuses plans that would harm
//! unselected resources; `guard_input` lists the deletions that the guards have to permit.
//!
//! **Invariant:** no clock, no I/O and no provider here. The engine collects the verdicts, and the same verdicts give the same plan
//! again.

mod assemble;
mod canonical;
mod check;
mod correlate;
mod decide;
mod guard_input;
mod physical;
mod plan;
mod request;
mod secrets;
mod select;
mod ties;

pub use canonical::{CanonicalIdentities, Unidentified};
pub use correlate::{
    Aliases, Ambiguity, Confidence, Counterpart, Counterparts, Difference, Likeness, Match, MovedPlace,
    MovedResource, Reason, Suggestion, matches,
};
pub use decide::{
    LiveObject, PlaceChange, Planner, Question, RecordChange, ServedBy, Verdict, plan, secret_identity,
};
pub use guard_input::{DeclaredGuards, interrupted_deletions};
pub use plan::{Action, Certainty, Incarnation, Plan, ReplacementCause, Step, StepId, Summary, Why};
pub use request::{Follow, Glob, MovePolicy, Purpose, Reach, Request, Selection};
pub use stead_state::AfterDelete;

#[cfg(test)]
mod tests;
