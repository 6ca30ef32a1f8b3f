//! Refuses ephemeral values where a value would be recorded, and secrets in the identity of a resource.

use stead_model::{Code, Diagnostic, Expr, Graph, Input, Inputs, Name, Node, SourceRef};
use stead_schema::{TypeSchema, identity};

use super::judge::Decision;

/// Reports each output of the stack that is made from an ephemeral value.
pub(super) fn refused(graph: &Graph) -> Vec<Diagnostic> {
    if !graph.exprs.has_secrets() {
        return Vec::new();
    }
    let problem = |(name, input)| {
        let Some(Expr::Ephemeral { function }) = graph.exprs.get(graph.exprs.ephemeral_in(input)?) else {
            return None;
        };
        let message = format!("the output `{name}` is made from an ephemeral value");
        let problem = Diagnostic::error(Code::SECRET_EXPOSED, message)
            .at(function.source.clone(), 0, "the value is made here")
            .note("An ephemeral value exists only during the call of a provider and is never recorded; outputs are.")
            .help("use `stead.secret` for a value that other stacks or people may read");
        Some(problem)
    };
    graph.outputs.iter().filter_map(problem).collect()
}

/// Reports each secret in a property that becomes the physical id, which is recorded in the clear.
///
/// A recorded resource keeps its identity: it is in the clear already.
pub(super) fn in_identity(
    (graph, node): (&Graph, &Node),
    schema: &TypeSchema,
    inputs: &Inputs,
    decision: &Decision,
) -> Vec<Diagnostic> {
    if !matches!(decision, Decision::Create | Decision::Replace(_) | Decision::Import) {
        return Vec::new();
    }
    // A value that is known only later is a secret if it is computed from one.
    let is_secret = |input: &Input| {
        input.has_secrets()
            || graph.exprs.secret_in(input).is_some()
            || graph.exprs.ephemeral_in(input).is_some()
    };
    let secret = |property: &&str| inputs.get(*property).is_some_and(is_secret);
    let problem = |property: &str| secret_identity(&node.name, &node.source, property);
    identity(schema).into_iter().filter(secret).map(problem).collect()
}

/// Reports a secret in a property that identifies a resource.
pub fn secret_identity(name: &Name, source: &SourceRef, property: &str) -> Diagnostic {
    let message = format!("`{property}` of {name} is a secret, and identifies the resource");
    Diagnostic::error(Code::SECRET_IDENTITY, message)
        .at(source.clone(), 0, "declared here")
        .note("The identity of a resource becomes its physical id, which is recorded and shown in the clear.")
        .help(format!(
            "give `{property}` a value that is not secret, and keep the secret in another property"
        ))
}
