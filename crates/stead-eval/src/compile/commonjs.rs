//! Detects CommonJS modules. A file with `import` or `export` is never one.

use oxc_ast::ast::{IdentifierReference, Program};
use oxc_ast_visit::VisitJs;
use oxc_semantic::Scoping;
use oxc_span::Span;

use crate::program::source_text::SourceText;

/// Returns the first use of a CommonJS name in a file without `import` and `export`.
pub(super) fn find(source: &SourceText, program: &Program<'_>, scoping: &Scoping) -> Option<Span> {
    let unresolved = scoping.root_unresolved_references();
    let mut first = FirstCommonJsName { scoping, span: None };
    if NAMES.iter().any(|name| unresolved.contains_key(*name)) {
        first.visit_program(program);
    }
    let by_name = [".cjs", ".cts"].iter().any(|end| source.path.ends_with(end));
    first.span.or_else(|| by_name.then(|| Span::new(0, 0)))
}

const NAMES: [&str; 3] = ["module", "exports", "require"];

struct FirstCommonJsName<'s> {
    scoping: &'s Scoping,
    span: Option<Span>,
}

impl<'a> VisitJs<'a> for FirstCommonJsName<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let reference = it.reference_id.get().map(|id| self.scoping.get_reference(id));
        let undeclared = reference.is_some_and(|reference| reference.symbol_id().is_none());
        if self.span.is_none() && undeclared && NAMES.contains(&it.name.as_str()) {
            self.span = Some(it.span);
        }
    }
}
