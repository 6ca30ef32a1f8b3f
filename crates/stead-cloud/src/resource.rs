//! One resource in the cloud: created, read, updated, by the rules of Cloud Control.
//!
//! What the cloud keeps is the *full* model, write-only values included, so that a value that is lost can be
//! seen to be lost. Everybody else sees what `read` shows.

use stead_model::{Map, Value};
use stead_schema::cfn::{Class, Cursor, Schema};

use crate::Rejection;
use crate::guarded::changed;
use crate::json_patch::apply;
use crate::sample::without;
use crate::synthesis::{complete, first_covered};
use crate::validate::{Stage, validate_at};

/// The full model of a new resource: what was asked for, what the service sets, and the schema's defaults.
pub fn create(schema: &Schema, desired: &Map) -> Result<Map, Rejection> {
    creatable(schema, desired)?;
    Ok(complete(schema, desired))
}

/// Whether the service would create this.
pub fn creatable(schema: &Schema, desired: &Map) -> Result<(), Rejection> {
    if schema.handlers.create.is_none() {
        return Err(unsupported(schema, "CREATE"));
    }
    if let Some(path) = first_covered(schema, Class::ReadOnly, desired) {
        return Err(Rejection::Unsupported(path));
    }
    validate_at(schema, &Value::Map(desired.clone()), Stage::Create)
}

/// What the read handler shows: everything but what is write-only.
pub fn read(schema: &Schema, full: &Map) -> Map {
    without(full, &schema.classes.of(Class::WriteOnly).cursor())
}

/// The full model after a patch. The patch meets what the read handler shows; its result is checked as a whole, and
/// the update handler then gets it: a write-only value that the patch does not bring is gone.
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

/// What is both write-only and create-only cannot be sent again, and so stays what it was at creation, wherever what
/// holds it is still there.
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
