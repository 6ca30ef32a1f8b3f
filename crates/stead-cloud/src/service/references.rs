//! References between resources: a reference must lead to something, and a resource in use cannot be deleted.
//!
//! The table `data/references.txt` lists the references between types. Only texts that look like an identifier of this account and region
//! are checked, because the rest may lead to resources that the cloud does not know.

use std::sync::OnceLock;

use stead_model::{Map, Value};

use super::error::HandlerError;
use super::handlers::Failure;
use super::identity;
use super::machine::Machine;
use super::place::{Place, is_global};
use super::settings::References;
use super::state::ResourceKey;

static TABLE: &str = include_str!("../../data/references.txt");

struct Reference {
    holder: &'static str,
    path: Vec<&'static str>,
    held: &'static str,
    /// Property of the held resource that the reference names.
    property: &'static str,
    /// Start of a text that is checked. `None`: every text.
    prefix: Option<&'static str>,
    names: Names,
    missing: Option<&'static str>,
    in_use: Option<&'static str>,
}

/// The part of a text that names the held resource.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Whole,
    /// The text after the prefix, such as the identifier in `integrations/a1b2c3`.
    Rest,
}

impl Reference {
    /// Returns the part of a text that names the held resource.
    fn named<'a>(&self, value: &'a str) -> &'a str {
        match (self.names, self.prefix) {
            (Names::Rest, Some(prefix)) => value.strip_prefix(prefix).unwrap_or(value),
            _ => value,
        }
    }
}

fn table() -> &'static [Reference] {
    static ROWS: OnceLock<Vec<Reference>> = OnceLock::new();
    ROWS.get_or_init(|| TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect())
}

fn row(line: &'static str) -> Option<Reference> {
    let mut cells = line.split(" | ").map(str::trim);
    let mut next = || cells.next();
    let message = |text: &'static str| (text != "-").then_some(text);
    let (holder, path, held, property, start) = (next()?, next()?, next()?, next()?, next()?);
    let prefix = start.strip_suffix("{}").unwrap_or(start);
    Some(Reference {
        holder,
        path: path.split('/').collect(),
        held,
        property,
        prefix: (prefix != "any").then_some(prefix),
        names: if prefix == start { Names::Whole } else { Names::Rest },
        missing: message(next()?),
        in_use: message(next()?),
    })
}

/// Refuses a model with a reference that leads to nothing.
pub(crate) fn exist(machine: &Machine, place: &Place, type_name: &str, model: &Map) -> Result<(), Failure> {
    if machine.settings.references == References::Ignored {
        return Ok(());
    }
    let rows: Vec<&Reference> = table().iter().filter(|row| row.holder == type_name).collect();
    for row in &rows {
        let Some(message) = row.missing else { continue };
        for value in values(model, &row.path) {
            // A second row may accept another spelling of the same reference.
            let known =
                rows.iter().any(|other| other.path == row.path && leads(machine, place, other, value));
            if is_ours(row, place, value) && !known {
                let text = message.replace("{value}", value);
                return Err((HandlerError::InvalidRequest, format!("Invalid request provided: {text}")));
            }
        }
    }
    Ok(())
}

/// Refuses to delete a resource that others in the same account use.
pub(crate) fn unheld(
    machine: &Machine,
    place: &Place,
    key: &ResourceKey,
    model: &Map,
) -> Result<(), Failure> {
    if machine.settings.references == References::Ignored {
        return Ok(());
    }
    for row in table().iter().filter(|row| row.held == key.type_name) {
        let (Some(message), Some(name)) = (row.in_use, model.get(row.property).and_then(Value::as_str))
        else {
            continue;
        };
        let mut holders = machine.state.of_type(place, row.holder);
        let holds = |value: &&str| row.named(value) == name;
        if holders.any(|(_, stored)| values(&stored.model, &row.path).iter().any(holds)) {
            let text = message.replace("{id}", &key.identifier);
            return Err((HandlerError::ResourceConflict, text));
        }
    }
    Ok(())
}

/// Returns the failure of a deletion while something is inside.
pub(crate) fn not_empty(key: &ResourceKey) -> Failure {
    let message = match key.type_name.as_str() {
        "AWS::S3::Bucket" => "The bucket you tried to delete is not empty".to_owned(),
        "AWS::ECR::Repository" => format!(
            "The repository with name '{}' cannot be deleted because it still contains images",
            key.identifier
        ),
        other => format!("Resource of type '{other}' with identifier '{}' is not empty.", key.identifier),
    };
    (HandlerError::GeneralServiceException, message)
}

fn leads(machine: &Machine, place: &Place, row: &Reference, value: &str) -> bool {
    let named = |model: &Map| {
        let property = identity::at(model, &stead_model::PropertyPath::of(row.property));
        property.and_then(Value::as_str) == Some(row.named(value))
    };
    machine.state.of_type(place, row.held).any(|(_, stored)| named(&stored.model))
}

/// Returns true for a text that is an identifier in this account and region.
fn is_ours(row: &Reference, place: &Place, value: &str) -> bool {
    let Some(prefix) = row.prefix else { return true };
    if !value.starts_with(prefix) {
        return false;
    }
    let Some(arn) = value.strip_prefix("arn:") else { return true };
    let parts: Vec<&str> = arn.splitn(5, ':').collect();
    let [_, _, region, account, _] = parts[..] else { return false };
    account == place.account && (region == place.region || is_global(row.held))
}

/// Returns the texts at a path; `*` is every element of a list.
fn values<'a>(model: &'a Map, path: &[&str]) -> Vec<&'a str> {
    let Some((first, rest)) = path.split_first() else { return Vec::new() };
    model.get(*first).map_or_else(Vec::new, |value| inside(value, rest))
}

fn inside<'a>(value: &'a Value, path: &[&str]) -> Vec<&'a str> {
    match (path.split_first(), value) {
        (None, Value::String(text)) => vec![text],
        (Some((&"*", rest)), Value::List(items)) => {
            items.iter().flat_map(|item| inside(item, rest)).collect()
        }
        (Some((key, rest)), Value::Map(map)) => {
            map.get(*key).map_or_else(Vec::new, |value| inside(value, rest))
        }
        _ => Vec::new(),
    }
}
