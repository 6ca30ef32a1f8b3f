//! One real thing is one resource: what is on record already, or is imported twice, cannot be imported.
//!
//! Two records of one thing would let the guards of one be passed through the other.

use std::collections::HashMap;

use stead_model::{Code, Diagnostic, Graph, Name, NodeId, PhysicalId, Resource, TypeToken};
use stead_state::State;

/// Problems with the ids that are imported, by who imports them. `new`: whether the plan would really do so.
pub(crate) fn taken(base: &State, graph: &Graph, new: impl Fn(NodeId) -> bool) -> Vec<(NodeId, Diagnostic)> {
    let importing: Vec<NodeId> =
        graph.ids().filter(|id| graph.nodes[id.index()].options.import.is_some() && new(*id)).collect();
    #[cfg(stead_planted)]
    let importing = if stead_model::planted::is("import-of-anothers-id") { Vec::new() } else { importing };
    if importing.is_empty() {
        return Vec::new();
    }
    let mut holders: HashMap<(&TypeToken, &PhysicalId), &Name> = base
        .copies()
        .filter_map(|copy: &Resource| Some(((&copy.resource, copy.id.as_ref()?), &copy.name)))
        .collect();
    let mut problems = Vec::new();
    for id in importing {
        let node = &graph.nodes[id.index()];
        let Some(import) = &node.options.import else { continue };
        if let Some(holder) = holders.get(&(&node.resource, import)) {
            let message = format!("cannot import {}: {import} is {holder} already", node.name);
            let problem = Diagnostic::error(Code::CANNOT_IMPORT, message)
                .at(node.source.clone(), 0, "declared here")
                .note("Two resources for one thing would let each of them delete the other's.")
                .help(format!(
                    "for another name, use `stead rename '{holder}' '{}'` or the option `aliases`; else remove one of them",
                    node.name
                ));
            problems.push((id, problem));
        } else {
            holders.insert((&node.resource, import), &node.name);
        }
    }
    problems
}
