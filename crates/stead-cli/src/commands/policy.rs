//! `stead policy explain`: what holds for a resource, and which of all settings decided.

use std::fmt::Write as _;

use serde::Serialize;
use stead_guard::{
    Choice, LevelMarks, Row, Standing, explain_policy, explain_prevention, near_levels, service_of,
};
use stead_model::{
    Code, DeletionPolicy, Diagnostic, Graph, Level, Marks, NodeId, NodeKind, Resource, nearest,
};
use stead_render::Paint;
use stead_state::State;

use crate::commands::state::find;
use crate::evaluate::evaluate;
use crate::failure::{Failure, Kind};
use crate::marks::MarkFlags;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Explanation<'a> {
    name: String,
    service: String,
    prevent_delete: Choice<bool>,
    deletion_policy: Choice<DeletionPolicy>,
    /// What state says, if it is there: the safer of the two holds until a run has recorded the change.
    recorded: Option<&'a Marks>,
    holds: Holds,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Holds {
    prevent_delete: bool,
    deletion_policy: DeletionPolicy,
}

pub(crate) async fn explain(
    session: &Session,
    wanted: &str,
    flags: &MarkFlags,
    ui: &Ui,
) -> Result<u8, Failure> {
    let outer = session.outer(flags);
    let (loaded, evaluated) = tokio::join!(session.load(), evaluate(session, &outer, ui));
    let (state, graph) = (loaded?.state, evaluated?.graph);
    let (name, token, recorded, near) = match declared(&graph, wanted)? {
        Some(id) => {
            let node = &graph.nodes[id.index()];
            let near = near_levels(&graph, id).map_err(|bad| {
                Failure::all(Kind::Failed, bad.iter().map(stead_guard::BadMark::diagnostic).collect())
            })?;
            (node.name.clone(), node.resource.clone(), state.by_name(&node.name), near)
        }
        None => {
            let resource = recorded(&state, &graph, wanted)?;
            (resource.name.clone(), resource.resource.clone(), Some(resource), Vec::new())
        }
    };
    let service = service_of(&token);
    let levels: Vec<&LevelMarks> = near.iter().chain(outer.levels()).collect();
    let prevent_delete = explain_prevention(&levels, &service);
    let deletion_policy = explain_policy(&levels, &service);
    let then = recorded.map(Resource::recorded_marks);
    let retained =
        then.as_ref().is_some_and(Marks::retains) || deletion_policy.value == DeletionPolicy::Retain;
    let holds = Holds {
        prevent_delete: prevent_delete.value || then.as_ref().is_some_and(Marks::prevents_deletion),
        deletion_policy: if retained { DeletionPolicy::Retain } else { DeletionPolicy::Delete },
    };
    let name = name.to_string();
    let explanation =
        Explanation { name, service, prevent_delete, deletion_policy, recorded: then.as_ref(), holds };
    ui.json("policy", &explanation);
    ui.result(&describe(&explanation, ui));
    Ok(0)
}

/// By full name, or by the short one if only one resource has it.
fn declared(graph: &Graph, wanted: &str) -> Result<Option<NodeId>, Failure> {
    let provisioned = || graph.ids().filter(|id| graph.nodes[id.index()].kind == NodeKind::Provisioned);
    let name = |id: &NodeId| &graph.nodes[id.index()].name;
    if let Some(id) = provisioned().find(|id| name(id).to_string() == wanted) {
        return Ok(Some(id));
    }
    let found: Vec<NodeId> = provisioned().filter(|id| name(id).short() == wanted).collect();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        several => {
            let message = format!("{} resources are called {wanted:?}", several.len());
            let problem = Diagnostic::error(Code::NOT_FOUND, message);
            let problem = several.iter().fold(problem, |problem, id| problem.note(name(id).to_string()));
            Err(Failure::new(Kind::Failed, problem.help("use the whole name")))
        }
    }
}

fn recorded<'a>(state: &'a State, graph: &Graph, wanted: &str) -> Result<&'a Resource, Failure> {
    find(state, wanted).map_err(|not_found| {
        let names = graph.nodes.iter().map(|node| node.name.short());
        match nearest(wanted, names) {
            Some(meant) => {
                let problem = Diagnostic::error(Code::NOT_FOUND, format!("there is no resource {wanted:?}"));
                Failure::new(Kind::Failed, problem.help(format!("did you mean {meant:?}?")))
            }
            None => not_found,
        }
    })
}

fn describe(explanation: &Explanation<'_>, ui: &Ui) -> String {
    let style = ui.out_style();
    let Explanation { name, service, prevent_delete, deletion_policy, recorded, holds } = explanation;
    let mut out = format!("{}  service {service}\n", style.paint(Paint::Strong, name));
    let _ =
        writeln!(out, "\nprevent-delete: {}", style.paint(Paint::Strong, &holds.prevent_delete.to_string()));
    prevent_delete.table.iter().for_each(|row| out.push_str(&line(row, &row.value.to_string())));
    if let Some(mark) = recorded.and_then(|marks| marks.prevent_delete.as_ref()) {
        let _ = writeln!(out, "  recorded   {:<7} {}", mark.value, mark.source);
    }
    let _ = writeln!(out, "\ndeletion-policy: {}", style.paint(Paint::Strong, text(holds.deletion_policy)));
    deletion_policy.table.iter().for_each(|row| out.push_str(&line(row, text(row.value))));
    if let Some(mark) = recorded.and_then(|marks| marks.deletion_policy.as_ref()) {
        let _ = writeln!(out, "  recorded   {:<7} {}", text(mark.value), mark.source);
    }
    let then = recorded.map(|marks| (marks.prevents_deletion(), marks.retains())).unwrap_or_default();
    let safer = then.0 && !prevent_delete.value || then.1 && deletion_policy.value == DeletionPolicy::Delete;
    if safer {
        out.push_str("\nWhat is recorded is safer, and holds until `stead up` has recorded the change.\n");
    }
    out
}

fn line<T>(row: &Row<T>, value: &str) -> String {
    let standing = match row.standing {
        Standing::Decides => "decides",
        Standing::Overruled => "overruled",
    };
    let source = match &row.source.level {
        Level::BuiltIn => "built in".to_owned(),
        _ => row.source.to_string(),
    };
    format!("  {standing:<10} {value:<7} {source}\n")
}

fn text(policy: DeletionPolicy) -> &'static str {
    match policy {
        DeletionPolicy::Delete => "delete",
        DeletionPolicy::Retain => "retain",
    }
}
