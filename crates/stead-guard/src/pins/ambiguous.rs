//! Errors for pinned leaves without a stable path: two leaves with one path, and unnamed leaves among several of a type.
//!
//! The number of an unnamed resource changes when an earlier one is added or removed. Its pin would then apply to another
//! resource.

use std::collections::{BTreeMap, HashSet};

use stead_model::{Code, Diagnostic, Graph, Name, NameParts, Node};

use super::apply::Leaf;
use super::file::Section;
use super::path::is_counter;

pub(crate) fn problems(graph: &Graph, leaves: &[Leaf], saved: &Section) -> Vec<Diagnostic> {
    let mut problems = collisions(graph, leaves, saved);
    let numbered = numbered_names(graph);
    let pinned = leaves.iter().filter(|leaf| leaf.pinned);
    problems.extend(pinned.filter_map(|leaf| unnamed(graph, leaf, &numbered)));
    problems
}

fn collisions(graph: &Graph, leaves: &[Leaf], saved: &Section) -> Vec<Diagnostic> {
    let mut by_path: BTreeMap<&str, Vec<&Leaf>> = BTreeMap::new();
    leaves.iter().for_each(|leaf| by_path.entry(&leaf.path).or_default().push(leaf));
    let matters =
        |path: &str, leaves: &[&Leaf]| saved.contains_key(path) || leaves.iter().any(|leaf| leaf.pinned);
    let shared = by_path.into_iter().filter(|(path, leaves)| leaves.len() > 1 && matters(path, leaves));
    shared
        .map(|(path, leaves)| {
            let message = format!("{} resources would be pinned under one path, {path}", leaves.len());
            let problem =
                Diagnostic::error(Code::PIN_AMBIGUOUS, message).help("give one of them another `id`");
            leaves.iter().fold(problem, |problem, leaf| {
                let node = &graph.nodes[leaf.id.index()];
                problem.at(node.source.clone(), 0, node.name.to_string())
            })
        })
        .collect()
}

/// Returns the names without id of all numbered resources.
fn numbered_names(graph: &Graph) -> HashSet<Name> {
    graph.nodes.iter().filter(|node| is_numbered(node)).map(|node| without_id(&node.name)).collect()
}

fn is_numbered(node: &Node) -> bool {
    matches!(&*node.name, NameParts::Placed { id: Some(id), .. } if is_counter(id))
}

fn without_id(name: &Name) -> Name {
    let mut name = name.clone();
    if let NameParts::Placed { id, .. } = name.parts_mut() {
        *id = None;
    }
    name
}

fn unnamed(graph: &Graph, leaf: &Leaf, numbered: &HashSet<Name>) -> Option<Diagnostic> {
    let pinned = &graph.nodes[leaf.id.index()];
    let mut around = Some(leaf.id);
    while let Some(node) = around.and_then(|id| graph.node(id)) {
        let has_no_id = matches!(&*node.name, NameParts::Placed { id: None, .. });
        if is_numbered(node) || (has_no_id && numbered.contains(&node.name)) {
            let subject =
                if node.name == pinned.name { "it".to_owned() } else { format!("its parent {}", node.name) };
            let message = format!("{} is pinned, but {subject} is one of several without an id", pinned.name);
            return Some(
                Diagnostic::error(Code::PIN_AMBIGUOUS, message)
                    .at(node.source.clone(), 0, "this one needs an id")
                    .note("They are distinguished by a number, which changes when an earlier one is added or removed.")
                    .help("give each of them an `id`; or, if it need not be pinned, set `pinned: false`"),
            );
        }
        // A global id does not depend on the parents.
        if matches!(*node.name, NameParts::Global { .. }) {
            return None;
        }
        around = node.parent;
    }
    None
}
