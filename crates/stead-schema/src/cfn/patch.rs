//! Three-way comparison: computes an update from the inputs last applied, the live resource and the desired inputs.
//!
//! Objects are compared leaf by leaf, lists as a whole. Properties that were never declared are left alone. Hidden
//! properties (those that a read never returns) are sent with every update, but cause one only if they changed.

use std::collections::BTreeSet;

use stead_model::{Map, PropertyPath, Text, Value};

use super::equivalence::{equivalent, is_ambiguous, is_opaque};
use super::lists::ListChange;
use super::position::Position;
use super::update::{Edit, Operation, Reason, Update};
use super::{Class, DigestKey, Kinds, LastApplied, Schema};
use crate::ReplaceOrder;

/// Inputs of a three-way comparison.
pub struct UpdateInputs<'a> {
    pub last: &'a LastApplied,
    /// Model that the service returns now.
    pub live: &'a Map,
    pub want: &'a Map,
    pub key: &'a DigestKey,
}

/// Computes the update that makes the live resource match the desired inputs.
pub fn patch(schema: &Schema, inputs: &UpdateInputs<'_>) -> Update {
    let wanted = LastApplied::of(schema, inputs.key, inputs.want);
    let mut comparison = Comparison::new(inputs.last, &wanted);
    comparison.object(&Position::root(schema), Some(&inputs.last.inputs), inputs.live, inputs.want);
    comparison.finish(schema, inputs)
}

/// State of a comparison in progress.
pub(crate) struct Comparison<'a> {
    pub(crate) last: &'a LastApplied,
    /// Desired inputs, with hidden values replaced by digests.
    pub(crate) wanted: &'a LastApplied,
    pub(crate) operations: Vec<Operation>,
    /// Unchanged hidden values that accompany an update.
    pub(crate) resend: Vec<Operation>,
    pub(crate) replace: Vec<Reason>,
    /// Hidden values that are no longer declared.
    dropped: Vec<PropertyPath>,
}

