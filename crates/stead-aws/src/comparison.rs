//! Comparisons of inputs last applied, the live resource and desired inputs.
//!
//! The outputs of a record are the whole model as it was read back after the last operation or refresh. The
//! comparison with them tells a value that the service rewrote from a change that was made outside.

use std::collections::BTreeSet;

use stead_model::{Inputs, Map, PropertyPath, Text, Value};
use stead_provider::Diff;
use stead_schema::cfn::{
    self, Class, DigestKey, Drift, LastApplied, Operation, Schema, Settled, Update, UpdateInputs, pointer,
};
use stead_schema::{Change, Problem, TypeSchema};

use crate::model::{at, set};

/// Four sides of one resource.
pub(crate) struct Sides<'a> {
    /// Inputs last applied.
    pub(crate) last: &'a Map,
    /// Model as it was read after the last operation.
    pub(crate) settled: &'a Map,
    /// Model as it is now.
    pub(crate) live: &'a Map,
    pub(crate) want: &'a Map,
}

/// Returns the update that makes the live resource match the desired inputs.
pub(crate) fn update(schema: &Schema, sides: &Sides<'_>) -> Update {
    compared(schema, sides, |inputs| cfn::patch(schema, inputs))
}

/// Calls a comparison with the sides in the form that the schema's functions take.
fn compared<T>(schema: &Schema, sides: &Sides<'_>, compare: impl FnOnce(&UpdateInputs<'_>) -> T) -> T {
    // Digests of hidden values do not leave this call, so that any key will do.
    let key = DigestKey::new([0; 32]);
    let mut last = LastApplied::of(schema, &key, sides.last);
    let want = LastApplied::of(schema, &key, sides.want);
    // A record keeps no hidden value. One that can be set at creation only is unchanged, or the plan would replace the resource.
    let fixed = schema.classes.of(Class::CreateOnly);
    for (path, _) in stead_schema::flatten(&Value::Map(sides.want.clone())) {
        let at = pointer(&path);
        if fixed.covers(&path)
            && !last.hidden.contains_key(&at)
            && let Some(digest) = want.hidden.get(&at)
        {
            last.hidden.insert(at, digest.clone());
        }
    }
    let settled = Settled::of(schema, &key, sides.last, sides.settled);
    let settled = Some(&settled).filter(|_| !sides.settled.is_empty());
    compare(&UpdateInputs { last: &last, settled, live: sides.live, want: sides.want, key: &key })
}

/// Returns the desired inputs, with the changes made outside since the live resource was read as `settled`.
fn inputs_with_drift(schema: &Schema, sides: &Sides<'_>) -> Map {
    let mut inputs = sides.want.clone();
    for Drift { path, live } in compared(schema, sides, |inputs| cfn::drift(schema, inputs)) {
        set(&mut inputs, &path.0, live.as_ref());
    }
    inputs
}

/// Returns the inputs that describe the live resource: the recorded inputs, with the changes made outside since.
pub(crate) fn inputs_of_live(schema: &Schema, recorded: &Map, settled: &Map, live: &Map) -> Map {
    inputs_with_drift(schema, &Sides { last: recorded, settled, live, want: recorded })
}

/// Returns the inputs that describe a live resource whose create an earlier run sent, and that is read for the first time.
///
/// Every difference counts as a change from outside. If the service made it, one more update tells. A value that is fixed at the
/// creation cannot be changed outside, so that its difference is the service's own. All values of a type without updates are fixed.
pub(crate) fn inputs_first_read(schema: &Schema, sent: &Map, live: &Map) -> Map {
    match schema.handlers.update {
        Some(_) => inputs_half_made(schema, sent, live),
        None => sent.clone(),
    }
}

/// Returns the inputs that a create carried out before it failed half-way.
pub(crate) fn inputs_half_made(schema: &Schema, sent: &Map, live: &Map) -> Map {
    inputs_of_live(schema, sent, &Map::new(), live)
}

/// Returns the inputs that describe a resource after an update that may have been changed since.
///
/// A value that is neither as sent nor as it was before the update counts as a change from outside.
pub(crate) fn inputs_after_update(
    schema: &Schema,
    (old, sent): (&Map, &Map),
    settled: &Map,
    live: &Map,
) -> Map {
    inputs_with_drift(schema, &Sides { last: old, settled, live, want: sent })
}

/// Returns the inputs that describe a resource after an update that failed.
///
/// A property that the update carried out is recorded as it was sent, so that its new elements do not count as foreign.
/// Reads do not tell that of hidden values.
pub(crate) fn inputs_after_failure(
    schema: &Schema,
    (old, sent): (&Map, &Map),
    settled: &Map,
    live: &Map,
) -> Map {
    let mut inputs = inputs_of_live(schema, old, settled, live);
    let sides = Sides { last: old, settled, live, want: sent };
    let missing = compared(schema, &sides, |inputs| cfn::differences(schema, inputs));
    let names: BTreeSet<&Text> = old.keys().chain(sent.keys()).collect();
    for name in names {
        let is_missing = missing.iter().any(|path| path.root() == Some(name));
        if is_missing || schema.classes.hidden().key(name).reaches() {
            continue;
        }
        match sent.get(name) {
            Some(value) => drop(inputs.insert(name.clone(), value.clone())),
            None => drop(inputs.remove(name)),
        }
    }
    inputs
}

