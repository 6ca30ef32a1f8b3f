//! Values that fit a schema, made from nothing but the schema: deterministic, deep and rich in odd keys.
//!
//! The service makes its read-only values here, and the proof its wishes.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Map, Segment, Value};
use stead_schema::cfn::{Class, Cursor, FormId, Kinds, Rest, Schema};

/// Deeper than this only what is required is made, and lists get one element.
const RICH: usize = 3;
/// At most this many optional members below the first levels.
const FEW: usize = 2;
/// Deeper than this nothing is made: only circles come so far.
const DEEPEST: usize = 24;
/// A model has about this many values; more only where they are required.
const BUDGET: usize = 400;
/// Keys of maps. Two of them are what breaks whoever joins paths to text.
const KEYS: [&str; 3] = ["plain", "example.com/part~one", "größe"];

/// Which part of a model is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// What a user may say: nothing read-only.
    Input,
    /// What the service says.
    Output,
}

/// Makes values of one schema.
pub struct Sampler<'a> {
    schema: &'a Schema,
    /// Which of several alternatives is taken, counted around.
    pub arm: usize,
    /// How many optional top-level properties are made.
    pub optional: usize,
    /// An optional top-level property that is not made.
    pub omit: Option<String>,
    /// How many elements a list of plain values has; a list of anything else has two.
    pub plain_elements: usize,
    part: Part,
    made: usize,
}

/// A form with all that it is made of, one alternative chosen.
#[derive(Default)]
struct Whole {
    kinds: Kinds,
    properties: BTreeMap<String, FormId>,
    rest: Rest,
    required: BTreeSet<String>,
    /// What only alternatives ask for that were not chosen.
    barred: BTreeSet<String>,
    items: Option<FormId>,
    unique: bool,
    min_items: u32,
    choices: Vec<Value>,
}

