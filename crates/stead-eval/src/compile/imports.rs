//! Collects the imports and exports of a module after types are stripped.
//!
//! **Invariant:** an import without the word `type` keeps its module, even if no binding of it is used as a value. The
//! module may declare resources, and dropping the last use of a binding must not drop them from the program.
//!
//! Removes import attributes, which the engine does not support: the file name determines the module type.

use std::collections::{BTreeMap, BTreeSet};

use oxc_allocator::{Allocator, ArenaVec, CloneIn, TakeIn};
use oxc_ast::ast::{
    BindingPattern, Declaration, ImportDeclaration, ImportDeclarationSpecifier, ModuleExportName, Program,
    Statement, StringLiteral,
};
use oxc_ast::builder::AstBuilder;
use oxc_span::Span;

/// Import of a module.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) specifier: String,
    pub(crate) span: Span,
    /// Imported names with their spans.
    pub(crate) names: Vec<(String, Span)>,
    pub(crate) needs: Needs,
}

/// Part of an imported module that the program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Its exports: a module without code is an error.
    Exports,
    /// Only its evaluation: `import "./x"`, `export * from "./x"`.
    Evaluation,
    /// Only its evaluation, because no imported binding is used as a value.
    UnusedBindings,
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

/// Starts of the imports with a bare import before them.
#[derive(Debug, Default)]
pub(super) struct KeptModules(BTreeSet<u32>);

/// Adds a bare `import "x"` before each import with bindings, so that stripping types cannot remove the module.
///
/// An import of types alone (`import type`, or `type` before each name) stays without one. [`collect`] removes each bare
/// import that turns out to be unnecessary.
pub(super) fn keep_modules<'a>(allocator: &'a Allocator, program: &mut Program<'a>) -> KeptModules {
    let mut kept = KeptModules::default();
    let ast = AstBuilder::new(allocator);
    let body = program.body.take_in(&ast);
    program.body = ArenaVec::with_capacity_in(body.len(), &ast);
    for statement in body {
        if let Statement::ImportDeclaration(import) = &statement
            && imports_values(import)
        {
            let source = import.source.clone_in(allocator);
            let bare = Statement::new_import_declaration(
                import.span,
                None,
                source,
                None,
                None,
                import.import_kind,
                &ast,
            );
            program.body.push(bare);
            kept.0.insert(import.span.start);
        }
        program.body.push(statement);
    }
    kept
}

/// Returns true for an import of bindings that may be values.
fn imports_values(import: &ImportDeclaration<'_>) -> bool {
    let value = |specifier: &ImportDeclarationSpecifier<'_>| match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(item) => !item.import_kind.is_type(),
        _ => true,
    };
    !import.import_kind.is_type() && import.specifiers.iter().flatten().any(value)
}

/// Removes each bare import whose import still has bindings.
fn drop_redundant(program: &mut Program<'_>, kept: &KeptModules) {
    let bound = |statement: &Statement<'_>| match statement {
        Statement::ImportDeclaration(it) if it.specifiers.is_some() => Some(it.span.start),
        _ => None,
    };
    let bound: BTreeSet<u32> = program.body.iter().filter_map(bound).collect();
    program.body.retain(|statement| match statement {
        Statement::ImportDeclaration(it) if it.specifiers.is_none() => {
            !(kept.0.contains(&it.span.start) && bound.contains(&it.span.start))
        }
        _ => true,
    });
}

pub(super) fn collect(program: &mut Program<'_>, kept: &KeptModules) -> (Vec<Import>, Exports) {
    drop_redundant(program, kept);
    let mut imports = Vec::new();
    let mut exports = Exports::default();
    for statement in &mut program.body {
        match statement {
            Statement::ImportDeclaration(declaration) => {
                declaration.with_clause = None;
                let specifiers = declaration.specifiers.iter().flatten();
                let names = specifiers.filter_map(imported_name).collect();
                let needs = match &declaration.specifiers {
                    Some(_) => Needs::Exports,
                    None if kept.0.contains(&declaration.span.start) => Needs::UnusedBindings,
                    None => Needs::Evaluation,
                };
                imports.push(import(&declaration.source, names, needs));
            }
            Statement::ExportFromDeclaration(declaration) => {
                declaration.with_clause = None;
                let specifiers = declaration.specifiers.iter();
                let names = specifiers.map(|item| (name(&item.local), item.span)).collect();
                exports
                    .names
                    .extend(declaration.specifiers.iter().map(|item| (name(&item.exported), item.span)));
                imports.push(import(&declaration.source, names, Needs::Exports));
            }
            Statement::ExportAllDeclaration(declaration) => {
                declaration.with_clause = None;
                let needs = match &declaration.exported {
                    Some(exported) => {
                        exports.names.insert(name(exported), declaration.span);
                        Needs::Exports
                    }
                    None => {
                        exports.open = Some(declaration.span);
                        Needs::Evaluation
                    }
                };
                imports.push(import(&declaration.source, Vec::new(), needs));
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

fn import(source: &StringLiteral<'_>, names: Vec<(String, Span)>, needs: Needs) -> Import {
    Import { specifier: source.value.to_string(), span: source.span, names, needs }
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

pub(super) fn declared(declaration: &Declaration<'_>, names: &mut BTreeMap<String, Span>) {
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