/// Returns the paths of a patch whose values were changed outside since the record was made.
pub(crate) fn drift(
    schema: &Schema,
    operations: &[Operation],
    settled: &Map,
    live: &Map,
) -> Vec<PropertyPath> {
    let drifted = operations.iter().filter(|operation| is_drift(schema, &operation.path, settled, live));
    drifted.map(|operation| operation.path.clone()).collect()
}

fn is_drift(schema: &Schema, path: &PropertyPath, settled: &Map, live: &Map) -> bool {
    let mut cursor = schema.classes.hidden();
    path.0.iter().for_each(|segment| cursor = cursor.segment(segment));
    !cursor.is_covered() && at(settled, path) != at(live, path)
}

/// Returns the difference between a record and new inputs, for the plan.
pub(crate) fn diff(ty: &TypeSchema, schema: &Schema, old: (&Map, &Map), inputs: &Inputs) -> Diff {
    let (recorded, outputs) = old;
    let order = schema.replacement.unwrap_or_default();
    let all = stead_schema::diff(ty, recorded, inputs);
    if all.is_empty() {
        return Diff { order, ..Diff::default() };
    }
    // Properties with deferred parts count as changed; the rest is compared by the rules of the schema.
    let (mut want, mut deferred) = (Map::new(), BTreeSet::new());
    for (name, input) in inputs {
        match input.as_known() {
            Some(value) => drop(want.insert(name.clone(), value.clone())),
            None => {
                deferred.insert(name.as_str());
                want.extend(recorded.get(name).map(|value| (name.clone(), value.clone())));
            }
        }
    }
    let sides = Sides { last: recorded, settled: outputs, live: outputs, want: &want };
    let mut tried = Vec::new();
    let (changed, forced, problems) = match update(schema, &sides) {
        Update::Nothing => (Vec::new(), Vec::new(), Vec::new()),
        Update::Patch { operations, conditional } => {
            tried = conditional;
            (operations.into_iter().map(|operation| operation.path).collect(), Vec::new(), Vec::new())
        }
        Update::Replace { forced_by, .. } => {
            let forced: Vec<PropertyPath> = forced_by.into_iter().map(|reason| reason.path).collect();
            // Every change is carried out by the replacement, so that none of them is filtered.
            (all.iter().map(|change| change.path.clone()).collect(), forced, Vec::new())
        }
        Update::Impossible(reasons) => {
            let changed = compared(schema, &sides, |inputs| cfn::differences(schema, inputs));
            let problems = reasons.into_iter().map(|reason| impossible(schema, reason, &changed)).collect();
            (changed.into_iter().collect(), Vec::new(), problems)
        }
    };
    let fixed = schema.classes.of(Class::CreateOnly);
    let is_deferred = |path: &PropertyPath| path.root().is_some_and(|root| deferred.contains(root));
    let keep =
        |change: &Change| is_deferred(&change.path) || changed.iter().any(|path| meet(path, &change.path));
    let mut changes: Vec<Change> = all.into_iter().filter(keep).collect();
    let conditional = schema.classes.of(Class::ConditionalCreateOnly);
    for change in &mut changes {
        change.replaces = match is_deferred(&change.path) {
            true => fixed.covers(&change.path) || schema.handlers.update.is_none(),
            false => forced.iter().any(|path| meet(path, &change.path)),
        };
        change.tried_in_place = !change.replaces
            && match is_deferred(&change.path) {
                true => conditional.covers(&change.path),
                false => tried.iter().any(|path| meet(path, &change.path)),
            };
        change.replaces |= change.tried_in_place;
    }
    Diff { changes, order, problems }
}

/// Returns the problem of a change that no update can make.
fn impossible(schema: &Schema, reason: cfn::Reason, changed: &BTreeSet<PropertyPath>) -> Problem {
    let changed: Vec<String> = changed.iter().map(|path| format!("`{path}`")).collect();
    let help = format!(
        "to replace the resource instead, name {} in its option `replaceOnChanges`",
        changed.join(" or ")
    );
    Problem {
        message: format!("{} cannot be updated: `{}`: {}", schema.type_name, reason.path, reason.why),
        path: reason.path,
        help: Some(help),
    }
}

/// Returns true if one path is the other, or leads to it.
fn meet(a: &PropertyPath, b: &PropertyPath) -> bool {
    a.0.iter().zip(&b.0).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests;
