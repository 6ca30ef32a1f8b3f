//! Who still needs to know what a node became, so that what nobody reads any more can be let go.
//!
//! A step reads its own node and what that one's [edges](Graph::edges) lead to; the stack's outputs are read at the end.

use std::collections::BTreeSet;

use stead_model::{Graph, NodeId};
use stead_plan::{Action, Plan, StepId};

pub(crate) struct Liveness {
    edges: Vec<BTreeSet<NodeId>>,
    /// For each node, how many of its own steps have not ended.
    steps: Vec<u32>,
    /// For each node, how many nodes with such steps read it. Outputs count for ever.
    readers: Vec<u32>,
}

impl Liveness {
    pub(crate) fn of(graph: &Graph, plan: &Plan) -> Liveness {
        let (edges, count) = (graph.edges(), graph.nodes.len());
        let mut readers = Liveness { edges, steps: vec![0; count], readers: vec![0; count] };
        for id in (0..plan.steps.len()).filter_map(|index| node_of(plan, StepId(index))) {
            readers.steps[id.index()] += 1;
        }
        for id in graph.ids().filter(|id| readers.steps[id.index()] > 0).collect::<Vec<_>>() {
            readers.read_by(graph, id).into_iter().for_each(|read| readers.readers[read.index()] += 1);
        }
        for read in graph.outputs.values().flat_map(|output| graph.exprs.nodes_of(output)) {
            readers.readers[read.index()] += 1;
        }
        readers
    }

    /// A step has ended, however it did. Returns the nodes that nobody reads any more.
    pub(crate) fn ended(&mut self, graph: &Graph, plan: &Plan, step: StepId) -> Vec<NodeId> {
        let Some(id) = node_of(plan, step) else { return Vec::new() };
        let left = &mut self.steps[id.index()];
        *left = left.saturating_sub(1);
        if *left > 0 {
            return Vec::new();
        }
        let mut free = Vec::new();
        for read in self.read_by(graph, id) {
            let readers = &mut self.readers[read.index()];
            *readers = readers.saturating_sub(1);
            if *readers == 0 {
                free.push(read);
            }
        }
        free
    }

    /// The node itself, and all that its inputs, its dependencies and its ties may come from.
    fn read_by(&self, graph: &Graph, id: NodeId) -> BTreeSet<NodeId> {
        let mut read = graph.provisioned(&self.edges[id.index()], &self.edges);
        read.insert(id);
        read
    }
}

/// The node that a step reads for; one that only gathers reads nothing.
fn node_of(plan: &Plan, step: StepId) -> Option<NodeId> {
    let step = &plan.steps[step.0];
    step.node.filter(|_| !matches!(step.action, Action::Barrier))
}
