//! Drift: values of a live resource that are neither as desired nor as they were after the last apply.
//!
//! The comparison finds the paths; this file makes the values to record. **Invariants:** the kind of update that a difference
//! needs hides none; an element or a member that was never declared is not recorded as declared, or the next update would remove it.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::{Map, PropertyPath, Value};

use super::keyed::pairs_by_key;
use super::lists::{Parts, foreign_by_key, parts, rewritten, satisfies};
use super::pairing::pairs;
use super::patch::{Comparison, UpdateInputs, is_document, may_be_absent, redacted_at};
use super::position::Position;
use super::repair::value_at;
use super::unions::replaced_arms;
use super::{LastApplied, Schema};

/// A desired value that is live with another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    pub path: PropertyPath,
    /// The live value, with the elements and members that are desired; `None` if the value is gone.
    pub live: Option<Value>,
}

/// Returns the paths at which the live resource is not as desired, whatever update that needs.
pub fn differences(schema: &Schema, inputs: &UpdateInputs<'_>) -> BTreeSet<PropertyPath> {
    let wanted = LastApplied::of(schema, inputs.key, inputs.want);
    paths(&Comparison::of(schema, inputs, &wanted))
}

/// Returns the desired values that changed outside of stead: they are live neither as desired nor as they were settled.
///
/// Includes the live arm of a union that replaced the desired one. Without a settled side every difference counts, except for
/// values that can be set at creation only, which do not change afterwards.
pub fn drift(schema: &Schema, inputs: &UpdateInputs<'_>) -> Vec<Drift> {
    let wanted = LastApplied::of(schema, inputs.key, inputs.want);
    let comparison = Comparison::of(schema, inputs, &wanted);
    let paths = paths(&comparison);
    let observer = Observer { comparison: &comparison };
    paths.into_iter().filter_map(|path| observer.at(schema, inputs, path)).collect()
}

fn paths(comparison: &Comparison<'_>) -> BTreeSet<PropertyPath> {
    let sent = comparison.operations.iter().map(|operation| &operation.path);
    let other = comparison.replace.iter().chain(&comparison.impossible).map(|reason| &reason.path);
    sent.chain(other).cloned().collect()
}

/// Converts live values into inputs that would have led to them.
struct Observer<'c, 'a> {
    comparison: &'c Comparison<'a>,
}

impl Observer<'_, '_> {
    fn at(&self, schema: &Schema, inputs: &UpdateInputs<'_>, path: PropertyPath) -> Option<Drift> {
        let position = Position::at(schema, &path);
        let of = |model: &'_ Map| value_at(model, &path).filter(|value| **value != Value::Null).cloned();
        let (last, live, want) = (of(&inputs.last.inputs), of(inputs.live), of(inputs.want));
        if position.is_hidden() || self.comparison.is_settled(&position, live.as_ref()) {
            return None;
        }
        let live = match (want, live) {
            (None, _) if last.is_some() => return None,
            (None, live) => live.and_then(|live| position.settable(&live)),
            (Some(want), None) => absent(&position, &want),
            (Some(Value::List(want)), Some(Value::List(live))) => {
                let last = last.as_ref().and_then(Value::as_list);
                let Parts { ours, keyed, .. } = parts(self.comparison, &position, last, &live, &want);
                let rewritten = rewritten(self.comparison, &position, last.unwrap_or_default(), &ours);
                let asked = redacted_at(self.comparison.wanted, &position).and_then(Value::as_list);
                let explained = |index: usize, at: usize| {
                    let asked = asked.and_then(|asked| asked.get(index));
                    rewritten.iter().any(|(last, shown)| Some(*last) == asked && *shown == at)
                };
                Some(Value::from(self.elements(&position, (&want, &ours), keyed, &explained)))
            }
            (Some(want), Some(live)) => self.value(&position, &want, &live),
        };
        Some(Drift { path, live })
    }

    fn value(&self, position: &Position<'_>, want: &Value, live: &Value) -> Option<Value> {
        let unchangeable = position.is_create_only() && !self.comparison.has_settled();
        if unchangeable || satisfies(position, want, live) {
            return Some(want.clone());
        }
        match (want, live) {
            (Value::Map(want), Value::Map(live)) if !is_document(position) => {
                Some(Value::Map(self.object(position, want, live)))
            }
            (Value::List(want), Value::List(live)) => {
                let foreign = foreign_by_key(position, want, live, &[]);
                let keyed = foreign.is_some();
                let foreign = foreign.unwrap_or_default();
                let ours = live.iter().enumerate().filter(|(at, _)| !foreign.contains(at));
                let ours: Vec<Value> = ours.map(|(_, item)| item.clone()).collect();
                Some(Value::from(self.elements(position, (want, &ours), keyed, &|_, _| false)))
            }
            _ => position.settable(live),
        }
    }

    /// Returns the desired members as they are live, and the arm of a union in the place of the desired one.
    fn object(&self, position: &Position<'_>, want: &Map, live: &Map) -> Map {
        let mut out = Map::new();
        for (name, want) in want {
            let inside = position.key(name);
            let value = match live.get(name).filter(|value| **value != Value::Null) {
                Some(live) => self.value(&inside, want, live),
                None => absent(&inside, want),
            };
            out.extend(value.map(|value| (name.clone(), value)));
        }
        for name in replaced_arms(position, want, live, &|_| false) {
            let arm = live.get(&name).and_then(|live| position.key(&name).settable(live));
            out.extend(arm.map(|arm| (name, arm)));
        }
        out
    }

    /// Returns the live elements, a desired one with the desired members only. An element that satisfies the desired
    /// one, or that the service made of it, is recorded as it is desired.
    fn elements(
        &self,
        position: &Position<'_>,
        (want, live): (&[Value], &[Value]),
        keyed: bool,
        explained: &dyn Fn(usize, usize) -> bool,
    ) -> Vec<Value> {
        let by_key = if keyed { pairs_by_key(position, want, live) } else { None };
        let any_order = by_key.is_some() || position.is_unordered();
        let pairs = by_key.unwrap_or_else(|| pairs(position, want, live, explained));
        let paired = |index: usize, at: usize| match explained(index, at) {
            true => Some(want[index].clone()),
            false => self.value(&position.index(index), &want[index], &live[at]),
        };
        let new = |at: usize| position.index(at).settable(&live[at]);
        let kept = pairs.iter().enumerate().filter_map(|(index, pair)| Some(((*pair)?, index)));
        let kept: BTreeMap<usize, usize> = kept.collect();
        if any_order {
            let ours = pairs.iter().enumerate().filter_map(|(index, pair)| paired(index, (*pair)?));
            let others = (0..live.len()).filter(|at| !kept.contains_key(at)).filter_map(new);
            return ours.chain(others).collect();
        }
        let element = |at: usize| kept.get(&at).map_or_else(|| new(at), |index| paired(*index, at));
        (0..live.len()).filter_map(element).collect()
    }
}

/// Returns the part of a desired value that a read may lack although it is in effect.
fn absent(position: &Position<'_>, want: &Value) -> Option<Value> {
    if may_be_absent(position, want) {
        return Some(want.clone());
    }
    let Value::Map(want) = want else { return None };
    let kept: Map = want
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), absent(&position.key(name), value)?)))
        .collect();
    (!kept.is_empty()).then_some(Value::Map(kept))
}
