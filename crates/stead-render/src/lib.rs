//! Makes text and JSON of what the other crates say. Pure: no terminal, no file, no environment.
//!
//! Colour never carries meaning alone. Values of any length come out on one line of bounded length.

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
pub use moves::{ambiguities, reason, rename, suggestions};
pub use outputs::outputs;
pub use plan::{Header, change_line, plan, same, summary};
pub use progress::step_ended;
pub use schema::{schema, update};
pub use style::{Paint, Style};
pub use typescript::declaration;
pub use value::{input, value};
