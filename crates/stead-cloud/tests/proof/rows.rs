//! Kinds of changes that are tried on each type, and their correct results.

use std::cell::OnceCell;

use stead_cloud::creatable;
use stead_model::{Map, PropertyPath, Segment, Value};
use stead_schema::cfn::{Class, Cursor};

use crate::leaves::{Leaf, leaves, replaced};
use crate::subject::Subject;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Row {
    Nothing,
    Scalar,
    Nested,
    Removed,
    Element,
    CreateOnly,
    HiddenCreateOnly,
    WriteOnly,
    Added,
    Shorter,
    Drift,
    Artefact,
    EmptyText,
    DroppedInside,
    Rewritten,
    Extra,
    Marker,
    Pair,
    Omitted,
    ShownSecret,
}

impl Row {
    pub(crate) const ALL: [Row; 20] = [
        Row::Nothing,
        Row::Scalar,
        Row::Nested,
        Row::Removed,
        Row::Element,
        Row::CreateOnly,
        Row::HiddenCreateOnly,
        Row::WriteOnly,
        Row::Added,
        Row::Shorter,
        Row::Drift,
        Row::Artefact,
        Row::EmptyText,
        Row::DroppedInside,
        Row::Rewritten,
        Row::Extra,
        Row::Marker,
        Row::Pair,
        Row::Omitted,
        Row::ShownSecret,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Row::Nothing => "no change: no request",
            Row::Scalar => "change a top-level scalar",
            Row::Nested => "change a nested value",
            Row::Removed => "remove an optional property",
            Row::Element => "change an element of a list",
            Row::CreateOnly => "change a create-only value: replaced",
            Row::HiddenCreateOnly => "change a create-only value that reads do not return: replaced",
            Row::WriteOnly => "change a write-only value",
            Row::Added => "add an optional property",
            Row::Shorter => "remove the last element of a list",
            Row::Drift => "revert drift",
            Row::Artefact => "change beside an empty list that the service returns but refuses",
            Row::EmptyText => "change beside an empty text that the service returns but refuses",
            Row::DroppedInside => "drop a member inside a create-only value: replaced",
            Row::Rewritten => "no change, all texts rewritten by the service: no request",
            Row::Extra => "no change, an element added by the service: no request",
            Row::Marker => "revert drift of a member that is present and empty",
            Row::Pair => "change beside the other half of an exclusive pair",
            Row::Omitted => "no change, a property that the service does not return: no request",
            Row::ShownSecret => "change beside a write-only value that the service returns",
        }
    }
}

/// Changed inputs and the correct result.
pub(crate) struct Wanted {
    pub(crate) last: Map,
    /// Model that a read returned after the last apply, if state records it.
    pub(crate) settled: Option<Map>,
    /// Write-only values that a read returns nevertheless.
    pub(crate) leaked: Map,
    /// Full model before the change.
    pub(crate) full: Map,
    pub(crate) want: Map,
    pub(crate) end: End,
    /// Whether any patch can make the change, or the service's message for the best one; computed once.
    pub(crate) possible: OnceCell<Result<(), String>>,
}

pub(crate) enum End {
    Untouched,
    /// The full model that the cloud must keep afterwards.
    Updated(Map),
    Replaced,
}

