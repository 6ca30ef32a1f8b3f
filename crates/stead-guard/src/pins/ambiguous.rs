//! Pinned leaves that cannot be told apart for good: two with one path, and unnamed ones among their like.
//!
//! The counter of an unnamed resource changes when one before it comes or goes; its pin would be another's then.

use std::collections::{BTreeMap, HashSet};

use stead_model::{Code, Diagnostic, Graph, Name, NameParts, Node};

use super::file::Section;
use super::path::is_counter;
use super::settle::Leaf;

pub(crate) fn problems(graph: &Graph, leaves: &[Leaf], saved: &Section) -> Vec<Diagnostic> {
    let mut problems = collisions(graph, leaves, saved);
    let crowded = crowded(graph);
    let pinned = leaves.iter().filter(|leaf| leaf.pinned);
    problems.extend(pinned.filter_map(|leaf| unnamed(graph, leaf, &crowded)));
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

/// The names without id that others have too, with a counter.
fn crowded(graph: &Graph) -> HashSet<Name> {
    graph.nodes.iter().filter(|node| counter(node)).map(|node| bare(&node.name)).collect()
}

fn counter(node: &Node) -> bool {
    matches!(&*node.name, NameParts::Placed { id: Some(id), .. } if is_counter(id))
}

fn bare(name: &Name) -> Name {
    let mut name = name.clone();
    if let NameParts::Placed { id, .. } = name.parts_mut() {
        *id = None;
    }
    name
}

fn unnamed(graph: &Graph, leaf: &Leaf, crowded: &HashSet<Name>) -> Option<Diagnostic> {
    let pinned = &graph.nodes[leaf.id.index()];
    let mut around = Some(leaf.id);
    while let Some(node) = around.and_then(|id| graph.node(id)) {
        let nameless = matches!(&*node.name, NameParts::Placed { id: None, .. });
        if counter(node) || (nameless && crowded.contains(&node.name)) {
            let what = if node.name == pinned.name { "it" } else { "what it is in" };
            let message = format!("{} is pinned, and {what} is one of several without an id", pinned.name);
            return Some(
                Diagnostic::error(Code::PIN_AMBIGUOUS, message)
                    .at(node.source.clone(), 0, "this one needs an id")
                    .note("They are told apart by their number, which changes when one before it comes or goes.")
                    .help("give each of them an `id`; or, if it need not be pinned, say `pinned: false`"),
            );
        }
        // What has a gid is the same wherever it stands.
        if matches!(*node.name, NameParts::Global { .. }) {
            return None;
        }
        around = node.parent;
    }
    None
}
