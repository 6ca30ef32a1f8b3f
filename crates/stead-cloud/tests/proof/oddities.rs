//! Changes to resources that the service returns in an odd way: rewritten, with more, with less, or with empty values.

use stead_cloud::{creatable, read, validate};
use stead_model::{Map, PropertyPath, Segment, Value};
use stead_schema::cfn::{Class, FormId, Kinds, Schema};

use crate::leaves::{Leaf, replaced};
use crate::rows::{End, Row, Wanted, changed, lacking, to};
use crate::subject::Subject;

pub(crate) fn wanted(subject: &Subject<'_>, all: &[Leaf], row: Row) -> Option<Wanted> {
    match row {
        Row::EmptyText => beside_empty_text(subject, all),
        Row::DroppedInside => all.iter().find_map(|leaf| dropped_inside(subject, leaf)),
        Row::Rewritten => rewritten(subject, all),
        Row::Extra => all.iter().find_map(|leaf| extra(subject, leaf)),
        Row::Marker => marker(subject),
        Row::Pair => pair(subject, all),
        Row::Omitted => omitted(subject, all),
        Row::ShownSecret => shown_secret(subject, all),
        _ => None,
    }
}

/// Returns inputs with another value at a top-level scalar that an update may change, and lacks none of `kept`.
fn simple_change(subject: &Subject<'_>, all: &[Leaf], except: &str) -> Option<Map> {
    let free = |leaf: &&Leaf| {
        let is_other = leaf.path.0.first() != Some(&Segment::Key(except.to_owned()));
        leaf.is_free() && leaf.is_top_level() && is_other
    };
    all.iter().filter(free).find_map(|leaf| changed(subject, leaf))
}

fn reaches(schema: &Schema, name: &str, classes: &[Class]) -> bool {
    classes.iter().any(|class| schema.classes.of(*class).cursor().key(name).reaches())
}

const FIXED: [Class; 3] = [Class::ReadOnly, Class::CreateOnly, Class::WriteOnly];

/// Adds an empty text to the live resource that the schema does not allow.
fn beside_empty_text(subject: &Subject<'_>, all: &[Leaf]) -> Option<Wanted> {
    let schema = subject.schema;
    let texts = schema
        .properties()
        .filter(|(name, id)| schema.form(*id).kinds == Kinds::STRING && !reaches(schema, name, &FIXED));
    for (name, _) in texts {
        let with = |value: &str| {
            let mut full = lacking(&subject.full, name);
            full.insert(name.to_owned(), Value::from(value));
            full
        };
        let refused =
            validate(schema, &with("")).is_err() && validate(schema, &lacking(&subject.full, name)).is_ok();
        let Some(want) = simple_change(subject, all, name).filter(|_| refused) else { continue };
        let (last, want) = (lacking(&subject.desired, name), lacking(&want, name));
        if creatable(schema, &want).is_err() {
            continue;
        }
        let after = lacking(&subject.live(&want).ok()?, name);
        return Some(Wanted { last, full: with(""), ..to(subject, want, End::Updated(after)) });
    }
    None
}

/// Drops a member of an object inside a create-only property.
fn dropped_inside(subject: &Subject<'_>, leaf: &Leaf) -> Option<Wanted> {
    let Some((Segment::Key(name), before)) = leaf.path.0.split_last() else { return None };
    let create_only = subject.schema.classes.of(Class::CreateOnly);
    let parent = PropertyPath(before.to_vec());
    if before.is_empty() || leaf.write_only || !create_only.covers(&parent) {
        return None;
    }
    let mut object = subject.at(&parent)?.as_map()?.clone();
    object.remove(name);
    let want = replaced(&subject.desired, &parent, Value::Map(object));
    creatable(subject.schema, &want).is_ok().then(|| to(subject, want, End::Replaced))
}

/// Rewrites every text of the live resource as the service might. State records the result.
fn rewritten(subject: &Subject<'_>, all: &[Leaf]) -> Option<Wanted> {
    let texts = all.iter().filter(|leaf| !leaf.write_only && leaf.value.as_str().is_some());
    let mut full = subject.full.clone();
    let mut any = false;
    for leaf in texts.filter(|leaf| !leaf.in_list) {
        let text = leaf.value.as_str().unwrap_or_default();
        full = replaced(&full, &leaf.path, Value::from(format!("normal form of {text}")));
        any = true;
    }
    for (name, value) in full.clone() {
        if subject.desired.contains_key(&name) && !reaches(subject.schema, &name, &[Class::ReadOnly]) {
            full.insert(name, rewritten_elements(&value));
        }
    }
    let settled = Some(read(subject.schema, &full));
    any.then(|| Wanted { full, settled, ..to(subject, subject.desired.clone(), End::Untouched) })
}

