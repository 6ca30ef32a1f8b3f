//! Comparison of four sides: computes an update from the inputs last applied, the live resource after that, the live
//! resource now and the desired inputs.
//!
//! Objects are compared leaf by leaf, lists as a whole. Properties that were never declared are left alone. Hidden
//! properties (those that a read never returns) are sent with every update, but cause one only if they changed.

use std::collections::BTreeSet;

use stead_model::{Map, PropertyPath, Text, Value};

use super::equivalence::{equivalent, is_ambiguous};
use super::lists::{ListChange, drops_member, foreign_by_key, satisfies};
use super::position::Position;
use super::repair::repaired;
use super::settled::fingerprint;
use super::unions::replaced_arms;
use super::update::{Edit, Operation, Reason, Update};
use super::{Class, DigestKey, Kinds, LastApplied, Rest, Schema, Settled};
use crate::ReplaceOrder;

/// Sides of a comparison.
pub struct UpdateInputs<'a> {
    pub last: &'a LastApplied,
    /// The live resource as it was read back after the last apply. Without it, a value that the service rewrote counts as
    /// changed outside of stead.
    pub settled: Option<&'a Settled>,
    /// Model that the service returns now.
    pub live: &'a Map,
    pub want: &'a Map,
    pub key: &'a DigestKey,
}

/// Computes the update that makes the live resource match the desired inputs.
pub fn patch(schema: &Schema, inputs: &UpdateInputs<'_>) -> Update {
    let wanted = LastApplied::of(schema, inputs.key, inputs.want);
    Comparison::of(schema, inputs, &wanted).finish(schema, inputs)
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
    /// Changed values that no update can send.
    pub(crate) impossible: Vec<Reason>,
    /// Hidden values that are no longer declared.
    dropped: Vec<PropertyPath>,
    settled: Option<&'a Settled>,
    key: &'a DigestKey,
}

