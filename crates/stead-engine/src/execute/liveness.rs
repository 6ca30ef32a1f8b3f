//! Liveness of nodes: how long a run needs the current record of each node.
//!
//! A step reads the record of its own node and of the nodes that the [edges](Graph::edges) of its node lead to. The outputs of the
//! stack are read at the end of the run.

use std::collections::BTreeSet;

use stead_model::{Graph, NodeId};
use stead_plan::{Action, Plan, StepId};

/// Number of readers of each node that are not finished.
pub(crate) struct Liveness {
    edges: Vec<BTreeSet<NodeId>>,
    /// For each node, the number of its own steps that have not ended.
    steps: Vec<u32>,
    /// For each node, the number of nodes with such steps that read it. An output counts until the end of the run.
    readers: Vec<u32>,
}

impl Liveness {
    pub(crate) fn of(graph: &Graph, plan: &Plan) -> Liveness {
        let (edges, count) = (graph.edges(), graph.nodes.len());
        let mut liveness = Liveness { edges, steps: vec![0; count], readers: vec![0; count] };
        for id in (0..plan.steps.len()).filter_map(|index| node_of(plan, StepId(index))) {
            liveness.steps[id.index()] += 1;
        }
        for id in graph.ids().filter(|id| liveness.steps[id.index()] > 0).collect::<Vec<_>>() {
            liveness.read_by(graph, id).into_iter().for_each(|read| liveness.readers[read.index()] += 1);
        }
        for read in graph.outputs.values().flat_map(|output| graph.exprs.nodes_of(output)) {
            liveness.readers[read.index()] += 1;
        }
        liveness
    }

    /// Removes an ended step from the readers. Returns the nodes without further readers.
    pub(crate) fn step_ended(&mut self, graph: &Graph, plan: &Plan, step: StepId) -> Vec<NodeId> {
        let Some(id) = node_of(plan, step) else { return Vec::new() };
        let left = &mut self.steps[id.index()];
        *left = left.saturating_sub(1);
        if *left > 0 {
            return Vec::new();
        }
        let mut unread = Vec::new();
        for read in self.read_by(graph, id) {
            let readers = &mut self.readers[read.index()];
            *readers = readers.saturating_sub(1);
            if *readers == 0 {
                unread.push(read);
            }
        }
        unread
    }

    /// Returns the node itself and the nodes that its inputs, dependencies and ties refer to.
    fn read_by(&self, graph: &Graph, id: NodeId) -> BTreeSet<NodeId> {
        let mut read = graph.provisioned(&self.edges[id.index()], &self.edges);
        read.insert(id);
        read
    }
}

/// Returns the node of a step; `None` for a barrier, which reads no node.
fn node_of(plan: &Plan, step: StepId) -> Option<NodeId> {
    let step = &plan.steps[step.0];
    step.node.filter(|_| !matches!(step.action, Action::Barrier))
}
