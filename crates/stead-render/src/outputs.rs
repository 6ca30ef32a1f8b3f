//! The outputs of a stack.

use std::fmt::Write as _;

use stead_model::Map;

use crate::node::Node;
use crate::visible;

/// Renders `name = value` lines, never cut; strings without quotes, other values as JSON.
pub fn outputs(outputs: &Map) -> String {
    let width = outputs.keys().map(|key| key.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (key, value) in outputs {
        let plain = value.as_str().filter(|text| visible::is_plain(text));
        let text = plain.map_or_else(|| Node::from(value).text(), str::to_owned);
        let _ = writeln!(out, "{key:width$} = {text}");
    }
    out
}