/// Returns the change of one kind, or `None` if the type has no such property.
pub(crate) fn wanted(subject: &Subject<'_>, all: &[Leaf], row: Row) -> Option<Wanted> {
    let leaf = |fits: &dyn Fn(&Leaf) -> bool| {
        all.iter().find_map(|leaf| fits(leaf).then(|| changed(subject, leaf)).flatten())
    };
    match row {
        Row::Nothing => Some(to(subject, subject.desired.clone(), End::Untouched)),
        Row::Scalar => updated(subject, leaf(&|leaf| leaf.is_free() && leaf.is_top_level())?),
        Row::Nested => {
            let nested = |leaf: &Leaf| leaf.is_free() && !leaf.is_top_level() && leaf.is_member();
            let want = leaf(&|leaf| nested(leaf) && !leaf.in_list).or_else(|| leaf(&nested));
            updated(subject, want?)
        }
        Row::Element => updated(subject, leaf(&|leaf| leaf.is_free() && leaf.in_list)?),
        Row::WriteOnly => updated(subject, leaf(&|leaf| leaf.write_only && !leaf.create_only)?),
        Row::CreateOnly => {
            Some(to(subject, leaf(&|leaf| leaf.create_only && !leaf.write_only)?, End::Replaced))
        }
        Row::HiddenCreateOnly => {
            Some(to(subject, leaf(&|leaf| leaf.create_only && leaf.write_only)?, End::Replaced))
        }
        Row::Removed => removed(subject),
        Row::Added => added(subject),
        // A tag with another key belongs to another writer, and stays.
        Row::Drift => drifted(subject, leaf(&|leaf| leaf.is_free() && !leaf.is_key())?),
        Row::Artefact => beside_artefact(subject, leaf(&|leaf| leaf.is_free() && leaf.is_top_level())?),
        Row::EmptyText
        | Row::DroppedInside
        | Row::Rewritten
        | Row::Extra
        | Row::Marker
        | Row::Pair
        | Row::Omitted
        | Row::ShownSecret => crate::oddities::wanted(subject, all, row),
        Row::Shorter => updated(subject, all.iter().find_map(|leaf| shorter(subject, leaf))?),
    }
}

/// Changes the value of one leaf.
pub(crate) fn single(subject: &Subject<'_>, leaf: &Leaf) -> Option<Wanted> {
    let want = changed(subject, leaf)?;
    if leaf.create_only {
        return Some(to(subject, want, End::Replaced));
    }
    updated(subject, want)
}

pub(crate) fn leaves_of(subject: &Subject<'_>) -> Vec<Leaf> {
    leaves(subject.schema, &subject.desired)
}

pub(crate) fn to(subject: &Subject<'_>, want: Map, end: End) -> Wanted {
    Wanted {
        last: subject.desired.clone(),
        settled: None,
        leaked: Map::new(),
        full: subject.full.clone(),
        want,
        end,
        possible: OnceCell::new(),
    }
}

/// Returns the inputs with another value at a leaf, if the service would create the result.
pub(crate) fn changed(subject: &Subject<'_>, leaf: &Leaf) -> Option<Map> {
    let want = replaced(&subject.desired, &leaf.path, leaf.other(subject.schema)?);
    creatable(subject.schema, &want).is_ok().then_some(want)
}

/// Returns the change with its correct result. Values that the service sets depend on paths only, so they stay the same.
pub(crate) fn updated(subject: &Subject<'_>, want: Map) -> Option<Wanted> {
    let full = subject.live(&want).ok()?;
    Some(to(subject, want, End::Updated(full)))
}

/// Returns the first optional property that can be removed, preferring one without read-only parts.
fn optional(subject: &Subject<'_>, part: &[ServicesPart]) -> Option<String> {
    let cursor = |class: Class, name: &str| subject.schema.classes.of(class).cursor().key(name);
    let may_go = |name: &str| {
        let fixed = cursor(Class::CreateOnly, name).reaches() || cursor(Class::WriteOnly, name).reaches();
        !fixed && creatable(subject.schema, &lacking(&subject.desired, name)).is_ok()
    };
    part.iter().find_map(|part| {
        let with_part = |name: &str| cursor(Class::ReadOnly, name).reaches() == (*part == ServicesPart::Some);
        subject.desired.keys().find(|name| with_part(name) && may_go(name)).map(|name| name.to_string())
    })
}

/// Whether a property contains read-only values.
#[derive(PartialEq)]
enum ServicesPart {
    None,
    Some,
}

