//! Replacements that the request asks for by name.

use std::collections::BTreeSet;

use stead_model::{Code, Diagnostic, Graph, Hint, Name, NextStep, NodeId, NodeKind, nearest};

use crate::correlate::Correlation;
use crate::request::Request;
use crate::select::Selected;

/// Returns the nodes to replace, each named by its declared or recorded name, or by an id that only one resource has.
///
/// A name without a recorded, selected resource is an error: the person expects a replacement.
pub(super) fn requested(
    graph: &Graph,
    correlation: &Correlation<'_>,
    selected: &Selected,
    request: &Request,
) -> Result<BTreeSet<NodeId>, Vec<Diagnostic>> {
    let mut found = BTreeSet::new();
    let mut problems = Vec::new();
    for wanted in &request.replace {
        match one(graph, correlation, selected, wanted) {
            Ok(id) => drop(found.insert(id)),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn one(
    graph: &Graph,
    correlation: &Correlation<'_>,
    selected: &Selected,
    wanted: &str,
) -> Result<NodeId, Diagnostic> {
    let provisioned = || graph.ids().filter(|id| graph.nodes[id.index()].kind == NodeKind::Provisioned);
    let names = |id: NodeId| {
        let recorded = correlation.matched[id.index()].map(|old| &old.name);
        std::iter::once(&graph.nodes[id.index()].name).chain(recorded)
    };
    let whole = provisioned().find(|id| names(*id).any(|name| name.to_string() == wanted));
    let own = graph.nodes.first().map(|node| node.name.environment());
    let readings = own.and_then(|own| Name::readings_in(wanted, own).ok()).unwrap_or_default();
    let called = |name: &Name| name.short() == wanted || readings.contains(name);
    let by_id = || provisioned().filter(|id| names(*id).any(called)).collect();
    let found: Vec<NodeId> = whole.map_or_else(by_id, |id| vec![id]);
    let not_found =
        |message: String| Diagnostic::error(Code::NOT_FOUND, message).note("Nothing was changed.");
    match found.as_slice() {
        [] => {
            let problem = not_found(format!("cannot replace {wanted:?}: the program does not declare it"));
            let known: Vec<&str> = provisioned().map(|id| graph.nodes[id.index()].name.short()).collect();
            Err(match nearest(wanted, known) {
                Some(meant) => problem.help(format!("did you mean {meant:?}?")),
                None => problem.help(Hint::from(NextStep::ShowGraph).and(" lists the declared resources")),
            })
        }
        [id] => {
            let node = &graph.nodes[id.index()];
            if correlation.matched[id.index()].is_none() {
                let problem = not_found(format!("cannot replace {}: it is not recorded yet", node.name));
                return Err(problem.help("leave out the replacement: the resource will be created"));
            }
            if !selected.touches(*id) {
                let message = format!("cannot replace {}: it is not selected", node.name);
                return Err(Diagnostic::error(Code::NOT_SELECTED, message).help("select it too"));
            }
            Ok(*id)
        }
        several => {
            let problem = not_found(format!("{} resources are called {wanted:?}", several.len()));
            let named = several.iter().map(|id| graph.nodes[id.index()].name.to_string());
            Err(named.fold(problem, Diagnostic::note).help("use the whole name"))
        }
    }
}
