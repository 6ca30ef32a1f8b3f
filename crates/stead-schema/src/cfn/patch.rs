//! From a wish to an update: what was last asked for, what is live, what is wanted now.
//!
//! Objects are compared leaf by leaf, lists as a whole. What nobody here asked for is left alone. What a read never
//! shows is sent again with every update, and is a reason for one only if it changed.

use std::collections::BTreeSet;

use stead_model::{Map, PropertyPath, Value};

use super::lists::ListChange;
use super::place::Place;
use super::same::{is_ambiguous, is_opaque, same_leaf};
use super::update::{Edit, Operation, Reason, Update};
use super::{Class, DigestKey, Kinds, Remembered, Schema};
use crate::ReplaceOrder;

/// The three sides of an update.
pub struct Wish<'a> {
    pub last: &'a Remembered,
    /// As the service shows it now.
    pub live: &'a Map,
    pub want: &'a Map,
    pub key: &'a DigestKey,
}

/// What has to be done for the live resource to become the wanted one.
pub fn patch(schema: &Schema, wish: &Wish<'_>) -> Update {
    let wanted = Remembered::of(schema, wish.key, wish.want);
    let mut walk = Walk::new(wish.last, &wanted);
    walk.object(&Place::root(schema), Some(&wish.last.inputs), wish.live, wish.want);
    walk.finish(schema, wish)
}

/// Collects what is found on the way.
pub(crate) struct Walk<'a> {
    pub(crate) last: &'a Remembered,
    /// What will be remembered of the wish.
    pub(crate) wanted: &'a Remembered,
    pub(crate) operations: Vec<Operation>,
    /// Hidden values that go along with an update.
    pub(crate) resend: Vec<Operation>,
    pub(crate) replace: Vec<Reason>,
    /// Hidden values that are no longer wanted.
    dropped: Vec<PropertyPath>,
}