impl<'a> Comparison<'a> {
    fn new(last: &'a LastApplied, wanted: &'a LastApplied) -> Comparison<'a> {
        Comparison {
            last,
            wanted,
            operations: Vec::new(),
            resend: Vec::new(),
            replace: Vec::new(),
            dropped: Vec::new(),
        }
    }

    fn object(&mut self, position: &Position<'_>, last: Option<&Map>, live: &Map, want: &Map) {
        let owned = last.into_iter().flat_map(Map::keys).cloned();
        let mut names: BTreeSet<Text> = owned.chain(want.keys().cloned()).collect();
        if position.contains_hidden() {
            names.extend(self.hidden_members(position).into_iter().map(Text::from));
        }
        for name in names {
            let of = |map: Option<&'_ Map>| {
                map.and_then(|map| map.get(&name)).filter(|value| **value != Value::Null).cloned()
            };
            let (last, live, want) = (of(last), of(Some(live)), of(Some(want)));
            self.member(&position.key(&name), last.as_ref(), live.as_ref(), want.as_ref());
        }
    }

    /// Returns the members of an object that contain hidden leaves in the inputs last applied.
    fn hidden_members(&self, position: &Position<'_>) -> Vec<String> {
        let depth = position.path.0.len() + 1;
        let step = |found: &str| {
            let text = found.split('/').nth(depth)?;
            Some(text.replace("~1", "/").replace("~0", "~"))
        };
        self.last.under(&position.path).into_keys().filter_map(step).collect()
    }

    fn member(
        &mut self,
        position: &Position<'_>,
        last: Option<&Value>,
        live: Option<&Value>,
        want: Option<&Value>,
    ) {
        if position.is_read_only() {
            return;
        }
        if position.is_create_only() {
            return self.create_only(position, last, live, want);
        }
        if position.is_hidden() {
            return self.hidden(position, want);
        }
        match (want, live) {
            (Some(want), Some(live)) => self.compare_present(position, last, live, want),
            (Some(want), None) => self.add_absent(position, last, want),
            (None, Some(live)) => {
                if let Some(last) = last {
                    self.remove_undeclared(position, last, live);
                }
            }
            (None, None) => self.drop_hidden(position),
        }
    }

    fn compare_present(&mut self, position: &Position<'_>, last: Option<&Value>, live: &Value, want: &Value) {
        match (want, live) {
            _ if equivalent(position, want, live)
                && !position.contains_hidden()
                && !is_ambiguous(position, last, live, want) => {}
            (Value::Map(want), Value::Map(shown)) if !is_document(position) => {
                self.object(position, last.and_then(Value::as_map), shown, want);
            }
            (Value::List(want), Value::List(live)) => {
                let last = last.and_then(Value::as_list);
                ListChange { comparison: self, position, last, live, want }.decide();
            }
            _ if last == Some(want) && is_opaque(position, want) => {}
            _ => {
                let why = if last == Some(want) {
                    "it was changed outside of stead"
                } else {
                    "its declared value changed"
                };
                self.add(position, want.clone(), why);
            }
        }
    }

    pub(crate) fn add(&mut self, position: &Position<'_>, value: Value, why: &str) {
        self.operations.push(Operation {
            path: position.path.clone(),
            edit: Edit::Add(value),
            why: why.to_owned(),
        });
    }

    pub(crate) fn force_replacement(&mut self, position: &Position<'_>, why: &str) {
        self.replace.push(Reason { path: position.path.clone(), why: why.to_owned() });
    }

    /// Returns true if hidden leaves at or under a path differ from those last applied.
    pub(crate) fn hidden_changed(&self, path: &PropertyPath) -> bool {
        self.last.under(path) != self.wanted.under(path)
    }

    fn create_only(
        &mut self,
        position: &Position<'_>,
        last: Option<&Value>,
        live: Option<&Value>,
        want: Option<&Value>,
    ) {
        // A part of a value that reads return may itself be hidden.
        if position.contains_hidden() && self.hidden_changed(&position.path) {
            return self.force_replacement(position, "it can be set at creation only");
        }
        if position.is_hidden() {
            return;
        }
        match want {
            Some(want) => {
                let there = live.is_some_and(|live| {
                    super::lists::satisfies(position, want, live) && !is_ambiguous(position, last, live, want)
                });
                let asked = last
                    .is_some_and(|last| *last == redacted_at(self.wanted, position).unwrap_or(want).clone());
                if !there && !asked {
                    self.force_replacement(position, "it can be set at creation only");
                }
            }
            None if last.is_some() => {
                self.force_replacement(position, "it was set at creation and cannot be removed")
            }
            None => {}
        }
    }

    fn hidden(&mut self, position: &Position<'_>, want: Option<&Value>) {
        match want {
            None => self.drop_hidden(position),
            Some(want) => {
                let Some(value) = self.sendable(position, None, want) else { return };
                if self.hidden_changed(&position.path) {
                    self.add(position, value, "its declared value changed; reads do not return it");
                } else {
                    self.resend_hidden(position, value);
                }
            }
        }
    }

    pub(crate) fn resend_hidden(&mut self, position: &Position<'_>, value: Value) {
        let why = "reads do not return it, so every update sends it again".to_owned();
        self.resend.push(Operation { path: position.path.clone(), edit: Edit::Add(value), why });
    }

    fn drop_hidden(&mut self, position: &Position<'_>) {
        if !self.last.under(&position.path).is_empty() {
            self.dropped.push(position.path.clone());
        }
    }

    /// Handles a declared value that the live resource does not have.
    fn add_absent(&mut self, position: &Position<'_>, last: Option<&Value>, want: &Value) {
        let asked = last.is_some_and(|last| Some(last) == redacted_at(self.wanted, position));
        let changed = self.hidden_changed(&position.path);
        let Some(value) = self.sendable(position, last, want) else { return };
        if changed || !(asked && may_be_absent(position, want)) {
            let why = if asked { "it was removed outside of stead" } else { "it is newly declared" };
            self.add(position, value, why);
        } else if !self.wanted.under(&position.path).is_empty() {
            self.resend_hidden(position, value);
        }
    }

    /// Handles a live value that is no longer declared. Removes only members that were declared.
    fn remove_undeclared(&mut self, position: &Position<'_>, last: &Value, live: &Value) {
        self.drop_hidden(position);
        if let (Value::Map(last), Value::Map(shown)) = (last, live) {
            let foreign = shown.iter().any(|(name, value)| *value != Value::Null && !last.contains_key(name));
            if (foreign || position.contains_fixed()) && !self.removal_breaks_object(position, last, shown) {
                return self.object(position, Some(last), shown, &Map::new());
            }
        }
        self.operations.push(Operation {
            path: position.path.clone(),
            edit: Edit::Remove,
            why: "it is no longer declared".to_owned(),
        });
    }

    /// Returns true if removing the declared members would leave an object empty or without a required member.
    fn removal_breaks_object(&self, position: &Position<'_>, last: &Map, shown: &Map) -> bool {
        let goes = |name: &str| {
            let member = position.key(name);
            last.contains_key(name) && !member.is_read_only() && !member.is_create_only()
        };
        let left = shown.keys().filter(|name| !goes(name)).count();
        let form = position.form.map(|form| position.schema.form(form));
        left == 0
            || form
                .is_some_and(|form| form.required.iter().any(|name| shown.contains_key(name) && goes(name)))
    }

    fn finish(mut self, schema: &Schema, inputs: &UpdateInputs<'_>) -> Update {
        let order = schema.replacement.unwrap_or_default();
        if !self.replace.is_empty() {
            return Update::Replace { forced_by: self.replace, order };
        }
        if self.operations.is_empty() && !self.dropped.is_empty() {
            self.resend_unchanged(inputs);
        }
        if self.operations.is_empty() {
            return Update::Nothing;
        }
        if schema.handlers.update.is_none() {
            return cannot_update(self.operations, order);
        }
        let lost = unsendable(schema, inputs.want);
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
        operations.extend(super::send::remove_artefacts(schema, inputs));
        Update::Patch { operations, conditional }
    }

    /// Adds an operation that changes nothing: a hidden value is removed by an update that does not send it.
    fn resend_unchanged(&mut self, inputs: &UpdateInputs<'_>) {
        let settled = inputs.want.iter().find(|(name, value)| inputs.live.get(*name) == Some(value));
        if let Some((name, value)) = settled {
            let why = format!("sent so that {} is removed, which is no longer declared", self.dropped[0]);
            let path = PropertyPath::of(name);
            self.operations.push(Operation { path, edit: Edit::Add(value.clone()), why });
        }
    }
}

