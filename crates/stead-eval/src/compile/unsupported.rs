//! Constructs of TypeScript that the compiler would get wrong without a word, found before it runs.

use oxc_ast::ast::{Program, RegExpFlags, RegExpLiteral, Statement, TSModuleReference};
use stead_model::{Code, Diagnostic};

use super::instrument::{Instrument, Refused};
use crate::place::SourceText;

pub(super) fn find(source: &SourceText, program: &Program<'_>) -> Vec<Diagnostic> {
    program.body.iter().filter_map(|statement| older_module_syntax(source, statement)).collect()
}

/// `import x = require("…")` and `export = x` stand for CommonJS.
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
    let place = source.place(span);
    let message = format!("{what} belongs to CommonJS, which stead does not run");
    let problem = Diagnostic::error(Code::UNSUPPORTED_IMPORT, message);
    Some(problem.at(place.at, place.length, "here").help(help))
}

impl Instrument<'_> {
    /// The engine does not know the flag `v`.
    pub(super) fn check_regex(&mut self, it: &RegExpLiteral<'_>) {
        if it.regex.flags.contains(RegExpFlags::V) {
            self.out.refused.push(Refused {
                code: Code::SYNTAX,
                span: it.span,
                message: "the flag `v` of regular expressions is not supported".to_owned(),
                label: "here",
                help: "use the flag `u`, and write set operations out as alternatives",
            });
        }
    }
}
