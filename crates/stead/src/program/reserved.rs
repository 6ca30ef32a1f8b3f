//! Refuses data of a program that looks like a secret of Stead.

use stead_model::{Code, Diagnostic, Graph, Input, PropertyPath, SIGNATURE_KEY, SourceRef};

/// Reports each property and each output with the key that marks secrets.
pub(crate) fn in_graph(graph: &Graph) -> Vec<Diagnostic> {
    let declared = graph.nodes.iter().flat_map(|node| {
        node.inputs.iter().map(move |(property, input)| {
            (format!("`{property}` of {}", node.name), property, input, Some(&node.source))
        })
    });
    let exported =
        graph.outputs.iter().map(|(name, input)| (format!("the output `{name}`"), name, input, None));
    declared
        .chain(exported)
        .filter_map(|(what, name, input, place)| problem(&what, name, input, place))
        .collect()
}

fn problem(what: &str, name: &str, input: &Input, place: Option<&SourceRef>) -> Option<Diagnostic> {
    let inside = input.reserved_path()?;
    let path = PropertyPath(PropertyPath::of(name).0.into_iter().chain(inside.0).collect());
    let message = format!("{what} has the key `{SIGNATURE_KEY}`, which marks secrets in state");
    let problem = place.into_iter().fold(Diagnostic::error(Code::RESERVED_KEY, message), |problem, place| {
        problem.at(place.clone(), 0, "declared here")
    });
    let problem =
        problem.note(format!("The object is at `{path}`. Stored as it is, it would be read as a secret."));
    Some(problem.help("give the key another name"))
}
