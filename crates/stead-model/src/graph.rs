//! The graph: everything that a program declares, before anything is applied.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    DeletionPolicy, ExprTable, Input, Level, Map, MarkSource, Marked, Marks, Name, PathPattern, PhysicalId,
    SourceRef, TypeToken,
};

/// A node's position in its graph: the order in which the program allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a provider makes something real of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    Provisioned,
    /// Groups what it allocates; exists in the program only.
    Group,
}

/// The second argument of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prevent_delete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_before_replace: Option<bool>,
    /// Changes here are not made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_changes: Vec<PathPattern>,
    /// Changes here replace the resource, whatever the provider could do in place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_on_changes: Vec<PathPattern>,
    /// When that one is deleted, this one is gone with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_with: Option<NodeId>,
    /// When one of these is replaced, this one is too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_with: Vec<NodeId>,
    /// Names that it had before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Name>,
    /// The provider resource that serves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<NodeId>,
    /// The id of something that exists already and becomes this resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import: Option<PhysicalId>,
    #[serde(skip_serializing_if = "Timeouts::is_empty")]
    pub timeouts: Timeouts,
    /// Marks by their keys, as they were written.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: Map,
    /// Another spelling of `prevent_delete`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protect: Option<bool>,
    /// Another spelling of `deletion_policy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retain_on_delete: Option<bool>,
    /// Whether it, and all under it, is to stay what and where it is. As evaluated: what the program says of this
    /// very node. Once pins are settled: what holds for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// The physical path under which it was pinned first, where the pinfile says that it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_path: Option<String>,
    /// The properties whose values come from the pinfile and are not the program's. Sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<String>,
}

/// How long a provider may take for one call, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Timeouts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<u64>,
    /// For every look: check, diff, read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
}

impl Timeouts {
    pub fn of(&self, operation: crate::Operation) -> Option<std::time::Duration> {
        let seconds = match operation {
            crate::Operation::Create => self.create,
            crate::Operation::Update => self.update,
            crate::Operation::Delete => self.delete,
        };
        seconds.map(std::time::Duration::from_secs)
    }

    /// How long it may take to look at something.
    pub fn of_looks(&self) -> Option<std::time::Duration> {
        self.read.map(std::time::Duration::from_secs)
    }

    pub fn is_empty(&self) -> bool {
        *self == Timeouts::default()
    }
}

/// One declared resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub name: Name,
    #[serde(rename = "type")]
    pub resource: TypeToken,
    pub kind: NodeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeId>,
    pub inputs: BTreeMap<String, Input>,
    #[serde(default)]
    pub options: Options,
    pub source: SourceRef,
    /// What holds for it, of all that is set on it and around it; the guard's pass over the graph fills it in.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
}

impl Node {
    /// What holds for it. In a graph that the guard's pass did not go over, that is what its own options say.
    pub fn effective_marks(&self) -> Marks {
        let source = |key: &str| {
            let level = Level::Resource(self.name.to_string());
            Arc::new(MarkSource { level, key: key.to_owned(), place: Some(self.source.clone()) })
        };
        let Marks { prevent_delete, deletion_policy } = self.marks.clone();
        let own_prevention =
            || self.options.prevent_delete.map(|value| Marked { value, source: source("preventDelete") });
        let own_policy =
            || self.options.deletion_policy.map(|value| Marked { value, source: source("deletionPolicy") });
        Marks {
            prevent_delete: prevent_delete.or_else(own_prevention),
            deletion_policy: deletion_policy.or_else(own_policy),
        }
    }
}

/// What a program declares in one environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub exprs: ExprTable,
    /// The entry point's exports.
    pub outputs: BTreeMap<String, Input>,
}

/// Resources that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these resources depend on each other: {}", .0.iter().map(Name::to_string).collect::<Vec<_>>().join(" → "))]
pub struct DependencyCycle(pub Vec<Name>);

impl Graph {
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// For each property, the nodes that its value comes from.
    pub fn property_dependencies(&self, id: NodeId) -> BTreeMap<&str, BTreeSet<NodeId>> {
        let inputs = self.node(id).map(|node| &node.inputs);
        inputs
            .into_iter()
            .flatten()
            .filter(|(_, input)| !matches!(input, Input::Known(_)))
            .map(|(key, input)| (key.as_str(), self.exprs.nodes_of(input)))
            .filter(|(_, nodes)| !nodes.is_empty())
            .collect()
    }

