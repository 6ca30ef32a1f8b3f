//! What is not selected keeps its recorded state exactly: it may not go with something that is.

use std::collections::HashSet;

use stead_model::{Code, CopyRef, Diagnostic, Lifecycle, Resource, Uid};

use crate::plan::{Action, Step};
use crate::planner::Planner;

/// Everything that would be gone with what the steps delete although nobody chose it.
pub(crate) fn dragged_along(planner: &Planner<'_>, steps: &[Step]) -> Vec<Diagnostic> {
    if planner.selected.is_everything() {
        return Vec::new();
    }
    let (mut deleted, mut handled) = (HashSet::<&Uid>::new(), HashSet::<&CopyRef>::new());
    for step in steps {
        match &step.action {
            Action::Delete { copy, .. } => {
                // An old copy left over holds nothing any more.
                let live = planner.base.copy(copy).is_some_and(|found| found.lifecycle == Lifecycle::Live);
                deleted.extend(live.then_some(&copy.uid));
                handled.insert(copy);
            }
            Action::Forget { copy, .. } => drop(handled.insert(copy)),
            _ => {}
        }
    }
    let goes = |resource: &&Resource| {
        resource.lifecycle == Lifecycle::Live
            && resource.ties.deleted_with.as_ref().is_some_and(|container| deleted.contains(container))
            && !handled.contains(&resource.copy())
    };
    let mut going: Vec<&Resource> = planner.base.copies().filter(goes).collect();
    going.sort_by(|a, b| a.place().cmp(&b.place()));
    going.into_iter().map(|resource| problem(planner, resource)).collect()
}

fn problem(planner: &Planner<'_>, resource: &Resource) -> Diagnostic {
    let container = resource.ties.deleted_with.as_ref().and_then(|uid| planner.base.current(uid));
    let with = container.map(|container| container.name.to_string()).unwrap_or_default();
    let message = format!("{} would be gone with {with}, and is not selected", resource.name);
    Diagnostic::error(Code::NOT_SELECTED, message)
        .at(resource.source.clone(), 0, "not selected")
        .help("select both, or neither: `--with-dependents` takes along what depends on a target")
}
