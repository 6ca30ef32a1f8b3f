//! Changes of a resource that its type allows: in place, by removal, and by replacement.

use stead_cloud::update;
use stead_model::{Map, Value};
use stead_schema::cfn::{Class, Schema};
use stead_schema::identity;

use crate::best_patch::perfect_patch;
use crate::leaves::{Leaf, leaves, replaced};
use crate::subject::{Declared, PROTECTION, is_accepted, reaches};

/// A changed property, and all inputs with the change.
pub(crate) struct Changed {
    pub(crate) property: String,
    /// `None`: the property is removed.
    pub(crate) value: Option<Value>,
    pub(crate) inputs: Map,
}

/// Why there is no change of a kind.
pub(crate) type Reason = String;

/// Returns a change in place of a value that reads return, or of a write-only one.
pub(crate) fn in_place(declared: &Declared, model: &Map, hidden: Hidden) -> Result<Changed, Reason> {
    let schema = declared.schema();
    if schema.handlers.update.is_none() {
        return Err("no update handler".to_owned());
    }
    let fits = |leaf: &Leaf| !leaf.create_only && leaf.write_only == (hidden == Hidden::Yes);
    let mut refusal = None;
    for leaf in candidates(declared, &fits) {
        let conditional = schema.classes.of(Class::ConditionalCreateOnly).covers(&leaf.path);
        let Some(changed) = changed(declared, &leaf).filter(|_| !conditional && !leaf.is_key()) else {
            continue;
        };
        let Some(after) = after(model, &leaf, &changed) else { continue };
        match possible(schema, model, &after) {
            Ok(()) => return Ok(changed),
            Err(why) => refusal = Some(why),
        }
    }
    Err(refusal.unwrap_or_else(|| match hidden {
        Hidden::No => "no property with a second valid value that can be changed in place".to_owned(),
        Hidden::Yes => {
            "no write-only property with a second valid value that can be changed in place".to_owned()
        }
    }))
}

/// Whether the changed value is write-only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    No,
    Yes,
}

/// Returns the removal of an optional property.
pub(crate) fn removal(declared: &Declared, model: &Map) -> Result<Changed, Reason> {
    let schema = declared.schema();
    if schema.handlers.update.is_none() {
        return Err("no update handler".to_owned());
    }
    let mut refusal = None;
    for with_part in [false, true] {
        for name in declared.inputs.keys() {
            let fixed = [Class::CreateOnly, Class::WriteOnly, Class::ConditionalCreateOnly];
            let stays = fixed.iter().any(|class| reaches(schema, *class, name))
                || declared.is_linked(name)
                || PROTECTION.contains(&name.as_str());
            if stays || reaches(schema, Class::ReadOnly, name) != with_part {
                continue;
            }
            let inputs = without(&declared.inputs, name);
            if !is_accepted(declared.ty(), &inputs) {
                continue;
            }
            match possible(schema, model, &without(model, name)) {
                Ok(()) => return Ok(Changed { property: name.to_string(), value: None, inputs }),
                Err(why) => refusal = Some(why),
            }
        }
    }
    Err(refusal.unwrap_or_else(|| "no optional property that can be removed".to_owned()))
}

/// Whether a replacement gives the resource another physical name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameAfter {
    Same,
    Other,
}

/// Returns a change that replaces the resource.
pub(crate) fn replacement(declared: &Declared, name: NameAfter) -> Result<Changed, Reason> {
    let schema = declared.schema();
    let names = identity(declared.ty());
    let forces = |leaf: &Leaf| leaf.create_only || schema.handlers.update.is_none();
    let is_name = |leaf: &Leaf| leaf.path.root().is_some_and(|root| names.contains(&root));
    let fits = |leaf: &Leaf| forces(leaf) && is_name(leaf) == (name == NameAfter::Other);
    let found = candidates(declared, &fits).iter().find_map(|leaf| changed(declared, leaf));
    found.ok_or_else(|| match name {
        NameAfter::Same => "no create-only property, besides names, with a second valid value".to_owned(),
        NameAfter::Other => "no name that is set at creation only".to_owned(),
    })
}

/// Returns the values that may be changed, top-level values before nested ones.
fn candidates(declared: &Declared, fits: &dyn Fn(&Leaf) -> bool) -> Vec<Leaf> {
    let schema = declared.schema();
    let is_free = |leaf: &Leaf| {
        leaf.path.root().is_some_and(|root| !declared.is_linked(root) && !PROTECTION.contains(&root))
    };
    let mut all: Vec<Leaf> =
        leaves(schema, &declared.inputs).into_iter().filter(|leaf| fits(leaf) && is_free(leaf)).collect();
    all.sort_by_key(|leaf| (!leaf.is_top_level(), leaf.in_list, leaf.path.0.len()));
    all
}

fn changed(declared: &Declared, leaf: &Leaf) -> Option<Changed> {
    let inputs = replaced(&declared.inputs, &leaf.path, leaf.other(declared.schema())?);
    let property = leaf.path.root()?.to_owned();
    let value = inputs.get(&property).cloned();
    is_accepted(declared.ty(), &inputs).then_some(Changed { property, value, inputs })
}

/// Returns the full model with a changed value.
fn after(model: &Map, leaf: &Leaf, changed: &Changed) -> Option<Map> {
    if at(&Value::Map(model.clone()), leaf)? != leaf.value {
        return None;
    }
    let value = at(&Value::Map(changed.inputs.clone()), leaf)?;
    Some(replaced(model, &leaf.path, value))
}

fn at(value: &Value, leaf: &Leaf) -> Option<Value> {
    let mut at = value;
    for segment in &leaf.path.0 {
        at = match (at, segment) {
            (Value::Map(map), stead_model::Segment::Key(key)) => map.get(key)?,
            (Value::List(items), stead_model::Segment::Index(index)) => items.get(*index)?,
            _ => return None,
        };
    }
    Some(at.clone())
}

/// Fails if the service refuses even the best patch.
fn possible(schema: &Schema, before: &Map, after: &Map) -> Result<(), Reason> {
    let outcome = update(schema, before, &perfect_patch(schema, before, after));
    outcome.map(drop).map_err(|_| {
        "the service refuses every patch, because it requires a value that it does not accept again"
            .to_owned()
    })
}

fn without(map: &Map, name: &str) -> Map {
    let mut map = map.clone();
    map.remove(name);
    map
}