    /// For each node, what must be there first: all that it [needs](Graph::needs), its provider, the
    /// provisioned resource around it, and the ones that it is replaced with.
    pub fn edges(&self) -> Vec<BTreeSet<NodeId>> {
        let mut edges = self.needs();
        for id in self.ids() {
            let options = &self.nodes[id.index()].options;
            let ties = options.provider.iter().chain(&options.replace_with);
            let ties: Vec<NodeId> = ties.copied().chain(self.provisioned_parent(id)).collect();
            edges[id.index()].extend(ties);
        }
        edges
    }

    /// For each node, what its record depends on: the sources of its properties, what it is deleted with, `dependsOn` of
    /// itself and of what is around it. A group is there when all in it are.
    pub fn needs(&self) -> Vec<BTreeSet<NodeId>> {
        let mut edges: Vec<BTreeSet<NodeId>> = vec![BTreeSet::new(); self.nodes.len()];
        for id in self.ids() {
            let node = &self.nodes[id.index()];
            let mut needs: BTreeSet<NodeId> =
                self.property_dependencies(id).into_values().flatten().collect();
            needs.extend(node.options.deleted_with);
            let mut around = Some(id);
            while let Some(enclosing) = around.and_then(|id| self.node(id)) {
                needs.extend(enclosing.options.depends_on.iter().copied());
                around = enclosing.parent;
            }
            edges[id.index()].extend(needs);
            if let Some(parent) = node.parent
                && self.node(parent).is_some_and(|parent| parent.kind == NodeKind::Group)
            {
                edges[parent.index()].insert(id);
            }
        }
        edges
    }

    /// The nearest provisioned resource around a node.
    pub fn provisioned_parent(&self, id: NodeId) -> Option<NodeId> {
        let mut around = self.node(id)?.parent;
        while let Some(parent) = around {
            let node = self.node(parent)?;
            if node.kind == NodeKind::Provisioned {
                return Some(parent);
            }
            around = node.parent;
        }
        None
    }

    /// What the program says about pinning a node: the nearest setting, its own first, then of what is around it.
    pub fn pin_setting(&self, id: NodeId) -> Option<bool> {
        let mut at = Some(id);
        while let Some(node) = at.and_then(|id| self.node(id)) {
            if node.options.pinned.is_some() {
                return node.options.pinned;
            }
            at = node.parent;
        }
        None
    }

    /// The provisioned nodes that these stand for: themselves, or all in them. `edges` are the graph's own.
    pub fn provisioned(&self, ids: &BTreeSet<NodeId>, edges: &[BTreeSet<NodeId>]) -> BTreeSet<NodeId> {
        let mut found = BTreeSet::new();
        let mut todo: Vec<NodeId> = ids.iter().copied().collect();
        while let Some(id) = todo.pop() {
            match self.node(id).map(|node| node.kind) {
                Some(NodeKind::Provisioned) => {
                    found.insert(id);
                }
                Some(NodeKind::Group) => {
                    let inside = |child: &NodeId| self.nodes[child.index()].parent == Some(id);
                    todo.extend(edges[id.index()].iter().copied().filter(inside));
                }
                None => {}
            }
        }
        found
    }

