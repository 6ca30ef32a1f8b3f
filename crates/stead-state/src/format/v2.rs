//! Formats 1 and 2: names spell the folders of a module as `lib%2Fnet`, which is `lib.net` since format 3.
//!
//! A text such as `zone.v2` is a name in both spellings and means another module in each, so the format of the object
//! decides. Each function here changes the names in one parsed line and nothing else. **Invariant:** a text that is no name
//! in the old spelling is refused, and so is a duplicate key.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use stead_model::{Name, NameParts, Resource, Spelling, Value};

use super::codec::{self, FormatError, damaged};

/// The first format in which names have the dotted spelling.
pub(super) const DOTTED: u32 = 3;

/// A line of an old format, by the place of its names.
#[derive(Clone, Copy)]
pub(super) enum Line {
    Resource,
    Record,
    /// The header of a snapshot, or a whole export.
    Stack,
}

/// Parses a line of format 1 or 2 after `upgrade` has changed its fields to those of format 2.
pub(super) fn parse<T: DeserializeOwned>(
    what: &'static str,
    line: usize,
    bytes: &[u8],
    kind: Line,
    upgrade: fn(Map<String, Json>) -> Map<String, Json>,
) -> Result<T, FormatError> {
    // A map of `serde_json` keeps one of two equal keys; a value of the model refuses them.
    let _: Value = codec::parse(what, line, bytes)?;
    let mut fields = upgrade(codec::parse(what, line, bytes)?);
    kind.respell(&mut fields).map_err(|problem| damaged(what, line, &problem))?;
    serde_json::from_value(Json::Object(fields)).map_err(|error| damaged(what, line, &error.to_string()))
}

/// Parses a resource of format 1 or 2. A resource whose names are the same in both spellings is parsed once.
pub(super) fn parse_resource(what: &'static str, line: usize, bytes: &[u8]) -> Result<Resource, FormatError> {
    match codec::parse::<Resource>(what, line, bytes) {
        Ok(resource) if is_same_in_both(&resource) => Ok(resource),
        _ => parse(what, line, bytes, Line::Resource, |fields| fields),
    }
}

fn is_same_in_both(resource: &Resource) -> bool {
    let plain = |name: &Name| match &**name {
        NameParts::Global { .. } => true,
        NameParts::Placed { module, .. } => !module.0.contains(['.', '/']),
    };
    let marks = &resource.marks;
    let is_marked = marks.prevent_delete.is_some() || marks.deletion_policy.is_some();
    !is_marked && plain(&resource.name) && resource.ties.aliases.iter().all(plain)
}

impl Line {
    /// Gives every name in the line the dotted spelling.
    fn respell(self, fields: &mut Map<String, Json>) -> Result<(), String> {
        match self {
            Line::Resource => resource(fields),
            Line::Record => record(fields),
            Line::Stack => stack(fields),
        }
    }
}

fn stack(stack: &mut Map<String, Json>) -> Result<(), String> {
    objects(stack.get_mut("resources")).try_for_each(resource)?;
    objects(stack.get_mut("pending")).try_for_each(intent)?;
    objects(stack.get_mut("retained")).try_for_each(|retained| {
        name(retained.get_mut("name"))?;
        source(retained.get_mut("source"));
        Ok(())
    })
}

fn record(record: &mut Map<String, Json>) -> Result<(), String> {
    intent(record)?;
    object(record.get_mut("resource")).map_or(Ok(()), resource)?;
    objects(record.get_mut("resources")).try_for_each(resource)?;
    if let Some(kept) = object(record.get_mut("kept")) {
        source(kept.get_mut("source"));
    }
    Ok(())
}

/// Respells the names in the `intent` of a record or of a pending operation.
fn intent(holder: &mut Map<String, Json>) -> Result<(), String> {
    let intent = object(holder.get_mut("intent"));
    intent.and_then(|intent| object(intent.get_mut("resource"))).map_or(Ok(()), resource)
}

fn resource(resource: &mut Map<String, Json>) -> Result<(), String> {
    name(resource.get_mut("name"))?;
    if let Some(ties) = object(resource.get_mut("ties")) {
        let aliases = ties.get_mut("aliases").and_then(Json::as_array_mut);
        aliases.into_iter().flatten().try_for_each(|alias| name(Some(alias)))?;
    }
    if let Some(marks) = object(resource.get_mut("marks")) {
        source(marks.get_mut("preventDelete"));
        source(marks.get_mut("deletionPolicy"));
    }
    Ok(())
}

fn name(field: Option<&mut Json>) -> Result<(), String> {
    if let Some(Json::String(text)) = field {
        let name = Name::parse_spelled(text, Spelling::Encoded).map_err(|error| error.to_string())?;
        *text = name.to_string();
    }
    Ok(())
}

/// Respells the name of the marked or enclosing resource in the origin of a mark. Any other text stays.
fn source(source: Option<&mut Json>) {
    let Some(source) = object(source) else { return };
    let level = source.get("level").and_then(Json::as_str);
    if matches!(level, Some("resource" | "enclosing")) {
        // The text is only shown and compared: one that is no name stays as it is.
        let _ = name(source.get_mut("of"));
    }
}

fn object(value: Option<&mut Json>) -> Option<&mut Map<String, Json>> {
    value.and_then(Json::as_object_mut)
}

fn objects(list: Option<&mut Json>) -> impl Iterator<Item = &mut Map<String, Json>> {
    list.and_then(Json::as_array_mut).into_iter().flatten().filter_map(Json::as_object_mut)
}
