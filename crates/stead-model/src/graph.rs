//! The graph: all resources that a program declares, with their inputs, options and dependencies.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Dag, DeletionPolicy, ExprTable, Input, Inputs, Level, Map, MarkSource, Marked, Marks, Name, PathPattern,
    PhysicalId, SortedMap, SourceRef, TypeToken, Uid,
};

/// Position of a node in its graph. Nodes are in the order in which the program allocated them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns the id of the node at this position.
    pub fn at(index: usize) -> NodeId {
        NodeId(index as u32)
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a provider creates the declared resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    Provisioned,
    /// A group, which exists in the program only.
    Group,
}

/// The resource options, which a program gives as the second argument.
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
    /// Paths whose changes are not applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_changes: Vec<PathPattern>,
    /// Paths whose changes replace the resource, even if the provider could apply them in place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_on_changes: Vec<PathPattern>,
    /// Paths whose values are secrets, in inputs and outputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sensitive: Vec<PathPattern>,
    /// The container: deleting that resource deletes this one too, without a call of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_with: Option<NodeId>,
    /// Resources whose replacement replaces this one too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_with: Vec<NodeId>,
    /// Former names of the resource.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Name>,
    /// The provider resource that serves this resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<NodeId>,
    /// Physical id of an existing resource to import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub import: Option<PhysicalId>,
    /// Whether no program declares the resource: the node comes from an import or from the record of one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub undeclared: bool,
    #[serde(skip_serializing_if = "Timeouts::is_empty")]
    pub timeouts: Timeouts,
    /// Marks by their keys, as written in the program.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub annotations: Map,
    /// Another spelling of `prevent_delete`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protect: Option<bool>,
    /// Another spelling of `deletion_policy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retain_on_delete: Option<bool>,
    /// After evaluation: the pin setting of this very node. After the pinfile was applied: whether the node is pinned, by its own
    /// setting or an inherited one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// The path under which the resource was first pinned, if the pinfile records a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_path: Option<String>,
    /// The path that the resource had before a `move` of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// The record that the node was made from, in a rollback: its resource keeps its uid, whatever its name is now.
    #[serde(skip)]
    pub recorded: Option<Uid>,
    /// Properties with frozen values: the pinfile's values replace the program's. Sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<String>,
}

/// Timeouts of provider calls, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Timeouts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete: Option<u64>,
    /// For the calls that change nothing: check, diff, read.
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

    /// Returns the timeout of check, diff and read.
    pub fn of_reads(&self) -> Option<std::time::Duration> {
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
    pub ty: TypeToken,
    pub kind: NodeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeId>,
    pub inputs: Inputs,
    #[serde(default)]
    pub options: Options,
    pub source: SourceRef,
    /// Marks in effect, from the node itself and all outer levels. Filled in by the guard's pass over the graph.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
}

impl Node {
    /// Makes a node without parent, inputs, options or marks.
    ///
    /// `Node { inputs, ..Node::new(name, ty, kind, source) }` sets more.
    pub fn new(name: Name, ty: TypeToken, kind: NodeKind, source: SourceRef) -> Node {
        Node {
            name,
            ty,
            kind,
            parent: None,
            inputs: Inputs::new(),
            options: Options::default(),
            source,
            marks: Marks::default(),
        }
    }
    /// Returns the marks in effect, or those of the node's own options if the guard did not process the graph.
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

/// All declarations of a program in one environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub exprs: ExprTable,
    /// The exports of the entry point.
    pub outputs: Inputs,
}

/// Resources that depend on each other. The first name is repeated at the end.
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

    /// Returns the nodes that each deferred property depends on.
    pub fn property_dependencies(&self, id: NodeId) -> SortedMap<&str, BTreeSet<NodeId>> {
        let inputs = self.node(id).map(|node| &node.inputs);
        inputs
            .into_iter()
            .flatten()
            .filter(|(_, input)| !matches!(input, Input::Known(_)))
            .map(|(key, input)| (key.as_str(), self.exprs.nodes_of(input)))
            .filter(|(_, nodes)| !nodes.is_empty())
            .collect()
    }

    /// Returns, for each node, the nodes that must exist first: its [needs](Graph::needs), its provider, the provisioned resource
    /// around it, and the resources that it is replaced with.
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

    /// Returns, for each node, the dependencies that its record lists: the sources of its properties, its container, and the
    /// `dependsOn` of itself and of the resources and groups around it.
    ///
    /// A group depends on its members.
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

    /// Returns the nearest provisioned resource around a node.
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

    /// Returns the pin setting of the node itself, or of the nearest enclosing node that has one.
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

    /// Replaces each group by the provisioned nodes inside it. `edges` must be those of this graph.
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

    /// Returns the nodes, each after its dependencies, and otherwise in the order of the program.
    pub fn order(&self, edges: &[BTreeSet<NodeId>]) -> Result<Vec<NodeId>, DependencyCycle> {
        let mut dag = Dag::new(edges.iter().map(positions));
        let order = dag.order();
        match dag.cycle(|vertex| positions(&edges[vertex])) {
            None => Ok(order.into_iter().map(NodeId::at).collect()),
            Some(cycle) => {
                Err(DependencyCycle(cycle.into_iter().map(|at| self.nodes[at].name.clone()).collect()))
            }
        }
    }
}

fn positions(ids: &BTreeSet<NodeId>) -> impl Iterator<Item = usize> {
    ids.iter().map(|id| id.index())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, Value};

    fn node(name: &str, kind: NodeKind, parent: Option<u32>) -> Node {
        let source = SourceRef { file: "main.ts".into(), line: 1, column: 1 };
        let full_name = format!("dev:main:{name}").parse().unwrap();
        Node { parent: parent.map(NodeId), ..Node::new(full_name, TypeToken(name.to_owned()), kind, source) }
    }

    #[test]
    fn nodes_come_after_the_sources_of_their_properties() {
        let mut graph = Graph {
            nodes: ["a", "b", "c"].map(|name| node(name, NodeKind::Provisioned, None)).into(),
            ..Graph::default()
        };
        let of_c = graph.exprs.push(Expr::Property { node: NodeId(2), property: "id".into() });
        graph.nodes[0].inputs.insert("x", Input::Deferred(of_c));
        graph.nodes[1].inputs.insert("y", Input::Known(Value::Null));
        let order = graph.order(&graph.edges()).unwrap();
        assert_eq!(order, [NodeId(1), NodeId(2), NodeId(0)]);
    }

    #[test]
    fn dependent_of_a_group_waits_for_all_its_members() {
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
    fn provider_and_parent_are_edges_but_not_recorded_dependencies() {
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
    fn members_of_a_group_wait_for_its_dependencies() {
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
