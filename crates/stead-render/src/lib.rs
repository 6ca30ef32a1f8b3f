//! Renders plans, problems and progress as text and JSON. Pure: no terminal, no file, no environment.
//!
//! Colour never carries meaning alone. Two different values never
//! look alike: a part that is left out is equal on both sides, or is replaced by its digest.
//! **Invariant:** no text contains command-line syntax; where an operation is proposed, the caller phrases
//! it.

mod change;
mod diagnostic;
mod diff;
mod drift;
mod expectation;
mod json;
mod moves;
mod node;
mod outputs;
mod plan;
mod progress;
mod schema;
mod stats;
mod style;
mod typescript;
mod visible;

pub use change::{change_lines, input, value};
pub use diagnostic::{SourceText, diagnostic};
pub use drift::{Drifted, drift, read};
pub use expectation::expectation;
pub use json::{JSON_VERSION, json_line};
pub use moves::{PhraseStep, ambiguities, place_reason, reason, rename_place_step, rename_step, suggestions};
pub use outputs::outputs;
pub use plan::{Done, Header, PlanJson, View, leaves_out_new_properties, plan, plan_json, same, summary};
pub use progress::{Running, progress_line};
pub use schema::{schema, update};
pub use stats::{Figure, log_line, sparkline, stats};
pub use style::{Detail, Paint, Style, Wrap};
pub use typescript::{FindLink, Link, declaration, linked_declaration};