impl<'a> Comparison<'a> {
    /// Compares all sides. `wanted` has the desired inputs without hidden values.
    pub(crate) fn of(schema: &Schema, inputs: &UpdateInputs<'a>, wanted: &'a LastApplied) -> Comparison<'a> {
        let mut comparison = Comparison {
            last: inputs.last,
            wanted,
            operations: Vec::new(),
            resend: Vec::new(),
            replace: Vec::new(),
            impossible: Vec::new(),
            dropped: Vec::new(),
            settled: inputs.settled,
            key: inputs.key,
        };
        comparison.object(&Position::root(schema), Some(&inputs.last.inputs), inputs.live, inputs.want);
        comparison
    }

    /// Returns true if the state of the resource after the last apply is known.
    pub(crate) fn has_settled(&self) -> bool {
        self.settled.is_some()
    }

    /// Returns true if a value is live as it was after the last apply.
    pub(crate) fn is_settled(&self, position: &Position<'_>, live: Option<&Value>) -> bool {
        let now = || live.and_then(|live| fingerprint(position, self.key, live));
        self.settled.is_some_and(|settled| settled.at(&position.path) == now().as_ref())
    }

    /// Returns the fingerprints of a list's elements after the last apply.
    pub(crate) fn settled_elements(&self, position: &Position<'_>) -> Option<&'a [Value]> {
        self.settled?.at(&position.path)?.as_list()
    }

    /// Returns, for each live element of a list, whether it was there after the last apply.
    pub(crate) fn unchanged_elements(&self, position: &Position<'_>, live: &[Value]) -> Vec<bool> {
        let settled = self.settled_elements(position).unwrap_or_default();
        let element = position.index(0);
        let now = live.iter().map(|item| fingerprint(&element, self.key, item).unwrap_or_default());
        now.map(|now| settled.contains(&now)).collect()
    }

    /// Returns true if the declared value here is the one last applied.
    fn is_asked_again(&self, position: &Position<'_>, last: Option<&Value>) -> bool {
        last.is_some_and(|last| Some(last) == redacted_at(self.wanted, position))
            && !(position.contains_hidden() && self.hidden_changed(&position.path))
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
        let settled =
            |name: &str| self.settled.is_some_and(|settled| settled.at(&position.path.key(name)).is_some());
        let owned = |name: &Text| last.is_some_and(|last| last.contains_key(name));
        let arms = replaced_arms(position, want, live, &settled);
        for name in arms.into_iter().filter(|name| !owned(name)) {
            self.remove(&position.key(&name), "another member of the same union is declared");
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
            return self.hidden(position, live, want);
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
            _ if self.is_asked_again(position, last) && self.is_settled(position, Some(live)) => {}
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

    fn remove(&mut self, position: &Position<'_>, why: &str) {
        self.operations.push(Operation {
            path: position.path.clone(),
            edit: Edit::Remove,
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
                    satisfies(position, want, live) && !is_ambiguous(position, last, live, want)
                });
                let asked = last
                    .is_some_and(|last| *last == redacted_at(self.wanted, position).unwrap_or(want).clone());
                let drops = !asked
                    && last.zip(live).is_some_and(|(last, live)| drops_member(position, want, last, live));
                let drifted = self.settled.is_some() && live.is_some() && !self.is_settled(position, live);
                if drops {
                    self.force_replacement(
                        position,
                        "a part of it was set at creation and cannot be removed",
                    );
                } else if !there && (!asked || drifted) {
                    self.force_replacement(position, "it can be set at creation only");
                }
            }
            None if last.is_some() => {
                self.force_replacement(position, "it was set at creation and cannot be removed")
            }
            None => {}
        }
    }

    fn hidden(&mut self, position: &Position<'_>, live: Option<&Value>, want: Option<&Value>) {
        match want {
            // Some services return a hidden value after all; then an update that does not send it keeps it.
            None if live.is_some() && !self.last.under(&position.path).is_empty() => {
                self.remove(position, "it is no longer declared");
            }
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
        let quiet = asked && (may_be_absent(position, want) || self.is_settled(position, None));
        if changed || !quiet {
            let why = if asked { "it was removed outside of stead" } else { "it is newly declared" };
            self.add(position, value, why);
        } else if !self.wanted.under(&position.path).is_empty() {
            self.resend_hidden(position, value);
        }
    }

    /// Handles a live value that is no longer declared. Removes only members that were declared.
    fn remove_undeclared(&mut self, position: &Position<'_>, last: &Value, live: &Value) {
        self.drop_hidden(position);
        match (last, live) {
            (Value::Map(last), Value::Map(shown)) => {
                let unknown = |name: &Text| !last.contains_key(name);
                let foreign = is_free_map(position)
                    && shown.iter().any(|(name, value)| *value != Value::Null && unknown(name));
                if (foreign || position.contains_fixed())
                    && !self.removal_breaks_object(position, last, shown)
                {
                    return self.object(position, Some(last), shown, &Map::new());
                }
            }
            (Value::List(last), Value::List(shown)) => {
                let foreign = foreign_by_key(position, last, shown, &[]).unwrap_or_default();
                if !foreign.is_empty() {
                    let others: Vec<Value> = foreign.into_iter().map(|at| shown[at].clone()).collect();
                    let why = "its declared elements are no longer declared";
                    return self.add(position, Value::from(others), why);
                }
            }
            _ => {}
        }
        self.remove(position, "it is no longer declared");
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
        if !self.impossible.is_empty() {
            return Update::Impossible(self.impossible);
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
        match repaired(schema, inputs, operations) {
            Ok(operations) => Update::Patch { operations, conditional },
            Err(reasons) => Update::Impossible(reasons),
        }
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
pub(crate) fn is_document(position: &Position<'_>) -> bool {
    position.form.is_some_and(|form| {
        let kinds = position.schema.form(form).kinds;
        kinds.has(Kinds::STRING) && kinds.has(Kinds::OBJECT)
    })
}

/// Returns true for an object whose members are named by its users, such as labels.
fn is_free_map(position: &Position<'_>) -> bool {
    position.form.is_none_or(|form| {
        let form = position.schema.form(form);
        form.properties.is_empty() && form.rest != Rest::Closed
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
        // An empty object is often a marker, such as `{ "Block": {} }`. Only without entries is a map the same as none.
        Value::Map(map) if map.is_empty() => position.form.is_some_and(|form| {
            let form = position.schema.form(form);
            form.properties.is_empty() && matches!(form.rest, Rest::Of(_))
        }),
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