    /// The nodes, each after all it needs; among the free ones the order of the program.
    pub fn order(&self, edges: &[BTreeSet<NodeId>]) -> Result<Vec<NodeId>, DependencyCycle> {
        let mut waiting: Vec<usize> = edges.iter().map(BTreeSet::len).collect();
        let mut dependants: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        for (index, needs) in edges.iter().enumerate() {
            for need in needs {
                dependants[need.index()].push(NodeId(index as u32));
            }
        }
        let mut free: BinaryHeap<Reverse<NodeId>> =
            self.ids().filter(|id| waiting[id.index()] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(Reverse(id)) = free.pop() {
            order.push(id);
            for &dependant in &dependants[id.index()] {
                waiting[dependant.index()] -= 1;
                if waiting[dependant.index()] == 0 {
                    free.push(Reverse(dependant));
                }
            }
        }
        if order.len() == self.nodes.len() { Ok(order) } else { Err(self.cycle(edges, &waiting)) }
    }

    /// Walks from any node that still waits, always to one that waits too, until one comes round.
    fn cycle(&self, edges: &[BTreeSet<NodeId>], waiting: &[usize]) -> DependencyCycle {
        let stuck = |id: &NodeId| waiting[id.index()] > 0;
        let mut path: Vec<NodeId> = Vec::new();
        let mut at = self.ids().find(stuck);
        while let Some(id) = at {
            if let Some(start) = path.iter().position(|seen| *seen == id) {
                path.drain(..start);
                path.push(id);
                break;
            }
            path.push(id);
            at = edges[id.index()].iter().copied().find(stuck);
        }
        DependencyCycle(path.iter().map(|id| self.nodes[id.index()].name.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, Value};

    fn node(name: &str, kind: NodeKind, parent: Option<u32>) -> Node {
        Node {
            name: format!("dev:main:{name}").parse().unwrap(),
            resource: TypeToken(name.to_owned()),
            kind,
            parent: parent.map(NodeId),
            inputs: BTreeMap::new(),
            options: Options::default(),
            source: SourceRef { file: "main.ts".into(), line: 1, column: 1 },
            marks: Marks::default(),
        }
    }

    #[test]
    fn property_sources_and_depends_on_order_the_nodes() {
        let mut graph = Graph {
            nodes: ["a", "b", "c"].map(|name| node(name, NodeKind::Provisioned, None)).into(),
            ..Graph::default()
        };
        let of_c = graph.exprs.push(Expr::Property { node: NodeId(2), property: "id".into() });
        graph.nodes[0].inputs.insert("x".into(), Input::Deferred(of_c));
        graph.nodes[1].inputs.insert("y".into(), Input::Known(Value::Null));
        let order = graph.order(&graph.edges()).unwrap();
        assert_eq!(order, [NodeId(1), NodeId(2), NodeId(0)]);
    }

    #[test]
    fn depending_on_a_group_waits_for_all_in_it() {
        let mut graph = Graph {
            nodes: vec![
                node("group", NodeKind::Group, None),
                node("after", NodeKind::Provisioned, None),
                node("inner", NodeKind::Provisioned, Some(0)),
            ],
            ..Graph::default()
        };
        graph.nodes[1].options.depends_on.push(NodeId(0));
        let order = graph.order(&graph.edges()).unwrap();
        assert_eq!(order, [NodeId(2), NodeId(0), NodeId(1)]);
        graph.nodes[2].options.depends_on.push(NodeId(1));
        let cycle = graph.order(&graph.edges()).unwrap_err();
        assert_eq!(cycle.0.first(), cycle.0.last());
        assert_eq!(cycle.0.len(), 4);
    }

    #[test]
    fn ties_order_the_nodes_and_are_no_needs() {
        let mut graph = Graph {
            nodes: vec![
                node("parent", NodeKind::Provisioned, None),
                node("group", NodeKind::Group, Some(0)),
                node("child", NodeKind::Provisioned, Some(1)),
                node("provider", NodeKind::Provisioned, None),
            ],
            ..Graph::default()
        };
        graph.nodes[2].options.provider = Some(NodeId(3));
        assert_eq!(graph.edges()[2], BTreeSet::from([NodeId(0), NodeId(3)]));
        assert!(graph.needs()[2].is_empty());
        assert_eq!(graph.provisioned_parent(NodeId(2)), Some(NodeId(0)));
        graph.nodes[0].options.deleted_with = Some(NodeId(2));
        assert!(graph.order(&graph.edges()).is_err());
    }

    #[test]
    fn what_a_group_waits_for_all_in_it_wait_for() {
        let mut graph = Graph {
            nodes: vec![
                node("group", NodeKind::Group, None),
                node("inner", NodeKind::Provisioned, Some(0)),
                node("first", NodeKind::Provisioned, None),
            ],
            ..Graph::default()
        };
        graph.nodes[0].options.depends_on.push(NodeId(2));
        assert!(graph.edges()[1].contains(&NodeId(2)));
    }
}