/// A place that is being filled.
#[derive(Clone)]
struct Spot<'c> {
    depth: usize,
    read_only: Cursor<'c>,
    /// The name of what it is, and the elements on the way to it.
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
            part: Part::Input,
            made: 0,
        }
    }

    /// What a user might ask for: everything required, and most of what is optional.
    pub fn desired(&mut self) -> Map {
        (self.part, self.made) = (Part::Input, 0);
        let schema = self.schema;
        let read_only = schema.classes.of(Class::ReadOnly).cursor();
        let spot = Spot { depth: 0, read_only, label: String::new() };
        match self.object(&self.whole(Schema::ROOT), &spot) {
            Value::Map(map) => map,
            _ => Map::new(),
        }
    }

    /// A value that the service sets at a place.
    pub fn output(&mut self, form: FormId, path: &[Segment]) -> Value {
        (self.part, self.made) = (Part::Output, 0);
        let mut label = String::new();
        for segment in path {
            match segment {
                Segment::Key(key) => label = named(&label, key),
                Segment::Index(index) => label.push_str(&format!("-{index}")),
            }
        }
        self.value(form, &Spot { depth: RICH, read_only: Cursor::default(), label: format!("aws-{label}") })
    }

    fn whole(&self, form: FormId) -> Whole {
        let mut whole = Whole::default();
        self.gather(form, &mut whole, &mut Vec::new());
        whole.barred.retain(|name| !whole.required.contains(name));
        whole
    }

    fn gather(&self, id: FormId, whole: &mut Whole, seen: &mut Vec<FormId>) {
        if seen.contains(&id) {
            return;
        }
        seen.push(id);
        let form = self.schema.form(id);
        if whole.kinds.is_any() {
            whole.kinds = form.kinds;
        }
        for (key, member) in &form.properties {
            whole.properties.entry(key.clone()).or_insert(*member);
        }
        // A form that only chooses among others, or only says what is required, opens nothing by itself.
        let opens = form.required.is_empty() && form.parts().next().is_none();
        if matches!(form.rest, Rest::Of(_)) || (whole.rest == Rest::Closed && opens) {
            whole.rest = form.rest;
        }
        whole.required.extend(form.required.iter().cloned());
        whole.items = whole.items.or(form.items);
        whole.unique |= form.unique;
        whole.min_items = whole.min_items.max(form.min_items);
        if whole.choices.is_empty() {
            whole.choices.clone_from(&form.choices);
        }
        form.all_of.iter().for_each(|part| self.gather(*part, whole, seen));
        for arms in [&form.one_of, &form.any_of] {
            if let Some(chosen) = arms.get(self.arm % arms.len().max(1)) {
                let others = arms.iter().filter(|arm| *arm != chosen);
                whole.barred.extend(others.flat_map(|arm| self.schema.form(*arm).required.iter().cloned()));
                self.gather(*chosen, whole, seen);
            }
        }
    }

    fn value(&mut self, form: FormId, spot: &Spot<'_>) -> Value {
        self.made += 1;
        let whole = self.whole(form);
        if !whole.choices.is_empty() {
            return whole.choices[digits(&spot.label) % whole.choices.len()].clone();
        }
        let kinds = whole.kinds;
        let may = |kind: Kinds| kinds.has(kind);
        let named = !whole.properties.is_empty() || matches!(whole.rest, Rest::Of(_));
        if named && (kinds.is_any() || may(Kinds::OBJECT)) {
            return self.object(&whole, spot);
        }
        if whole.items.is_some() && (kinds.is_any() || may(Kinds::ARRAY)) {
            return self.list(&whole, spot);
        }
        let number = 10 * spot.label.len() as i64 + digits(&spot.label) as i64;
        match () {
            () if may(Kinds::OBJECT) => self.object(&whole, spot),
            () if kinds.is_any() || may(Kinds::STRING) => Value::from(spot.label.as_str()),
            () if may(Kinds::INTEGER) || may(Kinds::NUMBER) => Value::from(number),
            () if may(Kinds::BOOLEAN) => Value::Bool(true),
            () if may(Kinds::ARRAY) => self.list(&whole, spot),
            () => Value::Null,
        }
    }

    fn object(&mut self, whole: &Whole, spot: &Spot<'_>) -> Value {
        let mut map = Map::new();
        if spot.depth > DEEPEST {
            return Value::Map(map);
        }
        let mut optional = 0;
        for (key, form) in &whole.properties {
            let read_only = spot.read_only.key(key);
            if self.part == Part::Input && read_only.is_covered() {
                continue;
            }
            if !whole.required.contains(key) {
                let too_much =
                    self.made > BUDGET || (spot.depth >= RICH && optional >= FEW) || spot.depth > 2 * RICH;
                let left_out =
                    spot.depth == 0 && (optional >= self.optional || self.omit.as_ref() == Some(key));
                if too_much || left_out || whole.barred.contains(key) {
                    continue;
                }
                optional += 1;
            }
            let inside = Spot { depth: spot.depth + 1, read_only, label: named(&spot.label, key) };
            let value = self.value(*form, &inside);
            let hollow =
                self.part == Part::Input && inside.read_only.reaches() && value == Value::Map(Map::new());
            if !hollow || whole.required.contains(key) {
                map.insert(key.clone(), value);
            }
        }
        if whole.properties.is_empty() {
            self.keys(whole, spot, &mut map);
        }
        Value::Map(map)
    }

    fn keys(&mut self, whole: &Whole, spot: &Spot<'_>, map: &mut Map) {
        match whole.rest {
            Rest::Of(form) => {
                for key in KEYS {
                    let read_only = spot.read_only.key(key);
                    let inside = Spot { depth: spot.depth + 1, read_only, label: named(&spot.label, key) };
                    map.insert(key.to_owned(), self.value(form, &inside));
                }
            }
            Rest::Open => {
                map.insert("Version".to_owned(), Value::from(spot.label.as_str()));
                let inside = Map::from([("Effect".to_owned(), Value::from("Allow"))]);
                map.insert("Statement".to_owned(), Value::List(vec![Value::Map(inside)]));
            }
            Rest::Closed => {}
        }
    }

    fn list(&mut self, whole: &Whole, spot: &Spot<'_>) -> Value {
        let Some(element) = whole.items else {
            return Value::List(vec![Value::from(spot.label.as_str())]);
        };
        let least = whole.min_items as usize;
        let wanted = if spot.depth > RICH + 1 || self.made > BUDGET { least.max(1) } else { least.max(2) };
        let mut items: Vec<Value> = Vec::new();
        for index in 0..wanted {
            let inside = Spot {
                depth: spot.depth + 1,
                read_only: spot.read_only.element(),
                label: format!("{}-{index}", spot.label),
            };
            let item = self.value(element, &inside);
            let is_plain = !matches!(item, Value::Map(_) | Value::List(_));
            if is_plain && index >= self.plain_elements.max(least) {
                break;
            }
            if !items.contains(&item) || (!whole.unique && index < least) {
                items.push(item);
            }
        }
        Value::List(items)
    }
}

/// Which element of lists a place is in, as one number.
fn digits(label: &str) -> usize {
    label.split('-').filter_map(|part| part.parse::<usize>().ok()).sum()
}

/// Where a value is, in the value: so that each is another one.
fn named(outer: &str, key: &str) -> String {
    let digits: Vec<&str> = outer.split('-').filter(|part| part.parse::<usize>().is_ok()).collect();
    let mut label = key.to_lowercase();
    for digit in digits {
        label.push('-');
        label.push_str(digit);
    }
    label
}

/// A model without what a set covers.
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
