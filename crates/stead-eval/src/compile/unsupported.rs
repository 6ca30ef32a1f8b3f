//! Reports TypeScript constructs that the transformer would compile incorrectly.

use oxc_ast::ast::{Program, RegExpFlags, RegExpLiteral, Statement, TSModuleReference};
use stead_model::{Code, Diagnostic};

use super::instrument::{Instrumenter, UnsupportedSyntax};
use crate::program::source_text::SourceText;

pub(super) fn find(source: &SourceText, program: &Program<'_>) -> Vec<Diagnostic> {
    program.body.iter().filter_map(|statement| older_module_syntax(source, statement)).collect()
}

/// Reports `import x = require("…")` and `export = x`, which are CommonJS syntax.
fn older_module_syntax(source: &SourceText, statement: &Statement<'_>) -> Option<Diagnostic> {
    let (span, what, help) = match statement {
        Statement::TSImportEqualsDeclaration(import)
            if matches!(import.module_reference, TSModuleReference::ExternalModuleReference(_)) =>
        {
            (import.span, "`import … = require(…)`", "write `import … from \"…\"`")
        }
        Statement::TSExportAssignment(export) => (export.span, "`export =`", "write `export default`"),
        _ => return None,
    };
    let place = source.locate(span);
    let message = format!("{what} is CommonJS syntax, which is not supported");
    let problem = Diagnostic::error(Code::UNSUPPORTED_IMPORT, message);
    Some(problem.at(place.at, place.length, "here").help(help))
}

impl Instrumenter<'_> {
    /// Reports the flag `v`, which the engine does not support.
    pub(super) fn check_regex(&mut self, it: &RegExpLiteral<'_>) {
        if it.regex.flags.contains(RegExpFlags::V) {
            self.out.unsupported.push(UnsupportedSyntax {
                code: Code::SYNTAX,
                span: it.span,
                message: "the flag `v` of regular expressions is not supported".to_owned(),
                label: "here",
                help: "use the flag `u`, and write set operations out as alternatives",
            });
        }
    }
}
