//! Rollback: an earlier snapshot as a graph, which is planned and applied like a program.

use std::collections::HashMap;

use stead_model::{
    Expr, Graph, Input, Inputs, Lifecycle, Marks, Node, NodeId, NodeKind, Options, Resource, Uid, Value,
};
use stead_state::Snapshot;

/// Returns the graph of a program that would lead to this snapshot.
///
/// An input that had the value of a property of another resource refers to that property again, whose value may differ now. All
/// other inputs have their recorded values.
pub fn graph_of(snapshot: &Snapshot) -> Graph {
    let live: Vec<&Resource> = snapshot
        .resources
        .iter()
        .map(|resource| resource.as_ref())
        .filter(|resource| resource.lifecycle != Lifecycle::Condemned)
        .collect();
    let nodes: HashMap<&Uid, NodeId> =
        live.iter().enumerate().map(|(index, resource)| (&resource.uid, NodeId(index as u32))).collect();
    let by_uid: HashMap<&Uid, &Resource> = live.iter().map(|resource| (&resource.uid, *resource)).collect();
    let mut graph = Graph::default();
    for resource in &live {
        let inputs = inputs(resource, &by_uid, &nodes, &mut graph);
        let node = |uid: &Uid| nodes.get(uid).copied();
        // A resource in an older copy of its container is not deleted with the current copy.
        let is_in = |resource: &Resource, uid: &Uid| {
            let named = resource.dependencies.iter().find(|copy| copy.uid == *uid);
            let current = by_uid.get(uid).map(|container| container.copy());
            named.is_none_or(|copy| Some(copy) == current.as_ref())
        };
        let ties = &resource.ties;
        graph.nodes.push(Node {
            name: resource.name.clone(),
            ty: resource.ty.clone(),
            kind: NodeKind::Provisioned,
            parent: ties.parent.as_ref().and_then(node),
            inputs,
            options: Options {
                depends_on: resource.dependencies.iter().filter_map(|copy| node(&copy.uid)).collect(),
                deleted_with: ties.deleted_with.as_ref().filter(|uid| is_in(resource, uid)).and_then(node),
                replace_with: ties.replace_with.iter().filter_map(node).collect(),
                provider: ties.provider.as_ref().and_then(|copy| node(&copy.uid)),
                aliases: ties.aliases.clone(),
                pinned: resource.pinned.then_some(true),
                undeclared: resource.imported,
                recorded: Some(resource.uid.clone()),
                ..Options::default()
            },
            source: resource.source.clone(),
            marks: earlier_marks(resource),
        });
    }
    graph.outputs =
        snapshot.outputs.iter().map(|(name, value)| (name.clone(), Input::Known(value.clone()))).collect();
    graph
}

/// Returns the marks of the program at the time, without protection that was set on the record itself.
fn earlier_marks(resource: &Resource) -> Marks {
    let mut unprotected = resource.clone();
    unprotected.marks.protected = false;
    unprotected.recorded_marks()
}

fn inputs(
    resource: &Resource,
    by_uid: &HashMap<&Uid, &Resource>,
    nodes: &HashMap<&Uid, NodeId>,
    graph: &mut Graph,
) -> Inputs {
    let mut inputs = Inputs::new();
    for (key, value) in &resource.inputs {
        let sources = resource.property_dependencies.get(key).into_iter().flatten();
        let mut references =
            sources.filter_map(|uid| Some((*nodes.get(uid)?, property(by_uid.get(uid)?, value)?)));
        let input = match references.next() {
            Some((node, property)) => {
                Input::Deferred(graph.exprs.push(Expr::Property { node, property: property.to_owned() }))
            }
            None => Input::Known(value.clone()),
        };
        inputs.insert(key.clone(), input);
    }
    inputs
}

/// Returns the property of a source that had this value. Outputs come before inputs.
fn property<'a>(source: &'a Resource, value: &Value) -> Option<&'a str> {
    let mut all = source.outputs.iter().chain(&source.inputs);
    all.find(|(_, other)| *other == value).map(|(key, _)| key.as_str())
}
