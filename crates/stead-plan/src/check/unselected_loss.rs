//! Checks that no unselected resource is deleted together with a selected container.

use std::collections::HashSet;

use stead_model::{Code, CopyRef, Diagnostic, Lifecycle, NextStep, Resource, Uid};

use crate::decide::Planner;
use crate::plan::{Action, Step};

/// Reports each unselected resource whose container the steps delete.
pub(crate) fn unselected_loss(planner: &Planner<'_>, steps: &[Step]) -> Vec<Diagnostic> {
    if planner.selected.is_everything() {
        return Vec::new();
    }
    let (mut deleted, mut planned) = (HashSet::<&Uid>::new(), HashSet::<&CopyRef>::new());
    for step in steps {
        match &step.action {
            Action::Delete { copy, .. } => {
                // The contents of a condemned copy have moved to its successor.
                let live = planner.base.copy(copy).is_some_and(|found| found.lifecycle == Lifecycle::Live);
                deleted.extend(live.then_some(&copy.uid));
                planned.insert(copy);
            }
            Action::Forget { copy, .. } => drop(planned.insert(copy)),
            _ => {}
        }
    }
    let is_lost = |resource: &&Resource| {
        resource.lifecycle == Lifecycle::Live
            && resource.ties.deleted_with.as_ref().is_some_and(|container| deleted.contains(container))
            && !planned.contains(&resource.copy())
    };
    let mut lost: Vec<&Resource> = planner.base.copies().filter(is_lost).collect();
    lost.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    lost.into_iter().map(|resource| problem(planner, resource)).collect()
}

fn problem(planner: &Planner<'_>, resource: &Resource) -> Diagnostic {
    let container = resource.ties.deleted_with.as_ref().and_then(|uid| planner.base.current(uid));
    let container = container.map(|container| container.name.to_string()).unwrap_or_default();
    let message =
        format!("{} would be deleted with its container {container}, but is not selected", resource.name);
    Diagnostic::error(Code::NOT_SELECTED, message)
        .at(resource.source.clone(), 0, "not selected")
        .help("select both resources, or neither")
        .help(NextStep::SelectDependents)
}
