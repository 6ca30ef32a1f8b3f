//! What a look outside found, told like the steps of a plan.

use std::fmt::Write as _;

use stead_model::{Name, TypeToken, Value};
use stead_schema::Change;

use crate::{Paint, Style, change_line, value};

/// A resource that is not what its record says.
pub struct Drifted<'a> {
    pub name: &'a Name,
    /// What differs, recorded against found; `None`: the real thing is gone.
    pub changes: Option<&'a [Change]>,
}

/// The step that would record it.
pub fn drift(drifted: &Drifted<'_>, style: &Style) -> String {
    let Drifted { name, changes } = drifted;
    let (sign, name) = (style.paint(Paint::Caution, "^"), style.paint(Paint::Strong, &name.to_string()));
    let because = match changes {
        None => "because the real thing is not there any more",
        Some([]) => "because what its provider answers changed outside",
        Some(_) => "because it was changed outside",
    };
    let mut out = format!("{sign} refresh {name}\n    {}\n", style.paint(Paint::Quiet, because));
    for change in changes.iter().copied().flatten() {
        out.push_str(&change_line(change, style));
    }
    out
}

/// Something that the program looks up: it is read, and never touched.
pub fn read(resource: &TypeToken, id: &str, style: &Style) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{} read {} {}\n    {}",
        style.paint(Paint::Quiet, "?"),
        style.paint(Paint::Strong, resource.as_str()),
        value(&Value::from(id)),
        style.paint(Paint::Quiet, "because the program looks it up; it is never changed")
    );
    out
}
