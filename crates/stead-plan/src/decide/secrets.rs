//! Refuses ephemeral values where a value would be recorded.

use stead_model::{Code, Diagnostic, Expr, Graph};

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
