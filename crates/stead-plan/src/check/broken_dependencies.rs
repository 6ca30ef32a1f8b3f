//! Checks that no unselected resource loses a dependency, and that the records of a partial run form no cycle.

use std::collections::HashMap;

use stead_model::{Code, Diagnostic, NextStep, NodeId, Resource, Uid};

use super::cycle::cycle;
use crate::decide::Planner;
use crate::ties;

/// Reports unselected resources that depend on a resource to be deleted, and a cycle among old and new dependencies.
pub(crate) fn broken_dependencies(planner: &Planner<'_>) -> Vec<Diagnostic> {
    if planner.selected.is_everything() {
        return Vec::new();
    }
    let declared: HashMap<&Uid, NodeId> =
        planner.graph.ids().filter_map(|id| Some((&planner.old(id)?.uid, id))).collect();
    let is_deleted = |uid: &Uid| !declared.contains_key(uid) && planner.selected.touches_removed(uid);
    let is_kept = |resource: &&Resource| match declared.get(&resource.uid) {
        Some(id) => !planner.selected.touches(*id),
        None => !planner.selected.touches_removed(&resource.uid),
    };
    let mut problems = Vec::new();
    for kept in planner.base.resources().into_iter().filter(is_kept) {
        if let Some(deleted) = ties::needs(planner.base, kept).find(|need| is_deleted(&need.uid)) {
            let message = format!("{} would be deleted, but {} depends on it", deleted.name, kept.name);
            problems.push(
                Diagnostic::error(Code::NOT_SELECTED, message)
                    .at(kept.source.clone(), 0, "not selected")
                    .help(NextStep::SelectDependents),
            );
        }
    }
    problems.extend(cycle(planner, &declared).map(|cycle| {
        Diagnostic::error(Code::NOT_SELECTED, cycle.to_string())
            .note("Some of these resources are not selected and keep their recorded dependencies.")
            .help("select all of them")
    }));
    problems
}
