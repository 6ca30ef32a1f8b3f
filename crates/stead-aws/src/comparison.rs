//! Comparisons of inputs last applied, the live resource and desired inputs.
//!
//! The outputs of a record are the whole model as it was read back after the last operation or refresh. The
//! comparison with them tells a value that the service rewrote from a change that was made outside.

use std::collections::BTreeSet;

use stead_model::{Inputs, Map, PropertyPath, Value};
use stead_provider::Diff;
use stead_schema::cfn::{
    self, Class, DigestKey, LastApplied, Operation, Schema, Settled, Update, UpdateInputs, pointer,
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
    cfn::patch(schema, &UpdateInputs { last: &last, settled, live: sides.live, want: sides.want, key: &key })
}

/// Returns the inputs that describe the live resource: the recorded inputs, with the changes made outside since.
pub(crate) fn inputs_of_live(schema: &Schema, recorded: &Map, settled: &Map, live: &Map) -> Map {
    let sides = Sides { last: recorded, settled, live, want: recorded };
    let mut inputs = recorded.clone();
    if let Update::Patch { operations, .. } = update(schema, &sides) {
        for Operation { path, .. } in &operations {
            if is_drift(schema, path, settled, live) && at(recorded, path).is_some() {
                set(&mut inputs, &path.0, at(live, path));
            }
        }
    }
    inputs
}

/// Returns the inputs that describe a live resource whose create an earlier run sent, and that is read for the first time.
///
/// Every difference counts as a change from outside. If the service made it, one more update tells. A value that is fixed at the
/// creation cannot be changed outside, so that its difference is the service's own.
pub(crate) fn inputs_first_read(schema: &Schema, sent: &Map, live: &Map) -> Map {
    let fixed = schema.classes.of(Class::CreateOnly);
    let all = stead_schema::flatten(&Value::Map(sent.clone())).into_keys();
    let fixed: Vec<PropertyPath> = all.filter(|path| fixed.covers(path)).collect();
    let mut assumed = sent.clone();
    fixed.iter().for_each(|path| set(&mut assumed, &path.0, at(live, path)));
    let mut inputs = inputs_of_live(schema, &assumed, &Map::new(), live);
    fixed.iter().for_each(|path| set(&mut inputs, &path.0, at(sent, path)));
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
            let problem = |reason: cfn::Reason| Problem {
                message: format!("{} cannot be updated: `{}`: {}", schema.type_name, reason.path, reason.why),
                path: reason.path,
                help: Some("replace the resource instead, with the option `replaceOnChanges`".to_owned()),
            };
            (Vec::new(), Vec::new(), reasons.into_iter().map(problem).collect())
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

/// Returns true if one path is the other, or leads to it.
fn meet(a: &PropertyPath, b: &PropertyPath) -> bool {
    a.0.iter().zip(&b.0).all(|(a, b)| a == b)
}
