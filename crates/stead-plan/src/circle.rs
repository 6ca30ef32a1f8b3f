//! Whether the records of a partial run could form a circle.
//!
//! What is selected gets its new ties, everything else keeps the old ones; each alone has an order, both together need
//! not. Old copies and what the program no longer declares are there until the end of the run, and count.

use std::collections::{BTreeSet, HashMap};

use stead_model::{CopyRef, DependencyCycle, Name, NodeId, Resource, Uid};

use crate::planner::Planner;
use crate::ties;

/// A declared resource, or a recorded copy that is none: those come after all nodes.
type Vertex = usize;

struct Records<'a, 'p> {
    planner: &'a Planner<'p>,
    declared: &'a HashMap<&'a Uid, NodeId>,
    others: Vec<&'a Resource>,
    positions: HashMap<CopyRef, Vertex>,
}

/// `declared`: the node of each recorded resource that has one.
pub(crate) fn circle(planner: &Planner<'_>, declared: &HashMap<&Uid, NodeId>) -> Option<DependencyCycle> {
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
    let stuck = stuck(&needs);
    let mut at = stuck.iter().position(|stuck| *stuck)?;
    let mut way: Vec<Vertex> = Vec::new();
    let mut visited = vec![false; needs.len()];
    while !visited[at] {
        visited[at] = true;
        way.push(at);
        at = needs[at].iter().copied().find(|need| stuck[*need])?;
    }
    let start = way.iter().position(|vertex| *vertex == at)?;
    Some(DependencyCycle(
        way[start..].iter().chain([&at]).map(|vertex| records.name(*vertex).clone()).collect(),
    ))
}

impl Records<'_, '_> {
    /// The node whose current copy it is.
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
        let id = NodeId(vertex as u32);
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

/// What is left when everything is taken away that waits for nothing that is left.
fn stuck(needs: &[BTreeSet<Vertex>]) -> Vec<bool> {
    let mut waiting: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    let mut dependants: Vec<Vec<Vertex>> = vec![Vec::new(); needs.len()];
    for (vertex, needs) in needs.iter().enumerate() {
        needs.iter().for_each(|need| dependants[*need].push(vertex));
    }
    let mut free: Vec<Vertex> = (0..needs.len()).filter(|vertex| waiting[*vertex] == 0).collect();
    while let Some(vertex) = free.pop() {
        for &dependant in &dependants[vertex] {
            waiting[dependant] -= 1;
            if waiting[dependant] == 0 {
                free.push(dependant);
            }
        }
    }
    waiting.into_iter().map(|waiting| waiting > 0).collect()
}
