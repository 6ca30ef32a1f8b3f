//! Recorded resources that a plan deletes, forgets or replaces: the id, and the properties that identify them.

use std::collections::BTreeMap;

use serde::Serialize;
use stead_model::{CopyRef, Generation, Name, PhysicalId, Resource, Uid, Value};
use stead_plan::{Action, Incarnation, Plan, Step, Why};
use stead_schema::identity;

use super::View;
use crate::Detail;

/// Number of properties that describe a resource whose type has no identifying one.
const MAX_PROPERTIES: usize = 3;

/// Record of a resource that a step deletes, forgets or replaces.
#[derive(Serialize)]
pub(super) struct Recorded<'a> {
    name: &'a Name,
    uid: &'a Uid,
    generation: Generation,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a PhysicalId>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<&'a str, &'a Value>,
}

/// The steps that remove the old copies of replaced resources.
pub(super) struct Going<'p>(BTreeMap<&'p Uid, &'p Step>);

impl<'p> Going<'p> {
    pub(super) fn of(plan: &'p Plan) -> Going<'p> {
        let old = |step: &&Step| {
            matches!(
                step.why,
                Why::OldCopy | Why::Retained | Why::RetainedNameConflict | Why::DeletedWithContainer { .. }
            )
        };
        Going(plan.steps.iter().filter(old).filter_map(|step| Some((&gone(step)?.uid, step))).collect())
    }

    /// Returns the old copy of a replaced resource, and its fate.
    pub(super) fn replaced(&self, incarnation: &Incarnation) -> Option<(CopyRef, &'static str)> {
        let Incarnation::Next { uid, generation } = incarnation else { return None };
        let before = CopyRef { uid: uid.clone(), generation: Generation(generation.0.saturating_sub(1)) };
        Some(match self.0.get(uid) {
            None => (before, ""),
            Some(step) => {
                let fate = match (&step.action, &step.why) {
                    (Action::Delete { .. }, _) => ", deleted",
                    (_, Why::Retained) => ", kept, and no longer managed",
                    (_, Why::DeletedWithContainer { .. }) => ", deleted with its container",
                    _ => ", no longer there",
                };
                (gone(step).cloned().unwrap_or(before), fate)
            }
        })
    }
}

/// Returns the copy that a step removes.
fn gone(step: &Step) -> Option<&CopyRef> {
    match &step.action {
        Action::Delete { copy, .. } | Action::Forget { copy, .. } => Some(copy),
        _ => None,
    }
}

pub(super) fn recorded<'a>(plan: &Plan, view: &View<'a>) -> Vec<Recorded<'a>> {
    let all = plan.steps.iter().filter_map(gone).filter_map(|copy| (view.record)(copy));
    let line = |resource: &'a Resource| Recorded {
        name: &resource.name,
        uid: &resource.uid,
        generation: resource.generation,
        id: resource.id.as_ref(),
        properties: telling(resource, view).into_iter().collect(),
    };
    all.map(line).collect()
}

/// Returns the properties that tell which real resource a record is about.
pub(super) fn telling<'a>(resource: &'a Resource, view: &View<'a>) -> Vec<(&'a str, &'a Value)> {
    let all = || resource.inputs.iter().map(|(key, value)| (&**key, value));
    if view.style.detail == Detail::Full {
        return all().collect();
    }
    let named = (view.schema)(&resource.ty).map(identity).unwrap_or_default();
    let same_as_id = |value: &Value| {
        value.as_str().is_some_and(|text| resource.id.as_ref().is_some_and(|id| id.as_str() == text))
    };
    let identifying: Vec<_> = all().filter(|(key, _)| named.contains(key)).collect();
    if !identifying.is_empty() {
        return identifying.into_iter().filter(|(_, value)| !same_as_id(value)).collect();
    }
    let plain = |value: &Value| value.as_list().is_none() && value.as_map().is_none() && !same_as_id(value);
    all().filter(|(_, value)| plain(value)).take(MAX_PROPERTIES).collect()
}
