//! Refuses secrets, because no secrets manager can encrypt them in state yet.

use stead_model::{Code, Diagnostic, Expr, Graph, Input, NodeKind, SourceRef};

/// Reports each property and each output that contains or depends on a secret.
pub(super) fn refused(graph: &Graph) -> Vec<Diagnostic> {
    if !graph.exprs.iter().any(|expr| matches!(expr, Expr::Secret { .. })) {
        return Vec::new();
    }
    let declared = graph.nodes.iter().filter(|node| node.kind == NodeKind::Provisioned).flat_map(|node| {
        let about = move |property: &str| format!("`{property}` of {}", node.name);
        node.inputs.iter().map(move |(property, input)| (about(property), input, Some(&node.source)))
    });
    let exported = graph.outputs.iter().map(|(name, input)| (format!("the output `{name}`"), input, None));
    declared
        .chain(exported)
        .filter_map(|(what, input, declared)| problem(graph, &what, input, declared))
        .collect()
}

fn problem(graph: &Graph, what: &str, input: &Input, declared: Option<&SourceRef>) -> Option<Diagnostic> {
    let Some(Expr::Secret { source, .. }) = graph.exprs.get(graph.exprs.secret_in(input)?) else {
        return None;
    };
    let message = format!("{what} is a secret, and this stack has no secrets manager");
    let problem = declared
        .into_iter()
        .fold(Diagnostic::error(Code::NO_SECRETS_MANAGER, message), |problem, declared| {
            problem.at(declared.clone(), 0, "declared here")
        });
    let problem = problem
        .at(source.clone(), 0, "it becomes a secret here")
        .note("State records every property. Without a key to encrypt it, the secret would be stored in plain text.")
        .help("keep the secret outside of Stead: let the resource read it at run time, from a file or its environment")
        .help("if the value is not secret, use `config.require` instead of `config.secret`, and do not use `stead.secret`");
    Some(problem)
}
