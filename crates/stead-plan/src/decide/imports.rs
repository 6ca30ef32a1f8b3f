//! Refuses imports of a physical resource that is recorded already, or that is imported twice.
//!
//! **Invariant:** a physical resource has one record. With two, the guards of one could be bypassed through the other.

use std::collections::HashMap;

use stead_model::{
    Code, Diagnostic, Graph, Hint, Name, NextStep, NodeId, PhysicalId, Resource, TypeToken, Uid,
};
use stead_state::State;

use crate::correlate::Correlation;

/// The provider resource in whose place a physical id means something.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ServedBy<'a> {
    Default,
    Recorded(&'a Uid),
    New(NodeId),
}

/// Reports imports of physical ids that another resource has. `is_new` returns true for nodes that the plan would import.
pub(super) fn taken(
    base: &State,
    graph: &Graph,
    correlation: &Correlation<'_>,
    is_new: impl Fn(NodeId) -> bool,
) -> Vec<(NodeId, Diagnostic)> {
    let importing: Vec<NodeId> =
        graph.ids().filter(|id| graph.nodes[id.index()].options.import.is_some() && is_new(*id)).collect();
    if importing.is_empty() {
        return Vec::new();
    }
    let mut holders: HashMap<(&TypeToken, ServedBy<'_>, &PhysicalId), &Name> = base
        .copies()
        .filter_map(|copy: &Resource| {
            let provider = copy.ties.provider.as_ref();
            let by = provider.map_or(ServedBy::Default, |provider| ServedBy::Recorded(&provider.uid));
            Some(((&copy.ty, by, copy.id.as_ref()?), &copy.name))
        })
        .collect();
    let mut problems = Vec::new();
    for id in importing {
        let node = &graph.nodes[id.index()];
        let Some(import) = &node.options.import else { continue };
        let by = match node.options.provider {
            None => ServedBy::Default,
            Some(provider) => match correlation.matched[provider.index()] {
                Some(old) => ServedBy::Recorded(&old.uid),
                None => ServedBy::New(provider),
            },
        };
        if let Some(&holder) = holders.get(&(&node.ty, by, import)) {
            let message = format!("cannot import {}: {import} already belongs to {holder}", node.name);
            let rename = NextStep::Rename { from: holder.clone(), to: node.name.clone() };
            let problem = Diagnostic::error(Code::CANNOT_IMPORT, message)
                .at(node.source.clone(), 0, "declared here")
                .note("If two resources had the same physical id, deleting one would delete the other.")
                .help(Hint::text("if this is a new name, use the option `aliases`, or ").then(rename))
                .help("otherwise remove one of the two resources");
            problems.push((id, problem));
        } else {
            holders.insert((&node.ty, by, import), &node.name);
        }
    }
    problems
}
