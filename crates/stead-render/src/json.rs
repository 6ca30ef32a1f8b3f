//! The JSON stream for machines: one object per line. `docs/format/json.md` describes it.

use serde::Serialize;

/// Version of the stream. It changes when a field is removed or gets another meaning, and not when fields or
/// kinds are added.
pub const JSON_VERSION: u32 = 1;

#[derive(Serialize)]
struct Line<'a, T> {
    v: u32,
    #[serde(rename = "kind")]
    kind: &'a str,
    #[serde(flatten)]
    body: T,
}

/// Renders one line, with its newline. The types of stead always serialise.
pub fn json_line<T: Serialize>(kind: &str, body: &T) -> String {
    let line = Line { v: JSON_VERSION, kind, body };
    let mut text = serde_json::to_string(&line).unwrap_or_default();
    text.push('\n');
    text
}
