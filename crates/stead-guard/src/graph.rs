//! The pass over a graph that puts the marks that hold on every resource.
//!
//! Pure. It goes outwards from each resource: itself, what encloses it, then what is around the program.

use std::collections::BTreeSet;

use stead_model::{Code, Diagnostic, Graph, Level, MarkSource, Node, NodeId, NodeKind};

use crate::levels::resolve;
use crate::marks::{BadMark, Entry, Foreign, Given, LevelMarks, Reader, Written, service_of};
use crate::outer::Outer;

/// Puts the effective marks on every resource of a graph; gives warnings, or everything that is wrong.
pub fn mark_graph(graph: &mut Graph, outer: &Outer) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let near = near(graph).map_err(|bad| bad.iter().map(BadMark::diagnostic).collect::<Vec<_>>())?;
    if outer.is_empty() && near.iter().all(Option::is_none) {
        graph.nodes.iter_mut().for_each(|node| node.marks = Default::default());
        return Ok(Vec::new());
    }
    let mut used: BTreeSet<(Place, String)> = BTreeSet::new();
    for id in graph.ids() {
        if graph.nodes[id.index()].kind == NodeKind::Group {
            continue;
        }
        let service = service_of(&graph.nodes[id.index()].ty);
        let near = levels_near(graph, &near, id);
        let levels: Vec<&LevelMarks> = near.iter().map(|(_, level)| *level).chain(outer.levels()).collect();
        let marks = resolve(&levels, &service);
        let places = near.iter().map(|(id, _)| Place::Node(*id)).chain((0..).map(Place::Outer));
        for (place, level) in places.zip(&levels) {
            if level.services().any(|(named, _)| named == service) {
                used.insert((place, service.clone()));
            }
        }
        graph.nodes[id.index()].marks = marks;
    }
    Ok(warnings(graph, &near, outer, &used))
}

/// The levels that are near a resource, itself first, for an explanation.
pub fn near_levels(graph: &Graph, id: NodeId) -> Result<Vec<LevelMarks>, Vec<BadMark>> {
    let near = near(graph)?;
    Ok(levels_near(graph, &near, id).into_iter().map(|(_, level)| level.clone()).collect())
}

/// Where a level stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Node(NodeId),
    Outer(usize),
}

/// What is set on one node, and how that looks from inside it.
struct Near {
    own: LevelMarks,
    inside: LevelMarks,
}

fn near(graph: &Graph) -> Result<Vec<Option<Near>>, Vec<BadMark>> {
    let (mut near, mut problems) = (Vec::with_capacity(graph.nodes.len()), Vec::new());
    for node in &graph.nodes {
        let entries = entries(node);
        if entries.is_empty() {
            near.push(None);
            continue;
        }
        let name = node.name.to_string();
        let (level, service) = match node.kind {
            NodeKind::Provisioned => (Level::Resource(name), Some(service_of(&node.ty))),
            NodeKind::Group => (Level::Enclosing(name), None),
        };
        let reader = Reader { foreign: Foreign::Refused, service: service.as_deref() };
        match reader.read(level, entries) {
            Ok(own) => near.push(Some(Near { inside: own.clone().from_inside(), own })),
            Err(bad) => {
                near.push(None);
                problems.extend(bad);
            }
        }
    }
    if problems.is_empty() { Ok(near) } else { Err(problems) }
}

fn entries(node: &Node) -> Vec<Entry> {
    let options = &node.options;
    let entry = |key: &str, written, value| {
        let place = Some(node.source.clone());
        Entry { key: key.to_owned(), written, value, place }
    };
    let option = |key: &str, value: Given| entry(key, Written::Option, value);
    let policy = options.deletion_policy.map(|policy| match policy {
        stead_model::DeletionPolicy::Delete => "delete",
        stead_model::DeletionPolicy::Retain => "retain",
    });
    let mut all: Vec<Entry> = Vec::new();
    all.extend(options.prevent_delete.map(|value| option("preventDelete", Given::Bool(value))));
    all.extend(options.protect.map(|value| option("protect", Given::Bool(value))));
    all.extend(policy.map(|policy| option("deletionPolicy", Given::Text(policy.to_owned()))));
    all.extend(options.retain_on_delete.map(|value| option("retainOnDelete", Given::Bool(value))));
    all.extend(options.annotations.iter().map(|(key, value)| entry(key, Written::Annotation, value.into())));
    all
}

/// A node's own level, if it says something, then those around it.
fn levels_near<'n>(graph: &Graph, near: &'n [Option<Near>], id: NodeId) -> Vec<(NodeId, &'n LevelMarks)> {
    let mut levels: Vec<(NodeId, &LevelMarks)> = Vec::new();
    levels.extend(near[id.index()].as_ref().map(|near| (id, &near.own)));
    let mut around = graph.nodes[id.index()].parent;
    while let Some(parent) = around {
        levels.extend(near[parent.index()].as_ref().map(|near| (parent, &near.inside)));
        around = graph.nodes[parent.index()].parent;
    }
    levels
}

/// Keys of services that nothing here belongs to: somebody believes that they protect something.
fn warnings(
    graph: &Graph,
    near: &[Option<Near>],
    outer: &Outer,
    used: &BTreeSet<(Place, String)>,
) -> Vec<Diagnostic> {
    let provisioned = graph.nodes.iter().filter(|node| node.kind == NodeKind::Provisioned);
    let services: BTreeSet<String> = provisioned.map(|node| service_of(&node.ty)).collect();
    if services.is_empty() {
        return Vec::new();
    }
    let here = services.into_iter().collect::<Vec<_>>().join(", ");
    let nodes = graph.ids().zip(near).filter_map(|(id, near)| Some((Place::Node(id), &near.as_ref()?.own)));
    let around = outer.levels().enumerate().map(|(index, level)| (Place::Outer(index), level));
    let mut warnings = Vec::new();
    for (place, level) in nodes.chain(around) {
        for (service, source) in level.services() {
            if !used.contains(&(place, service.to_owned())) {
                warnings.push(without_effect(source, &here));
            }
        }
    }
    warnings
}

fn without_effect(source: &MarkSource, here: &str) -> Diagnostic {
    let MarkSource { level, key, place } = source;
    let at = place.as_ref().map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default();
    let what = match level {
        Level::Resource(_) => "is for another service, and says nothing about it".to_owned(),
        _ => format!("matches no resource; services here: {here}"),
    };
    let warning = Diagnostic::warning(Code::MARK_WITHOUT_EFFECT, format!("{key} on {level}{at} {what}"));
    match place {
        Some(place) => warning.at(place.clone(), 0, "set here"),
        None => warning,
    }
}

#[cfg(test)]
mod tests;
