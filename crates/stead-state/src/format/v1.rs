//! Format 1: the differences from format 2, and nothing else about it.
//!
//! Every object states its own format, so objects of all formats stand side by side in a stack until the next run has
//! written a new snapshot. Each function here changes one parsed line of format 1 into the same line of format 2.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use stead_model::{Digest, OpId};

use super::codec::{self, FormatError, damaged};

/// Parses a line of format 1 that has no names, after `upgrade` has changed it.
pub(super) fn parse<T: DeserializeOwned>(
    what: &'static str,
    line: usize,
    bytes: &[u8],
    upgrade: fn(Map<String, Json>) -> Map<String, Json>,
) -> Result<T, FormatError> {
    let fields: Map<String, Json> = codec::parse(what, line, bytes)?;
    let upgraded = serde_json::from_value(Json::Object(upgrade(fields)));
    upgraded.map_err(|error| damaged(what, line, &error.to_string()))
}

/// Returns the serial of a state of format 1, which counted only operations. It grows with the stack, as a serial does.
pub(super) fn serial(next_op: OpId) -> u64 {
    next_op.0
}

/// `absent` had its kind in the field `why`.
pub(super) fn head(mut head: Map<String, Json>) -> Map<String, Json> {
    let upgraded = head.remove("absent").map(|absent| match absent {
        Json::Object(fields) => nested(fields, "why"),
        other => other,
    });
    head.extend(upgraded.map(|absent| ("absent".to_owned(), absent)));
    head
}

/// The outcome of an `end` and the answer of a `settle` had their fields beside the operation's number.
pub(super) fn record(mut record: Map<String, Json>) -> Map<String, Json> {
    let field = match record.get("record").and_then(Json::as_str) {
        Some("end") => "outcome",
        Some("settle") => "answer",
        _ => return record,
    };
    let own = ["record", "op"].map(|key| (key.to_owned(), record.remove(key)));
    let mut upgraded: Map<String, Json> =
        own.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    upgraded.insert(field.to_owned(), nested(record, field));
    upgraded
}

/// The outcome had its fields beside those of the answer.
pub(super) fn spooled(mut spooled: Map<String, Json>) -> Map<String, Json> {
    let own = ["format", "stack", "epoch", "op", "key", "inputs"];
    let own = own.map(|key| (key.to_owned(), spooled.remove(key)));
    let mut upgraded: Map<String, Json> =
        own.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    upgraded.insert("outcome".to_owned(), nested(spooled, "outcome"));
    upgraded
}

/// Returns the digest of an export's text without spaces and without its field `digest`, for formats 1 and 2.
///
/// The text is not parsed and written again, because the fields and names of the current format are others.
pub(super) fn export_digest(text: &[u8]) -> Digest {
    let mut compact = Vec::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for &byte in text {
        if in_string || !byte.is_ascii_whitespace() {
            compact.push(byte);
        }
        in_string = in_string != (byte == b'"' && !escaped);
        escaped = in_string && byte == b'\\' && !escaped;
    }
    let field = br#""digest":""#;
    let start = compact.windows(field.len()).position(|window| window == field);
    let end = |start: usize| {
        let rest = &compact[start + field.len()..];
        Some(start + field.len() + rest.iter().position(|byte| *byte == b'"')? + 2)
    };
    if let Some((start, end)) = start.and_then(|start| Some((start, end(start)?.min(compact.len())))) {
        compact.drain(start..end);
    }
    Digest::of(&compact)
}

/// Returns the variant that the field `tag` names: its name alone, or an object with the other fields under its name.
fn nested(mut fields: Map<String, Json>, tag: &str) -> Json {
    match fields.remove(tag) {
        Some(Json::String(name)) if fields.is_empty() => Json::String(name),
        Some(Json::String(name)) => Json::Object([(name, Json::Object(fields))].into_iter().collect()),
        // Not a line that format 1 wrote: refused where it is read.
        _ => Json::Object(fields),
    }
}