impl<'a> Walk<'a> {
    fn new(last: &'a Remembered, wanted: &'a Remembered) -> Walk<'a> {
        Walk {
            last,
            wanted,
            operations: Vec::new(),
            resend: Vec::new(),
            replace: Vec::new(),
            dropped: Vec::new(),
        }
    }

    fn object(&mut self, place: &Place<'_>, last: Option<&Map>, live: &Map, want: &Map) {
        let owned = last.into_iter().flat_map(Map::keys).cloned();
        let mut names: BTreeSet<String> = owned.chain(want.keys().cloned()).collect();
        if place.hides() {
            names.extend(self.hidden_members(place));
        }
        for name in names {
            let of = |map: Option<&'_ Map>| {
                map.and_then(|map| map.get(&name)).filter(|value| **value != Value::Null).cloned()
            };
            let (last, live, want) = (of(last), of(Some(live)), of(Some(want)));
            self.member(&place.key(&name), last.as_ref(), live.as_ref(), want.as_ref());
        }
    }

    /// Members of an object of which only hidden leaves are remembered.
    fn hidden_members(&self, place: &Place<'_>) -> Vec<String> {
        let depth = place.path.0.len() + 1;
        let step = |found: &str| {
            let text = found.split('/').nth(depth)?;
            Some(text.replace("~1", "/").replace("~0", "~"))
        };
        self.last.under(&place.path).into_keys().filter_map(step).collect()
    }

    fn member(
        &mut self,
        place: &Place<'_>,
        last: Option<&Value>,
        live: Option<&Value>,
        want: Option<&Value>,
    ) {
        if place.is_read_only() {
            return;
        }
        if place.is_create_only() {
            return self.create_only(place, last, live, want);
        }
        if place.is_hidden() {
            return self.hidden(place, want);
        }
        match (want, live) {
            (Some(want), Some(live)) => self.both(place, last, live, want),
            (Some(want), None) => self.appear(place, last, want),
            (None, Some(live)) => {
                if let Some(last) = last {
                    self.vanish(place, last, live);
                }
            }
            (None, None) => self.drop_hidden(place),
        }
    }

    fn both(&mut self, place: &Place<'_>, last: Option<&Value>, live: &Value, want: &Value) {
        match (want, live) {
            _ if same_leaf(place, want, live) && !place.hides() && !is_ambiguous(place, last, live, want) => {
            }
            (Value::Map(want), Value::Map(shown)) if !is_document(place) => {
                self.object(place, last.and_then(Value::as_map), shown, want);
            }
            (Value::List(want), Value::List(live)) => {
                let last = last.and_then(Value::as_list);
                ListChange { walk: self, place, last, live, want }.decide();
            }
            _ if last == Some(want) && is_opaque(place, want) => {}
            _ => {
                let why = if last == Some(want) { "it was changed outside" } else { "it changes" };
                self.add(place, want.clone(), why);
            }
        }
    }

    pub(crate) fn add(&mut self, place: &Place<'_>, value: Value, why: &str) {
        self.operations.push(Operation {
            path: place.path.clone(),
            edit: Edit::Add(value),
            why: why.to_owned(),
        });
    }

    pub(crate) fn force(&mut self, place: &Place<'_>, why: &str) {
        self.replace.push(Reason { path: place.path.clone(), why: why.to_owned() });
    }

    /// Whether hidden leaves at or under a place are no longer those of the last wish.
    pub(crate) fn hidden_changed(&self, path: &PropertyPath) -> bool {
        self.last.under(path) != self.wanted.under(path)
    }

    fn create_only(
        &mut self,
        place: &Place<'_>,
        last: Option<&Value>,
        live: Option<&Value>,
        want: Option<&Value>,
    ) {
        // Also of a part that is shown, a part may not be.
        if place.hides() && self.hidden_changed(&place.path) {
            return self.force(place, "it can be set at creation only");
        }
        if place.is_hidden() {
            return;
        }
        match want {
            Some(want) => {
                let there = live.is_some_and(|live| {
                    super::lists::meets(place, want, live) && !is_ambiguous(place, last, live, want)
                });
                let asked =
                    last.is_some_and(|last| *last == strip(self.wanted, place).unwrap_or(want).clone());
                if !there && !asked {
                    self.force(place, "it can be set at creation only");
                }
            }
            None if last.is_some() => self.force(place, "it was set at creation, and cannot be taken back"),
            None => {}
        }
    }

    fn hidden(&mut self, place: &Place<'_>, want: Option<&Value>) {
        match want {
            None => self.drop_hidden(place),
            Some(want) => {
                let Some(value) = self.sendable(place, None, want) else { return };
                if self.hidden_changed(&place.path) {
                    self.add(place, value, "it changes; a read never shows it");
                } else {
                    self.send_again(place, value);
                }
            }
        }
    }

    pub(crate) fn send_again(&mut self, place: &Place<'_>, value: Value) {
        let why = "a read never shows it, so every update sends it again".to_owned();
        self.resend.push(Operation { path: place.path.clone(), edit: Edit::Add(value), why });
    }

    fn drop_hidden(&mut self, place: &Place<'_>) {
        if !self.last.under(&place.path).is_empty() {
            self.dropped.push(place.path.clone());
        }
    }

    /// It is wanted, and a read does not show it.
    fn appear(&mut self, place: &Place<'_>, last: Option<&Value>, want: &Value) {
        let asked = last.is_some_and(|last| Some(last) == strip(self.wanted, place));
        let changed = self.hidden_changed(&place.path);
        let Some(value) = self.sendable(place, last, want) else { return };
        if changed || !(asked && is_silent(place, want)) {
            let why = if asked { "it was removed outside" } else { "it is new" };
            self.add(place, value, why);
        } else if !self.wanted.under(&place.path).is_empty() {
            self.send_again(place, value);
        }
    }

    /// It is no longer wanted. Only what was asked for goes.
    fn vanish(&mut self, place: &Place<'_>, last: &Value, live: &Value) {
        self.drop_hidden(place);
        if let (Value::Map(last), Value::Map(shown)) = (last, live) {
            let foreign = shown.iter().any(|(name, value)| *value != Value::Null && !last.contains_key(name));
            if (foreign || place.fixes()) && !self.leaves_too_little(place, last, shown) {
                return self.object(place, Some(last), shown, &Map::new());
            }
        }
        self.operations.push(Operation {
            path: place.path.clone(),
            edit: Edit::Remove,
            why: "it is no longer wanted".to_owned(),
        });
    }

    /// Without the members that we asked for, an object would lack one that it must have.
    fn leaves_too_little(&self, place: &Place<'_>, last: &Map, shown: &Map) -> bool {
        let goes = |name: &str| {
            let member = place.key(name);
            last.contains_key(name) && !member.is_read_only() && !member.is_create_only()
        };
        let left = shown.keys().filter(|name| !goes(name)).count();
        let form = place.form.map(|form| place.schema.form(form));
        left == 0
            || form
                .is_some_and(|form| form.required.iter().any(|name| shown.contains_key(name) && goes(name)))
    }

    fn finish(mut self, schema: &Schema, wish: &Wish<'_>) -> Update {
        let order = schema.replacement.unwrap_or_default();
        if !self.replace.is_empty() {
            return Update::Replace { forced_by: self.replace, order };
        }
        if self.operations.is_empty() && !self.dropped.is_empty() {
            self.touch(wish);
        }
        if self.operations.is_empty() {
            return Update::Nothing;
        }
        if schema.handlers.update.is_none() {
            return cannot_update(self.operations, order);
        }
        let lost = unsendable(schema, wish.want);
        if !lost.is_empty() {
            return Update::Impossible(lost);
        }
        let conditional = schema.classes.of(Class::ConditionalCreateOnly);
        let conditional = self
            .operations
            .iter()
            .map(|operation| &operation.path)
            .filter(|path| conditional.covers(path))
            .cloned()
            .collect();
        let mut operations = self.resend;
        operations.append(&mut self.operations);
        operations.extend(super::send::artefacts(schema, wish));
        Update::Patch { operations, conditional }
    }

    /// A hidden value goes by not being sent again; something must be sent for that.
    fn touch(&mut self, wish: &Wish<'_>) {
        let settled = wish.want.iter().find(|(name, value)| wish.live.get(*name) == Some(value));
        if let Some((name, value)) = settled {
            let why = format!("sent so that {} goes, which is no longer wanted", self.dropped[0]);
            let path = PropertyPath::of(name);
            self.operations.push(Operation { path, edit: Edit::Add(value.clone()), why });
        }
    }
}

