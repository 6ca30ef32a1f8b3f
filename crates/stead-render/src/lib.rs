//! Renders plans, problems and progress as text and JSON. Pure: no terminal, no file, no environment.
//!
//! Colour never carries meaning alone. A value of any length is rendered on one line of bounded length.
//! **Invariant:** no text contains command-line syntax; where an operation is proposed, the caller phrases
//! it.

mod diagnostic;
mod drift;
mod json;
mod moves;
mod outputs;
mod plan;
mod progress;
mod schema;
mod style;
mod typescript;
mod value;

pub use diagnostic::{SourceText, diagnostic};
pub use drift::{Drifted, drift, read};
pub use json::{JSON_VERSION, json_line};
pub use moves::{PhraseStep, ambiguities, reason, rename_step, suggestions};
pub use outputs::outputs;
pub use plan::{Header, change_line, plan, same, summary};
pub use progress::progress_line;
pub use schema::{schema, update};
pub use style::{Paint, Style};
pub use typescript::declaration;
pub use value::{input, value};