/// Returns the value at a position in the desired inputs without hidden values.
pub(crate) fn redacted_at<'a>(wanted: &'a LastApplied, position: &Position<'_>) -> Option<&'a Value> {
    let mut segments = position.path.0.iter();
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

/// Returns true for a JSON document that may also be given as text. Its members are not properties.
fn is_document(position: &Position<'_>) -> bool {
    position.form.is_some_and(|form| {
        let kinds = position.schema.form(form).kinds;
        kinds.has(Kinds::STRING) && kinds.has(Kinds::OBJECT)
    })
}

/// Returns true if the service may omit the value from a read: it is hidden, empty or the default.
pub(crate) fn may_be_absent(position: &Position<'_>, want: &Value) -> bool {
    if position.is_read_only()
        || position.is_hidden()
        || position.is_deprecated()
        || position.is_create_only()
    {
        return true;
    }
    if position.form.and_then(|form| position.schema.default_of(form)) == Some(want) {
        return true;
    }
    match want {
        Value::Null => true,
        Value::Map(map) => map.iter().all(|(name, value)| may_be_absent(&position.key(name), value)),
        Value::List(items) => items.is_empty(),
        _ => false,
    }
}

fn cannot_update(operations: Vec<Operation>, order: ReplaceOrder) -> Update {
    let why = "resources of this type cannot be updated".to_owned();
    let forced_by = operations.into_iter().map(|operation| Reason { path: operation.path, why: why.clone() });
    Update::Replace { forced_by: forced_by.collect(), order }
}

/// Returns the required properties that reads do not return and updates cannot send. They make every update invalid.
fn unsendable(schema: &Schema, want: &Map) -> Vec<Reason> {
    let root = Position::root(schema);
    let required = &schema.form(Schema::ROOT).required;
    let lost = required.iter().filter(|name| want.contains_key(*name)).map(|name| root.key(name));
    lost.filter(|position| position.is_create_only() && position.is_hidden())
        .map(|position| Reason {
            path: position.path,
            why: "every update must send it, reads do not return it, and it can be set at creation only"
                .to_owned(),
        })
        .collect()
}
