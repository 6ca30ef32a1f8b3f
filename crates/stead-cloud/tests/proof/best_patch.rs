//! The best patch that a client could send, which tells whether a change is possible in place at all.

use stead_cloud::read;
use stead_model::{Map, Value};
use stead_schema::cfn::{Class, Cursor, Schema};

/// Returns one operation of a patch document.
pub(crate) fn operation(op: &str, path: &str, value: Option<Value>) -> Value {
    let mut map = Map::from([("op".to_owned(), Value::from(op)), ("path".to_owned(), Value::from(path))]);
    map.extend(value.map(|value| ("value".to_owned(), value)));
    Value::Map(map)
}

pub(crate) fn step(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Returns the best possible patch: each top-level property as it should become, with everything that may be sent.
pub(crate) fn perfect_patch(schema: &Schema, before: &Map, after: &Map) -> Value {
    let cursors = [Class::WriteOnly, Class::CreateOnly].map(|class| schema.classes.of(class).cursor());
    let (live, sent) = (read(schema, before), sendable(after, &cursors));
    let gone =
        live.keys().filter(|key| !sent.contains_key(*key)).map(|key| operation("remove", &step(key), None));
    let set = sent
        .iter()
        .filter(|(key, value)| live.get(*key) != Some(value))
        .map(|(key, value)| operation("add", &step(key), Some(value.clone())));
    Value::List(gone.chain(set).collect())
}

/// Removes values that are both write-only and create-only, which the service refuses.
fn sendable(full: &Map, cursors: &[Cursor<'_>; 2]) -> Map {
    let mut out = Map::new();
    for (key, value) in full {
        let cursors = cursors.each_ref().map(|cursor| cursor.key(key));
        out.extend(sendable_value(value, &cursors).map(|value| (key.clone(), value)));
    }
    out
}

fn sendable_value(value: &Value, cursors: &[Cursor<'_>; 2]) -> Option<Value> {
    if cursors.iter().all(Cursor::is_covered) {
        return None;
    }
    Some(match value {
        Value::Map(map) => Value::Map(sendable(map, cursors)),
        Value::List(items) => {
            let cursors = cursors.each_ref().map(Cursor::element);
            Value::List(items.iter().filter_map(|item| sendable_value(item, &cursors)).collect())
        }
        leaf => leaf.clone(),
    })
}
