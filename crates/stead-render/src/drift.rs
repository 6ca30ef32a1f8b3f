//! Drift and look-ups, rendered like the steps of a plan.

use std::fmt::Write as _;

use stead_model::{Environment, Name, TypeToken, Value};
use stead_schema::Change;

use crate::{Paint, Style, change_lines, value};

/// A resource that differs from its record.
pub struct Drifted<'a> {
    pub name: &'a Name,
    /// The changes from the record to the real resource; `None`: the real resource no longer exists.
    pub changes: Option<&'a [Change]>,
}

/// Renders the step that would record the drift.
pub fn drift(drifted: &Drifted<'_>, environment: &Environment, style: &Style) -> String {
    let Drifted { name, changes } = drifted;
    let name = name.shown_in(environment);
    let (sign, name) = (style.paint(Paint::Caution, "^"), style.paint(Paint::Strong, &name));
    let because = match changes {
        None => "because it no longer exists",
        Some([]) => "because its outputs were changed outside of stead",
        Some(_) => "because it was changed outside of stead",
    };
    let mut out = format!("{sign} refresh {name}\n    {}\n", style.paint(Paint::Quiet, because));
    for change in changes.iter().copied().flatten() {
        out.push_str(&change_lines(change, style));
    }
    out
}

/// Renders a look-up of the program, which only reads.
pub fn read(resource: &TypeToken, id: &str, style: &Style) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{} read {} {}\n    {}",
        style.paint(Paint::Quiet, "?"),
        style.paint(Paint::Strong, resource.as_str()),
        value(&Value::from(id)),
        style.paint(Paint::Quiet, "because the program looks it up; stead does not manage it")
    );
    out
}
