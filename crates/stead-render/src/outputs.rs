//! The outputs of a stack.

use std::fmt::Write as _;

use stead_model::{Map, Value};

/// Renders `name = value` lines; strings without quotes, other values as JSON.
pub fn outputs(outputs: &Map) -> String {
    let width = outputs.keys().map(|key| key.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (key, value) in outputs {
        let text = match value {
            Value::String(text) if !text.contains(|c: char| c.is_control()) => text.to_string(),
            other => crate::value(other),
        };
        let _ = writeln!(out, "{key:width$} = {text}");
    }
    out
}
