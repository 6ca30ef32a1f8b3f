//! Collects the imports and exports of a module after types are stripped.
//!
//! Removes import attributes, which the engine does not support: the file name determines the module type.

use std::collections::BTreeMap;

use oxc_ast::ast::{
    BindingPattern, Declaration, ImportDeclarationSpecifier, ModuleExportName, Program, Statement,
    StringLiteral,
};
use oxc_span::Span;

/// Import of a module.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) specifier: String,
    pub(crate) span: Span,
    /// Imported names with their spans.
    pub(crate) names: Vec<(String, Span)>,
}

/// Exported names of a module with their spans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exports {
    pub(crate) names: BTreeMap<String, Span>,
    /// Span of an `export *`, which makes `names` incomplete.
    pub(crate) open: Option<Span>,
}

impl Exports {
    /// Returns the span that exports a name, or the `export *` that may do so.
    pub(crate) fn span(&self, name: &str) -> Option<Span> {
        self.names.get(name).copied().or(self.open)
    }
}

pub(crate) fn collect(program: &mut Program<'_>) -> (Vec<Import>, Exports) {
    let mut imports = Vec::new();
    let mut exports = Exports::default();
    for statement in &mut program.body {
        match statement {
            Statement::ImportDeclaration(declaration) => {
                declaration.with_clause = None;
                let specifiers = declaration.specifiers.iter().flatten();
                let names = specifiers.filter_map(imported_name).collect();
                imports.push(import(&declaration.source, names));
            }
            Statement::ExportFromDeclaration(declaration) => {
                declaration.with_clause = None;
                let specifiers = declaration.specifiers.iter();
                let names = specifiers.map(|item| (name(&item.local), item.span)).collect();
                exports
                    .names
                    .extend(declaration.specifiers.iter().map(|item| (name(&item.exported), item.span)));
                imports.push(import(&declaration.source, names));
            }
            Statement::ExportAllDeclaration(declaration) => {
                declaration.with_clause = None;
                match &declaration.exported {
                    Some(exported) => drop(exports.names.insert(name(exported), declaration.span)),
                    None => exports.open = Some(declaration.span),
                }
                imports.push(import(&declaration.source, Vec::new()));
            }
            Statement::ExportNamedDeclaration(declaration) => {
                exports
                    .names
                    .extend(declaration.specifiers.iter().map(|item| (name(&item.exported), item.span)));
            }
            Statement::ExportDeclaration(export) => declared(&export.declaration, &mut exports.names),
            Statement::ExportDefaultDeclaration(export) => {
                // Only the keywords: the exported expression may be long.
                let span = Span::sized(export.span.start, "export default".len() as u32);
                exports.names.insert("default".to_owned(), span);
            }
            _ => {}
        }
    }
    (imports, exports)
}

fn import(source: &StringLiteral<'_>, names: Vec<(String, Span)>) -> Import {
    Import { specifier: source.value.to_string(), span: source.span, names }
}

fn imported_name(specifier: &ImportDeclarationSpecifier<'_>) -> Option<(String, Span)> {
    match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(item) => Some((name(&item.imported), item.span)),
        ImportDeclarationSpecifier::ImportDefaultSpecifier(item) => Some(("default".to_owned(), item.span)),
        ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
    }
}

fn name(export: &ModuleExportName<'_>) -> String {
    export.name().to_string()
}

fn declared(declaration: &Declaration<'_>, names: &mut BTreeMap<String, Span>) {
    match declaration {
        Declaration::VariableDeclaration(variables) => {
            variables.declarations.iter().for_each(|variable| bound(&variable.id, names));
        }
        Declaration::FunctionDeclaration(function) => {
            names.extend(function.id.iter().map(|id| (id.name.to_string(), id.span)));
        }
        Declaration::ClassDeclaration(class) => {
            names.extend(class.id.iter().map(|id| (id.name.to_string(), id.span)))
        }
        _ => {}
    }
}

fn bound(pattern: &BindingPattern<'_>, names: &mut BTreeMap<String, Span>) {
    match pattern {
        BindingPattern::BindingIdentifier(id) => drop(names.insert(id.name.to_string(), id.span)),
        BindingPattern::ObjectPattern(object) => {
            object.properties.iter().for_each(|property| bound(&property.value, names));
            object.rest.iter().for_each(|rest| bound(&rest.argument, names));
        }
        BindingPattern::ArrayPattern(array) => {
            array.elements.iter().flatten().for_each(|element| bound(element, names));
            array.rest.iter().for_each(|rest| bound(&rest.argument, names));
        }
        BindingPattern::AssignmentPattern(assignment) => bound(&assignment.left, names),
    }
}
