//! The line stream that machines read. `docs/format/json.md` describes it.

use serde::Serialize;

/// Changes when a field changes its meaning or goes; new fields and new types do not change it.
pub const JSON_VERSION: u32 = 1;

#[derive(Serialize)]
struct Line<'a, T> {
    v: u32,
    #[serde(rename = "kind")]
    kind: &'a str,
    #[serde(flatten)]
    body: T,
}

/// One line, with its newline. Our types always serialise.
pub fn json_line<T: Serialize>(kind: &str, body: &T) -> String {
    let line = Line { v: JSON_VERSION, kind, body };
    let mut text = serde_json::to_string(&line).unwrap_or_default();
    text.push('\n');
    text
}
