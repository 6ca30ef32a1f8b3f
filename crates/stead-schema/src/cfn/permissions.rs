//! Permissions that the handlers of published types need, in a file of its own: few commands read them.
//!
//! Layout: a zlib stream of JSON. Each action is written once; the handlers refer to actions by number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use stead_model::Value;

use super::SchemaError;
use super::bundle::{deflate, inflate};

/// Permissions that ship with stead.
static SHIPPED: &[u8] = include_bytes!("../../data/aws-permissions.bundle");

/// A handler of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HandlerKind {
    Create,
    Read,
    Update,
    Delete,
    List,
}

impl HandlerKind {
    pub const ALL: [HandlerKind; 5] =
        [HandlerKind::Create, HandlerKind::Read, HandlerKind::Update, HandlerKind::Delete, HandlerKind::List];

    /// Returns the name in a schema.
    pub fn key(self) -> &'static str {
        match self {
            HandlerKind::Create => "create",
            HandlerKind::Read => "read",
            HandlerKind::Update => "update",
            HandlerKind::Delete => "delete",
            HandlerKind::List => "list",
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Table {
    actions: Vec<String>,
    /// Numbers of actions, by type and handler.
    types: BTreeMap<String, BTreeMap<String, Vec<usize>>>,
}

/// Returns the actions that a handler of a type needs, sorted. The first call reads the table.
pub fn permissions(type_name: &str, handler: HandlerKind) -> Vec<&'static str> {
    static TABLE: OnceLock<Table> = OnceLock::new();
    let read = || inflate(SHIPPED).and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default();
    let table: &'static Table = TABLE.get_or_init(read);
    let numbers = table.types.get(type_name).and_then(|handlers| handlers.get(handler.key()));
    let action = |number: &usize| table.actions.get(*number).map(String::as_str);
    numbers.into_iter().flatten().filter_map(action).collect()
}

/// Makes the file from published schemas.
pub fn make(documents: &[Value]) -> Result<Vec<u8>, SchemaError> {
    let mut found: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for document in documents.iter().filter_map(Value::as_map) {
        let Some(name) = document.get("typeName").and_then(Value::as_str) else { continue };
        let handlers = document.get("handlers").and_then(Value::as_map);
        for kind in HandlerKind::ALL {
            let handler = handlers.and_then(|all| all.get(kind.key())).and_then(Value::as_map);
            let listed = handler.and_then(|handler| handler.get("permissions")).and_then(Value::as_list);
            // One published handler has an empty action.
            let actions =
                listed.into_iter().flatten().filter_map(Value::as_str).filter(|text| text.contains(':'));
            let actions: BTreeSet<String> = actions.map(str::to_owned).collect();
            if !actions.is_empty() {
                found.entry(name.to_owned()).or_default().insert(kind.key().to_owned(), actions);
            }
        }
    }
    let all: BTreeSet<&String> = found.values().flat_map(BTreeMap::values).flatten().collect();
    let actions: Vec<String> = all.into_iter().cloned().collect();
    let number = |action: &String| actions.binary_search(action).unwrap_or_default();
    let types = found
        .iter()
        .map(|(name, handlers)| {
            let numbered = handlers.iter().map(|(kind, of)| (kind.clone(), of.iter().map(number).collect()));
            (name.clone(), numbered.collect())
        })
        .collect();
    let json = serde_json::to_vec(&Table { types, actions: actions.clone() });
    deflate(&json.map_err(|error| SchemaError(error.to_string()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_of_published_types_have_their_permissions() {
        let create = permissions("AWS::SQS::Queue", HandlerKind::Create);
        assert!(create.contains(&"sqs:CreateQueue") && create.is_sorted(), "{create:?}");
        assert_eq!(permissions("AWS::No::Type", HandlerKind::Read), [""; 0]);
    }

    #[test]
    fn every_create_handler_lists_permissions() {
        let bundle = super::super::bundle::shipped();
        let without = bundle.names().filter(|name| {
            let schema = bundle.schema(name);
            schema.is_some_and(|schema| schema.handlers.create.is_some())
                && permissions(name, HandlerKind::Create).is_empty()
        });
        assert_eq!(without.collect::<Vec<_>>(), [""; 0]);
    }
}
