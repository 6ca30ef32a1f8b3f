//! Sample values, generated from a schema alone: deterministic, deep, and with unusual map keys.
//!
//! The model takes its read-only values from here, and the tests their desired inputs.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Map, Segment, Value};
use stead_schema::cfn::{Class, Cursor, FormId, Kinds, Limits, Rest, Schema};

use crate::within;

/// Depth below which only required members are generated and lists get one element.
const RICH_DEPTH: usize = 3;
/// Maximum number of optional members below that depth.
const MAX_OPTIONAL: usize = 2;
/// Depth at which generation stops. Only recursive forms get there.
const MAX_DEPTH: usize = 24;
/// Approximate number of values in a model. Required values may exceed it.
const BUDGET: usize = 400;
/// Keys of maps. Two of them break code that joins paths as text.
const KEYS: [&str; 3] = ["plain", "example.com/part~one", "größe"];

/// Side of a model to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Values that a user may set: nothing read-only.
    Input,
    /// Values that the service sets.
    Output,
}

/// Generator of values for one schema.
pub struct Sampler<'a> {
    schema: &'a Schema,
    /// Number of the alternative to choose, modulo the number of alternatives.
    pub arm: usize,
    /// Maximum number of optional top-level properties.
    pub optional: usize,
    /// Optional top-level property to leave out.
    pub omit: Option<String>,
    /// Length of lists of scalars. Other lists have two elements.
    pub plain_elements: usize,
    side: Side,
    made: usize,
}

/// Form merged with its parts, with one alternative chosen.
#[derive(Default)]
struct MergedForm {
    kinds: Kinds,
    properties: BTreeMap<String, FormId>,
    rest: Rest,
    required: BTreeSet<String>,
    /// Members that only the other alternatives require.
    excluded: BTreeSet<String>,
    items: Option<FormId>,
    unique: bool,
    min_items: u32,
    choices: Vec<Value>,
    /// Forms that limit the value.
    limiting: Vec<FormId>,
}

/// Position of a value to generate.
#[derive(Clone)]
struct Position<'c> {
    depth: usize,
    read_only: Cursor<'c>,
    /// Property name and list indexes, from which the value is derived.
    label: String,
}

