//! Explanation of prevent-delete and deletion-policy of a resource: all settings, and the deciding one.

use serde::Serialize;
use stead_engine::ops::{Declares, OpError, Workspace, find};
use stead_guard::{
    BadMark, LevelMarks, OuterLevels, ResolvedMark, explain_policy, explain_prevention, near_levels,
    service_of,
};
use stead_model::{
    Code, DeletionPolicy, Diagnostic, Graph, Marks, Name, NodeId, NodeKind, Resource, TypeToken, nearest,
};
use stead_state::State;

/// Mark settings of one resource on all levels, and the deciding ones.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MarkExplanation {
    pub name: String,
    pub service: String,
    pub prevent_delete: ResolvedMark<bool>,
    pub deletion_policy: ResolvedMark<DeletionPolicy>,
    /// Marks in state. The safer one of recorded and declared mark holds until a run records the change.
    pub recorded: Option<Marks>,
    pub holds: MarksInForce,
}

/// Marks of a resource that hold now.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MarksInForce {
    pub prevent_delete: bool,
    pub deletion_policy: DeletionPolicy,
}

/// Explains the marks of a declared or recorded resource. Writes nothing.
pub async fn explain_marks(
    workspace: &Workspace,
    program: &dyn Declares,
    levels: &OuterLevels,
    wanted: &str,
) -> Result<MarkExplanation, OpError> {
    let (loaded, declared) = tokio::join!(workspace.load(), program.declare());
    let (state, graph) = (loaded?.state, declared?.graph);
    let (name, token, recorded, near) = subject(&state, &graph, wanted)?;
    let service = service_of(&token);
    let all: Vec<&LevelMarks> = near.iter().chain(levels.levels()).collect();
    let prevent_delete = explain_prevention(&all, &service);
    let deletion_policy = explain_policy(&all, &service);
    let then = recorded.map(Resource::recorded_marks);
    let retained =
        then.as_ref().is_some_and(Marks::retains) || deletion_policy.value == DeletionPolicy::Retain;
    let holds = MarksInForce {
        prevent_delete: prevent_delete.value || then.as_ref().is_some_and(Marks::prevents_deletion),
        deletion_policy: if retained { DeletionPolicy::Retain } else { DeletionPolicy::Delete },
    };
    let name = name.to_string();
    Ok(MarkExplanation { name, service, prevent_delete, deletion_policy, recorded: then, holds })
}

type Subject<'a> = (Name, TypeToken, Option<&'a Resource>, Vec<LevelMarks>);

fn subject<'a>(state: &'a State, graph: &Graph, wanted: &str) -> Result<Subject<'a>, OpError> {
    match declared(graph, wanted)? {
        Some(id) => {
            let node = &graph.nodes[id.index()];
            let near = near_levels(graph, id)
                .map_err(|bad| OpError::Program(bad.iter().map(BadMark::diagnostic).collect()))?;
            Ok((node.name.clone(), node.ty.clone(), state.by_name(&node.name), near))
        }
        None => {
            let resource = recorded(state, graph, wanted)?;
            Ok((resource.name.clone(), resource.ty.clone(), Some(resource), Vec::new()))
        }
    }
}

/// Returns the declared resource with this full name, or the only one with this short name.
fn declared(graph: &Graph, wanted: &str) -> Result<Option<NodeId>, OpError> {
    let provisioned = || graph.ids().filter(|id| graph.nodes[id.index()].kind == NodeKind::Provisioned);
    let name = |id: &NodeId| &graph.nodes[id.index()].name;
    if let Some(id) = provisioned().find(|id| name(id).to_string() == wanted) {
        return Ok(Some(id));
    }
    let own = graph.nodes.first().map(|node| node.name.environment());
    let readings = own.and_then(|own| Name::readings_in(wanted, own).ok()).unwrap_or_default();
    let called = |name: &Name| name.short() == wanted || readings.contains(name);
    let found: Vec<NodeId> = provisioned().filter(|id| called(name(id))).collect();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        several => {
            let message = format!("{} resources are called {wanted:?}", several.len());
            let problem = Diagnostic::error(Code::NOT_FOUND, message);
            let problem = several.iter().fold(problem, |problem, id| problem.note(name(id).to_string()));
            Err(OpError::not_found(problem.help("use the whole name")))
        }
    }
}

fn recorded<'a>(state: &'a State, graph: &Graph, wanted: &str) -> Result<&'a Resource, OpError> {
    find(state, wanted).map_err(|not_found| {
        let names = graph.nodes.iter().map(|node| node.name.short());
        match nearest(wanted, names) {
            Some(meant) => {
                let problem = Diagnostic::error(Code::NOT_FOUND, format!("there is no resource {wanted:?}"));
                OpError::not_found(problem.help(format!("did you mean {meant:?}?")))
            }
            None => not_found,
        }
    })
}
