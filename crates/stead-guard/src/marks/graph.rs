//! Sets the effective marks on every resource of a graph.
//!
//! The levels of a resource, nearest first: the resource itself, its parents, then the levels around the program.

use std::collections::BTreeSet;

use stead_model::{Code, Diagnostic, Graph, Level, MarkSource, Node, NodeId, NodeKind};

use super::levels::resolve;
use super::outer::OuterLevels;
use super::read::{BadMark, LevelMarks, MarkReader, RawMark, RawValue, Spelling, UnknownKeys, service_of};

/// Sets the marks on every resource of a graph, and returns warnings. These marks are recorded, so that the flag, which is for
/// one run, is not among them: [`OuterLevels::with_flag`] adds it.
///
/// Fails with all invalid marks of the graph.
pub fn mark_graph(graph: &mut Graph, outer: &OuterLevels) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let outer = &outer.lasting();
    let near = near(graph).map_err(|bad| bad.iter().map(BadMark::diagnostic).collect::<Vec<_>>())?;
    if outer.is_empty() && near.iter().all(Option::is_none) {
        graph.nodes.iter_mut().for_each(|node| node.marks = Default::default());
        return Ok(Vec::new());
    }
    let mut used: BTreeSet<(LevelId, String)> = BTreeSet::new();
    for id in graph.ids() {
        if graph.nodes[id.index()].kind == NodeKind::Group {
            continue;
        }
        let service = service_of(&graph.nodes[id.index()].ty);
        let near = levels_near(graph, &near, id);
        let levels: Vec<&LevelMarks> = near.iter().map(|(_, level)| *level).chain(outer.levels()).collect();
        let marks = resolve(&levels, &service);
        let level_ids = near.iter().map(|(id, _)| LevelId::Node(*id)).chain((0..).map(LevelId::Outer));
        for (level_id, level) in level_ids.zip(&levels) {
            if level.services().any(|(named, _)| named == service) {
                used.insert((level_id, service.clone()));
            }
        }
        graph.nodes[id.index()].marks = marks;
    }
    Ok(warnings(graph, &near, outer, &used))
}

/// Returns the levels of a resource and its parents, nearest first, for an explanation.
pub fn near_levels(graph: &Graph, id: NodeId) -> Result<Vec<LevelMarks>, Vec<BadMark>> {
    let near = near(graph)?;
    Ok(levels_near(graph, &near, id).into_iter().map(|(_, level)| level.clone()).collect())
}

/// The identity of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LevelId {
    Node(NodeId),
    Outer(usize),
}

/// The marks of one node, for the node itself and for the nodes inside it.
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
        let reader = MarkReader { unknown_keys: UnknownKeys::Refused, service: service.as_deref() };
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

fn entries(node: &Node) -> Vec<RawMark> {
    let options = &node.options;
    let entry = |key: &str, spelling, value| {
        let place = Some(node.source.clone());
        RawMark { key: key.to_owned(), spelling, value, place }
    };
    let option = |key: &str, value: RawValue| entry(key, Spelling::Option, value);
    let policy = options.deletion_policy.map(|policy| match policy {
        stead_model::DeletionPolicy::Delete => "delete",
        stead_model::DeletionPolicy::Retain => "retain",
    });
    let mut all: Vec<RawMark> = Vec::new();
    all.extend(options.prevent_delete.map(|value| option("preventDelete", RawValue::Bool(value))));
    all.extend(options.protect.map(|value| option("protect", RawValue::Bool(value))));
    all.extend(policy.map(|policy| option("deletionPolicy", RawValue::Text(policy.to_owned()))));
    all.extend(options.retain_on_delete.map(|value| option("retainOnDelete", RawValue::Bool(value))));
    all.extend(options.annotations.iter().map(|(key, value)| entry(key, Spelling::Annotation, value.into())));
    all
}

/// Returns the levels with marks of a node and its parents, nearest first.
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

/// Warns of service keys that match no resource, because their author expects them to protect one.
fn warnings(
    graph: &Graph,
    near: &[Option<Near>],
    outer: &OuterLevels,
    used: &BTreeSet<(LevelId, String)>,
) -> Vec<Diagnostic> {
    let provisioned = graph.nodes.iter().filter(|node| node.kind == NodeKind::Provisioned);
    let services: BTreeSet<String> = provisioned.map(|node| service_of(&node.ty)).collect();
    if services.is_empty() {
        return Vec::new();
    }
    let here = services.into_iter().collect::<Vec<_>>().join(", ");
    let nodes = graph.ids().zip(near).filter_map(|(id, near)| Some((LevelId::Node(id), &near.as_ref()?.own)));
    let around = outer.levels().enumerate().map(|(index, level)| (LevelId::Outer(index), level));
    let mut warnings = Vec::new();
    for (level_id, level) in nodes.chain(around) {
        for (service, source) in level.services() {
            if !used.contains(&(level_id, service.to_owned())) {
                warnings.push(without_effect(source, &here));
            }
        }
    }
    warnings
}

fn without_effect(source: &MarkSource, here: &str) -> Diagnostic {
    let MarkSource { level, key, place } = source;
    let at = place.as_ref().map(|place| format!(" ({}:{})", place.file, place.line)).unwrap_or_default();
    let problem = match level {
        Level::Resource(_) => "is for another service and has no effect on it".to_owned(),
        _ => format!("matches no resource; services here: {here}"),
    };
    let warning = Diagnostic::warning(Code::MARK_WITHOUT_EFFECT, format!("{key} on {level}{at} {problem}"));
    match place {
        Some(place) => warning.at(place.clone(), 0, "set here"),
        None => warning,
    }
}

#[cfg(test)]
mod tests;