/// What is remembered of the wish at a place.
pub(crate) fn strip<'a>(wanted: &'a Remembered, place: &Place<'_>) -> Option<&'a Value> {
    let mut segments = place.path.0.iter();
    let stead_model::Segment::Key(first) = segments.next()? else { return None };
    let mut at = wanted.inputs.get(first)?;
    for segment in segments {
        at = match (segment, at) {
            (stead_model::Segment::Key(key), Value::Map(map)) => map.get(key)?,
            (stead_model::Segment::Index(index), Value::List(items)) => items.get(*index)?,
            _ => return None,
        };
    }
    Some(at)
}

/// A JSON document that may also be written as text: its members are not properties.
fn is_document(place: &Place<'_>) -> bool {
    place.form.is_some_and(|form| {
        let kinds = place.schema.form(form).kinds;
        kinds.has(Kinds::STRING) && kinds.has(Kinds::OBJECT)
    })
}

/// A service may show nothing of it: it holds nothing that shows, or what would be there anyway.
pub(crate) fn is_silent(place: &Place<'_>, want: &Value) -> bool {
    if place.is_read_only() || place.is_hidden() || place.is_deprecated() || place.is_create_only() {
        return true;
    }
    if place.form.and_then(|form| place.schema.default_of(form)) == Some(want) {
        return true;
    }
    match want {
        Value::Null => true,
        Value::Map(map) => map.iter().all(|(name, value)| is_silent(&place.key(name), value)),
        Value::List(items) => items.is_empty(),
        _ => false,
    }
}

fn cannot_update(operations: Vec<Operation>, order: ReplaceOrder) -> Update {
    let why = "resources of this type cannot be updated".to_owned();
    let forced_by = operations.into_iter().map(|operation| Reason { path: operation.path, why: why.clone() });
    Update::Replace { forced_by: forced_by.collect(), order }
}

/// Required, and neither shown nor to be sent again: no update of such a resource is ever valid.
fn unsendable(schema: &Schema, want: &Map) -> Vec<Reason> {
    let root = Place::root(schema);
    let required = &schema.form(Schema::ROOT).required;
    let lost = required.iter().filter(|name| want.contains_key(*name)).map(|name| root.key(name));
    lost.filter(|place| place.is_create_only() && place.is_hidden())
        .map(|place| Reason {
            path: place.path,
            why: "every update must have it, a read never shows it, and only a creation may send it"
                .to_owned(),
        })
        .collect()
}
