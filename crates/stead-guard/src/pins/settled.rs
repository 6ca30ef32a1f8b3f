//! A graph whose pins are settled.

use std::ops::Deref;

use serde::Serialize;
use stead_model::Graph;

/// A graph whose pins are settled. The planner takes no other graph.
///
/// `apply_pinfile` makes one from the declarations of a program. The default declares nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SettledGraph(Graph);

impl SettledGraph {
    pub(super) fn applied(graph: Graph) -> SettledGraph {
        SettledGraph(graph)
    }

    /// The graph without pins, for a target that keeps none.
    pub fn without_pins(mut graph: Graph) -> SettledGraph {
        graph.nodes.iter_mut().for_each(|node| node.options.pinned = None);
        SettledGraph(graph)
    }

    /// A graph that was made from records: its pins are the recorded ones.
    pub fn from_records(graph: Graph) -> SettledGraph {
        SettledGraph(graph)
    }
}

impl Deref for SettledGraph {
    type Target = Graph;

    fn deref(&self) -> &Graph {
        &self.0
    }
}
