//! Checks whether the records of a partial run could form a cycle.
//!
//! Selected resources get their new dependencies, all others keep the recorded ones. Each set alone is acyclic; both together may have a
//! cycle. Condemned copies and resources that are no longer declared exist until the end of the run, so they count.

use std::collections::{BTreeSet, HashMap};

use stead_model::{CopyRef, Dag, DependencyCycle, Name, NodeId, Resource, Uid};

use crate::decide::Planner;
use crate::ties;

/// The position of a node, or after all nodes that of a recorded copy without one.
type Vertex = usize;

struct Records<'a, 'p> {
    planner: &'a Planner<'p>,
    declared: &'a HashMap<&'a Uid, NodeId>,
    /// Recorded copies that are not the current copy of a node.
    others: Vec<&'a Resource>,
    positions: HashMap<CopyRef, Vertex>,
}

/// Returns a cycle that the records would form, if any. `declared` has the node of each recorded resource that is declared.
pub(super) fn cycle(planner: &Planner<'_>, declared: &HashMap<&Uid, NodeId>) -> Option<DependencyCycle> {
    let nodes = planner.graph.nodes.len();
    let mut records = Records { planner, declared, others: Vec::new(), positions: HashMap::new() };
    for resource in planner.base.resources() {
        if records.node_of(resource).is_none() {
            records.positions.insert(resource.copy(), nodes + records.others.len());
            records.others.push(resource);
        }
    }
    let needs: Vec<BTreeSet<Vertex>> =
        (0..nodes + records.others.len()).map(|vertex| records.needs(vertex)).collect();
    let mut dag = Dag::new(needs.iter().map(|needs| needs.iter().copied()));
    dag.finish_all();
    let cycle = dag.cycle(|vertex| needs[vertex].iter().copied())?;
    Some(DependencyCycle(cycle.into_iter().map(|vertex| records.name(vertex).clone()).collect()))
}

impl Records<'_, '_> {
    /// Returns the node that this copy is the current one of.
    fn node_of(&self, resource: &Resource) -> Option<NodeId> {
        let id = self.declared.get(&resource.uid).copied()?;
        self.planner.old(id).filter(|current| current.generation == resource.generation).map(|_| id)
    }

    fn vertex(&self, resource: &Resource) -> Option<Vertex> {
        let node = self.node_of(resource).map(NodeId::index);
        node.or_else(|| self.positions.get(&resource.copy()).copied())
    }

    fn needs(&self, vertex: Vertex) -> BTreeSet<Vertex> {
        let Planner { graph, base, selected, edges, .. } = self.planner;
        let recorded = |resource| ties::needs(base, resource).filter_map(|need| self.vertex(need)).collect();
        if vertex >= graph.nodes.len() {
            return recorded(self.others[vertex - graph.nodes.len()]);
        }
        let id = NodeId::at(vertex);
        match (selected.touches(id), self.planner.old(id)) {
            (true, _) => edges[vertex].iter().map(|need| need.index()).collect(),
            (false, Some(old)) => recorded(old),
            (false, None) => BTreeSet::new(),
        }
    }

    fn name(&self, vertex: Vertex) -> &Name {
        let nodes = &self.planner.graph.nodes;
        nodes.get(vertex).map_or_else(|| &self.others[vertex - nodes.len()].name, |node| &node.name)
    }
}
