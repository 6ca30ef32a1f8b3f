//! One resource in the cloud: created, read and updated by the rules of Cloud Control.
//!
//! The cloud keeps the *full* model, including write-only values, so that tests can detect a lost value. Clients see the
//! result of `read`.

use stead_model::{Map, Value};
use stead_schema::cfn::{Class, Cursor, Schema};

use crate::Rejection;
use crate::guarded::changed;
use crate::json_patch::apply;
use crate::sample::without;
use crate::synthesis::{complete, first_covered};
use crate::validate::{Stage, validate_at};

/// Returns the full model of a new resource: the desired inputs, values set by the service, and the schema's defaults.
pub fn create(schema: &Schema, desired: &Map) -> Result<Map, Rejection> {
    creatable(schema, desired)?;
    Ok(complete(schema, desired))
}

/// Returns an error if the service would refuse to create the resource.
pub fn creatable(schema: &Schema, desired: &Map) -> Result<(), Rejection> {
    if schema.handlers.create.is_none() {
        return Err(unsupported(schema, "CREATE"));
    }
    if let Some(path) = first_covered(schema, Class::ReadOnly, desired) {
        return Err(Rejection::Unsupported(path));
    }
    validate_at(schema, &Value::Map(desired.clone()), Stage::Create)
}

/// Returns the model that the read handler shows: everything but write-only values.
pub fn read(schema: &Schema, full: &Map) -> Map {
    without(full, &schema.classes.of(Class::WriteOnly).cursor())
}

/// Returns the full model after a patch.
///
/// The patch applies to the model that `read` returns, and the result is validated as a whole. A write-only value that the
/// patch does not send is lost.
pub fn update(schema: &Schema, full: &Map, document: &Value) -> Result<Map, Rejection> {
    if schema.handlers.update.is_none() || schema.handlers.read.is_none() {
        return Err(unsupported(schema, "UPDATE"));
    }
    let shown = read(schema, full);
    let patched = apply(&shown, document)?;
    let (shown, patched) = (Value::Map(shown), Value::Map(patched));
    let changed_in = |class: Class| changed(schema, class, &shown, &patched);
    let read_only = changed_in(Class::ReadOnly);
    if !read_only.is_empty() {
        return Err(Rejection::ReadOnly(read_only));
    }
    let create_only = changed_in(Class::CreateOnly);
    if !create_only.is_empty() {
        return Err(Rejection::CreateOnly(create_only));
    }
    validate_at(schema, &patched, Stage::Update)?;
    let cursors = [Class::WriteOnly, Class::CreateOnly].map(|class| schema.classes.of(class).cursor());
    let Value::Map(patched) = patched else { return Ok(Map::new()) };
    Ok(kept_from_creation(full, patched, &cursors))
}

fn unsupported(schema: &Schema, action: &'static str) -> Rejection {
    Rejection::Action { type_name: schema.type_name.clone(), action }
}

/// Keeps values that are both write-only and create-only, which an update cannot send, wherever their container still
/// exists.
fn kept_from_creation(full: &Map, mut patched: Map, [write, create]: &[Cursor<'_>; 2]) -> Map {
    for (key, old) in full {
        let cursors = [write.key(key), create.key(key)];
        if cursors.iter().any(|cursor| !cursor.reaches()) {
            continue;
        }
        match patched.remove(key) {
            Some(new) => drop(patched.insert(key.clone(), kept_in(old, new, &cursors))),
            None if cursors.iter().all(Cursor::is_covered) => drop(patched.insert(key.clone(), old.clone())),
            None => {}
        }
    }
    patched
}

fn kept_in(old: &Value, new: Value, cursors: &[Cursor<'_>; 2]) -> Value {
    match (old, new) {
        (Value::Map(old), Value::Map(new)) => Value::Map(kept_from_creation(old, new, cursors)),
        (Value::List(old), Value::List(new)) if old.len() == new.len() => {
            let cursors = cursors.each_ref().map(Cursor::element);
            let items = old.iter().zip(new).map(|(old, new)| kept_in(old, new, &cursors));
            Value::List(items.collect())
        }
        (_, new) => new,
    }
}
