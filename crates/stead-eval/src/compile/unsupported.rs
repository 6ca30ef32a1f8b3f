//! Constructs of TypeScript that the compiler would get wrong without a word, found before it runs.

use std::collections::HashMap;

use oxc_ast::ast::{
    Declaration, Program, RegExpFlags, RegExpLiteral, Statement, TSModuleReference, TSNamespaceDeclaration,
    TSNamespaceDeclarationBody,
};
use oxc_span::Span;
use stead_model::{Code, Diagnostic};

use super::instrument::{Instrument, Refused};
use crate::place::SourceText;

pub(super) fn find(source: &SourceText, program: &Program<'_>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> =
        program.body.iter().filter_map(|statement| older_module_syntax(source, statement)).collect();
    merged_in(source, &program.body, &mut found);
    found
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

/// Namespaces in several blocks: a block does not see what another one exports.
fn merged_in(source: &SourceText, statements: &[Statement<'_>], found: &mut Vec<Diagnostic>) {
    let mut first: HashMap<&str, Span> = HashMap::new();
    for namespace in statements.iter().filter_map(namespace).filter(|namespace| has_values(namespace)) {
        let name = namespace.id.name.as_str();
        if let Some(before) = first.insert(name, namespace.id.span) {
            let (here, there) = (source.place(namespace.id.span), source.place(before));
            let message =
                format!("the namespace `{name}` consists of several blocks, which is not supported");
            let problem = Diagnostic::error(Code::SYNTAX, message)
                .at(here.at, here.length, "a further block")
                .at(there.at, there.length, "the block before it");
            found.push(problem.help("put everything into one block, or into modules of their own"));
        }
        if let TSNamespaceDeclarationBody::TSModuleBlock(block) = &namespace.body {
            merged_in(source, &block.body, found);
        }
    }
}

fn namespace<'s, 'a>(statement: &'s Statement<'a>) -> Option<&'s TSNamespaceDeclaration<'a>> {
    match statement {
        Statement::TSNamespaceDeclaration(namespace) => Some(namespace),
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::TSNamespaceDeclaration(namespace) => Some(namespace),
            _ => None,
        },
        _ => None,
    }
}

/// Whether something of it is left when the types are gone.
fn has_values(namespace: &TSNamespaceDeclaration<'_>) -> bool {
    let only_types = |statement: &Statement<'_>| match statement {
        Statement::TSTypeAliasDeclaration(_) | Statement::TSInterfaceDeclaration(_) => true,
        Statement::ExportDeclaration(export) => matches!(
            export.declaration,
            Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_)
        ),
        _ => false,
    };
    !namespace.declare
        && match &namespace.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => !block.body.iter().all(only_types),
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => has_values(inner),
        }
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