impl<'a> Sampler<'a> {
    pub fn new(schema: &'a Schema) -> Sampler<'a> {
        Sampler {
            schema,
            arm: 0,
            optional: usize::MAX,
            omit: None,
            plain_elements: 2,
            side: Side::Input,
            made: 0,
        }
    }

    /// Returns desired inputs: all required properties and most optional ones.
    pub fn desired(&mut self) -> Map {
        (self.side, self.made) = (Side::Input, 0);
        let schema = self.schema;
        let read_only = schema.classes.of(Class::ReadOnly).cursor();
        let position = Position { depth: 0, read_only, label: String::new() };
        match self.object(&self.merged(Schema::ROOT), &position) {
            Value::Map(map) => map,
            _ => Map::new(),
        }
    }

    /// Returns a value that the service sets at a path.
    pub fn output(&mut self, form: FormId, path: &[Segment]) -> Value {
        (self.side, self.made) = (Side::Output, 0);
        let mut label = String::new();
        for segment in path {
            match segment {
                Segment::Key(key) => label = named(&label, key),
                Segment::Index(index) => label.push_str(&format!("-{index}")),
            }
        }
        self.value(
            form,
            &Position { depth: RICH_DEPTH, read_only: Cursor::default(), label: format!("aws-{label}") },
        )
    }

    fn merged(&self, form: FormId) -> MergedForm {
        let mut merged = MergedForm::default();
        self.gather(form, &mut merged, &mut Vec::new());
        merged.excluded.retain(|name| !merged.required.contains(name));
        merged
    }

    fn gather(&self, id: FormId, merged: &mut MergedForm, seen: &mut Vec<FormId>) {
        if seen.contains(&id) {
            return;
        }
        seen.push(id);
        let form = self.schema.form(id);
        merged.limiting.push(id);
        if merged.kinds.is_any() {
            merged.kinds = form.kinds;
        }
        for (key, member) in &form.properties {
            merged.properties.entry(key.clone()).or_insert(*member);
        }
        // A form that only lists alternatives or required members does not allow additional members.
        let opens = form.required.is_empty() && form.parts().next().is_none();
        if matches!(form.rest, Rest::Of(_)) || (merged.rest == Rest::Closed && opens) {
            merged.rest = form.rest;
        }
        merged.required.extend(form.required.iter().cloned());
        merged.items = merged.items.or(form.items);
        merged.unique |= form.unique;
        merged.min_items = merged.min_items.max(form.min_items);
        if merged.choices.is_empty() {
            merged.choices.clone_from(&form.choices);
        }
        form.all_of.iter().for_each(|part| self.gather(*part, merged, seen));
        for arms in [&form.one_of, &form.any_of] {
            if let Some(chosen) = arms.get(self.arm % arms.len().max(1)) {
                let others = arms.iter().filter(|arm| *arm != chosen);
                merged
                    .excluded
                    .extend(others.flat_map(|arm| self.schema.form(*arm).required.iter().cloned()));
                self.gather(*chosen, merged, seen);
            }
        }
    }

    fn value(&mut self, form: FormId, position: &Position<'_>) -> Value {
        self.made += 1;
        let merged = self.merged(form);
        if !merged.choices.is_empty() {
            return merged.choices[digits(&position.label) % merged.choices.len()].clone();
        }
        let kinds = merged.kinds;
        let may = |kind: Kinds| kinds.has(kind);
        let named = !merged.properties.is_empty() || matches!(merged.rest, Rest::Of(_));
        if named && (kinds.is_any() || may(Kinds::OBJECT)) {
            return self.object(&merged, position);
        }
        if merged.items.is_some() && (kinds.is_any() || may(Kinds::ARRAY)) {
            return self.list(&merged, position);
        }
        let number = 10 * position.label.len() as i64 + digits(&position.label) as i64;
        match () {
            () if may(Kinds::OBJECT) => self.object(&merged, position),
            () if kinds.is_any() || may(Kinds::STRING) => {
                Value::from(within::text(self.limits(&merged), &position.label))
            }
            () if may(Kinds::INTEGER) || may(Kinds::NUMBER) => {
                Value::from(within::number(self.limits(&merged), number))
            }
            () if may(Kinds::BOOLEAN) => Value::Bool(true),
            () if may(Kinds::ARRAY) => self.list(&merged, position),
            () => Value::Null,
        }
    }

    fn limits<'m>(&'m self, merged: &'m MergedForm) -> impl Iterator<Item = &'m Limits> + Clone + 'm {
        merged.limiting.iter().map(|id| &self.schema.form(*id).limits)
    }

    /// Returns a text or number for a form that differs from another one, if the form allows two.
    pub fn other_scalar(&self, form: FormId, than: &Value) -> Option<Value> {
        let merged = self.merged(form);
        let candidates: Vec<Value> = match than {
            Value::String(text) => {
                let labels =
                    [format!("{text}-changed"), "changed-2".to_owned(), "b".to_owned(), "7".to_owned()];
                labels.iter().map(|label| Value::from(within::text(self.limits(&merged), label))).collect()
            }
            Value::Number(number) => {
                let number = number.as_i64()?;
                let others = [number + 1000, number + 1, number - 1];
                others
                    .iter()
                    .map(|number| Value::from(within::number(self.limits(&merged), *number)))
                    .collect()
            }
            _ => return None,
        };
        candidates.into_iter().find(|candidate| candidate != than)
    }

    fn object(&mut self, merged: &MergedForm, position: &Position<'_>) -> Value {
        let mut map = Map::new();
        if position.depth > MAX_DEPTH {
            return Value::Map(map);
        }
        let mut optional = 0;
        for (key, form) in &merged.properties {
            let read_only = position.read_only.key(key);
            if self.side == Side::Input && read_only.is_covered() {
                continue;
            }
            if !merged.required.contains(key) {
                let too_much = self.made > BUDGET
                    || (position.depth >= RICH_DEPTH && optional >= MAX_OPTIONAL)
                    || position.depth > 2 * RICH_DEPTH;
                let left_out =
                    position.depth == 0 && (optional >= self.optional || self.omit.as_ref() == Some(key));
                if too_much || left_out || merged.excluded.contains(key) {
                    continue;
                }
                optional += 1;
            }
            let inside =
                Position { depth: position.depth + 1, read_only, label: named(&position.label, key) };
            let value = self.value(*form, &inside);
            let hollow =
                self.side == Side::Input && inside.read_only.reaches() && value == Value::Map(Map::new());
            if !hollow || merged.required.contains(key) {
                map.insert(key.clone(), value);
            }
        }
        if merged.properties.is_empty() {
            self.keys(merged, position, &mut map);
        }
        self.trim(merged, &mut map);
        Value::Map(map)
    }