fn removed(subject: &Subject<'_>) -> Option<Wanted> {
    let name = optional(subject, &[ServicesPart::None, ServicesPart::Some])?;
    let read_only = subject.schema.classes.of(Class::ReadOnly).cursor().key(&name);
    let mut full = subject.full.clone();
    let left = full.remove(&name).and_then(|kept| services_part(kept, &read_only));
    full.extend(left.map(|left| (name.clone(), left)));
    Some(to(subject, lacking(&subject.desired, &name), End::Updated(full)))
}

/// Reverses `removed`: the property and the service's part of it did not exist before.
fn added(subject: &Subject<'_>) -> Option<Wanted> {
    let name = optional(subject, &[ServicesPart::None])?;
    let last = lacking(&subject.desired, &name);
    let full = lacking(&subject.full, &name);
    let want = subject.desired.clone();
    // The service adds the schema's defaults inside the property.
    let mut after = full.clone();
    after.insert(name.clone(), want[&name].clone());
    Some(Wanted { last, full, ..to(subject, want, End::Updated(after)) })
}

/// Changes the live resource, not the inputs.
fn drifted(subject: &Subject<'_>, other: Map) -> Option<Wanted> {
    let full = subject.live(&other).ok()?;
    let end = End::Updated(subject.full.clone());
    Some(Wanted { full, ..to(subject, subject.desired.clone(), end) })
}

/// Adds an empty list to the live resource, as some services do, that the service then refuses as too short.
fn beside_artefact(subject: &Subject<'_>, want: Map) -> Option<Wanted> {
    let schema = subject.schema;
    let fixed = [Class::ReadOnly, Class::CreateOnly, Class::WriteOnly];
    let reaches =
        |name: &str| fixed.iter().any(|class| schema.classes.of(*class).cursor().key(name).reaches());
    let too_short = |id| schema.find(id, &mut Vec::new(), &|form| form.items.map(|_| form.min_items > 0));
    let mut lists = schema.properties().filter(|(name, id)| too_short(*id) == Some(true) && !reaches(name));
    let (name, _) = lists.find(|(name, _)| creatable(schema, &lacking(&want, name)).is_ok())?;
    let (last, want) = (lacking(&subject.desired, name), lacking(&want, name));
    let mut full = lacking(&subject.full, name);
    let after = lacking(&subject.live(&want).ok()?, name);
    full.insert(name.to_owned(), Value::from(Vec::new()));
    (last != want).then(|| Wanted { last, full, ..to(subject, want, End::Updated(after)) })
}

/// Returns the inputs without the last element of the list that contains a leaf, if the leaf is in that element.
fn shorter(subject: &Subject<'_>, leaf: &Leaf) -> Option<Map> {
    let at = leaf.path.0.iter().rposition(|segment| matches!(segment, Segment::Index(_)))?;
    let Segment::Index(last @ 1..) = leaf.path.0[at] else { return None };
    let list = PropertyPath(leaf.path.0[..at].to_vec());
    let Value::List(items) = subject.at(&list)? else { return None };
    if !leaf.is_free() || last + 1 != items.len() {
        return None;
    }
    let want = replaced(&subject.desired, &list, Value::from(items[..last].to_vec()));
    creatable(subject.schema, &want).is_ok().then_some(want)
}

pub(crate) fn lacking(inputs: &Map, name: &str) -> Map {
    let mut inputs = inputs.clone();
    inputs.remove(name);
    inputs
}

/// Returns the part of an object that remains when the user declares nothing of it: the read-only values.
fn services_part(kept: Value, read_only: &Cursor<'_>) -> Option<Value> {
    match kept {
        kept if read_only.is_covered() => Some(kept),
        Value::Map(map) if read_only.reaches() => {
            let parts = map.into_iter().filter_map(|(key, value)| {
                let part = services_part(value, &read_only.key(&key))?;
                Some((key, part))
            });
            let parts: Map = parts.collect();
            (!parts.is_empty()).then_some(Value::Map(parts))
        }
        _ => None,
    }
}