fn rewritten_elements(value: &Value) -> Value {
    match value {
        Value::Map(map) => {
            Value::Map(map.iter().map(|(name, inside)| (name.clone(), rewritten_elements(inside))).collect())
        }
        Value::List(items) => items.iter().map(upper).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

fn upper(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(text.to_uppercase()),
        Value::Map(map) => {
            Value::Map(map.iter().map(|(name, inside)| (name.clone(), upper(inside))).collect())
        }
        Value::List(items) => items.iter().map(upper).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

/// Adds an element to a live list. State records it, or another writer owns it by its key.
fn extra(subject: &Subject<'_>, leaf: &Leaf) -> Option<Wanted> {
    let at = leaf.path.0.iter().position(|segment| matches!(segment, Segment::Index(_)))?;
    let list = PropertyPath(leaf.path.0[..at].to_vec());
    let Segment::Key(name) = leaf.path.0.first()? else { return None };
    if !leaf.is_free() || reaches(subject.schema, name, &FIXED) {
        return None;
    }
    let mut items = subject.at(&list)?.as_list()?.to_vec();
    items.push(upper(items.first()?));
    let full = subject.live(&replaced(&subject.desired, &list, Value::from(items))).ok()?;
    let settled = Some(read(subject.schema, &full));
    Some(Wanted { full, settled, ..to(subject, subject.desired.clone(), End::Untouched) })
}

/// Replaces a member that is present and empty by another one of the same union.
fn marker(subject: &Subject<'_>) -> Option<Wanted> {
    let schema = subject.schema;
    let union = |id: FormId| {
        let form = schema.form(id);
        let markers = form.properties.iter().filter(|(_, member)| {
            schema.form(**member).required.is_empty() && schema.form(**member).kinds == Kinds::OBJECT
        });
        let markers: Vec<&String> = markers.map(|(name, _)| name).collect();
        let only = markers.len() > 1 && markers.len() == form.properties.len() && form.required.is_empty();
        only.then(|| [markers[0].clone(), markers[1].clone()])
    };
    schema.properties().filter(|(name, _)| !reaches(schema, name, &FIXED)).find_map(|(name, id)| {
        let arms = union(id)?;
        let with = |map: &Map, arm: &str| {
            let mut map = map.clone();
            let union = Map::from([(arm.to_owned(), Value::Map(Map::new()))]);
            map.insert(name.to_owned(), Value::Map(union));
            map
        };
        let (want, live) = (with(&subject.desired, &arms[0]), with(&subject.full, &arms[1]));
        let after = with(&subject.full, &arms[0]);
        let valid = creatable(schema, &want).is_ok()
            && [&live, &after].iter().all(|model| validate(schema, model).is_ok());
        valid.then(|| Wanted {
            last: want.clone(),
            full: live,
            ..to(subject, want.clone(), End::Updated(after))
        })
    })
}

/// Adds the other half of an exclusive pair to the live resource.
fn pair(subject: &Subject<'_>, all: &[Leaf]) -> Option<Wanted> {
    let schema = subject.schema;
    let arms = &schema.form(Schema::ROOT).one_of;
    let required: Vec<&String> = arms.iter().flat_map(|arm| &schema.form(*arm).required).collect();
    // With the service's own choice between the two, nobody could tell which half is the artefact.
    if subject.given.as_ref().is_some_and(|(given, _)| required.contains(&given)) {
        return None;
    }
    let (name, value) = required.into_iter().find_map(|name| {
        let form = schema.member(Schema::ROOT, name)?;
        let scalar = schema.form(form).kinds == Kinds::STRING;
        let open = !subject.full.contains_key(name) && scalar && !reaches(schema, name, &FIXED);
        let value = stead_cloud::Sampler::new(schema).output(form, &[Segment::Key(name.clone())]);
        open.then(|| (name.clone(), value))
    })?;
    let mut full = subject.full.clone();
    full.insert(name.clone(), value);
    validate(schema, &full).is_err().then_some(())?;
    let want = simple_change(subject, all, &name)?;
    let after = subject.live(&want).ok()?;
    Some(Wanted { full, ..to(subject, want, End::Updated(after)) })
}

/// Leaves a declared property out of the live resource. State records that the service never returned it.
fn omitted(subject: &Subject<'_>, all: &[Leaf]) -> Option<Wanted> {
    let leaf = all.iter().find(|leaf| leaf.is_top_level() && !leaf.write_only)?;
    let Segment::Key(name) = leaf.path.0.first()? else { return None };
    let full = lacking(&subject.full, name);
    let settled = Some(read(subject.schema, &full));
    Some(Wanted { full, settled, ..to(subject, subject.desired.clone(), End::Untouched) })
}

/// Changes a property while the service returns a write-only one.
fn shown_secret(subject: &Subject<'_>, all: &[Leaf]) -> Option<Wanted> {
    let secret = all.iter().find(|leaf| leaf.write_only && !leaf.create_only && leaf.is_top_level())?;
    let Segment::Key(name) = secret.path.0.first()? else { return None };
    let want = simple_change(subject, all, name)?;
    let after = subject.live(&want).ok()?;
    let leaked = Map::from([(name.clone(), secret.value.clone())]);
    Some(Wanted { leaked, ..to(subject, want, End::Updated(after)) })
}