    /// Removes optional members that need others which are not there, and those that are too many.
    fn trim(&self, merged: &MergedForm, map: &mut Map) {
        let optional = |map: &Map, fits: &dyn Fn(&str) -> bool| {
            map.keys().rev().find(|name| !merged.required.contains(name.as_str()) && fits(name)).cloned()
        };
        loop {
            let most = self.limits(merged).filter_map(|limits| limits.members.most).min();
            let lacks = |name: &str| {
                let mut needs =
                    self.limits(merged).filter_map(|limits| limits.dependencies.get(name)).flatten();
                needs.any(|needed| !map.contains_key(needed))
            };
            let many = most.is_some_and(|most| map.len() as u64 > most);
            let Some(name) = optional(map, &|name| many || lacks(name)) else { return };
            map.remove(&name);
        }
    }

    fn keys(&mut self, merged: &MergedForm, position: &Position<'_>, map: &mut Map) {
        match merged.rest {
            Rest::Of(form) => {
                for key in KEYS {
                    let read_only = position.read_only.key(key);
                    let inside =
                        Position { depth: position.depth + 1, read_only, label: named(&position.label, key) };
                    map.insert(key.to_owned(), self.value(form, &inside));
                }
            }
            Rest::Open => {
                map.insert("Version".to_owned(), Value::from(position.label.as_str()));
                let inside = Map::from([("Effect".to_owned(), Value::from("Allow"))]);
                map.insert("Statement".to_owned(), Value::from(vec![Value::Map(inside)]));
            }
            Rest::Closed => {}
        }
    }

    fn list(&mut self, merged: &MergedForm, position: &Position<'_>) -> Value {
        let Some(element) = merged.items else {
            return Value::from(vec![Value::from(position.label.as_str())]);
        };
        let least = merged.min_items as usize;
        let wanted =
            if position.depth > RICH_DEPTH + 1 || self.made > BUDGET { least.max(1) } else { least.max(2) };
        let most = self.limits(merged).filter_map(|limits| limits.items.most).min();
        let wanted = most.map_or(wanted, |most| wanted.min(most as usize));
        let mut items: Vec<Value> = Vec::new();
        for index in 0..wanted {
            let inside = Position {
                depth: position.depth + 1,
                read_only: position.read_only.element(),
                label: format!("{}-{index}", position.label),
            };
            let item = self.value(element, &inside);
            let is_plain = !matches!(item, Value::Map(_) | Value::List(_));
            if is_plain && index >= self.plain_elements.max(least) {
                break;
            }
            if !items.contains(&item) || (!merged.unique && index < least) {
                items.push(item);
            }
        }
        Value::from(items)
    }
}

/// Sums the list indexes in a label.
fn digits(label: &str) -> usize {
    label.split('-').filter_map(|part| part.parse::<usize>().ok()).sum()
}

/// Returns the label of a member, so that each position gets its own value.
fn named(outer: &str, key: &str) -> String {
    let digits: Vec<&str> = outer.split('-').filter(|part| part.parse::<usize>().is_ok()).collect();
    let mut label = key.to_lowercase();
    for digit in digits {
        label.push('-');
        label.push_str(digit);
    }
    label
}

/// Returns a model without the values that a cursor covers.
pub(crate) fn without(model: &Map, cursor: &Cursor<'_>) -> Map {
    let mut out = Map::new();
    for (key, value) in model {
        let cursor = cursor.key(key);
        if !cursor.is_covered() {
            out.insert(key.clone(), without_inside(value, &cursor));
        }
    }
    out
}

fn without_inside(value: &Value, cursor: &Cursor<'_>) -> Value {
    match value {
        value if !cursor.reaches() => value.clone(),
        Value::Map(map) => Value::Map(without(map, cursor)),
        Value::List(items) => {
            let cursor = cursor.element();
            let shown = items.iter().filter(|_| !cursor.is_covered());
            Value::List(shown.map(|item| without_inside(item, &cursor)).collect())
        }
        leaf => leaf.clone(),
    }
}
