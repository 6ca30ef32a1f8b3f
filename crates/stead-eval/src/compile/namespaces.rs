//! Qualifies names in namespaces.
//!
//! A block may use exports of the other blocks without qualification, and assign to variables that it exports. The
//! transformer supports neither: it would keep a second copy of the variable. `name` becomes `Namespace.name`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    AssignmentTarget, AssignmentTargetMaybeDefault, AssignmentTargetProperty, Declaration, Expression,
    IdentifierName, IdentifierReference, ObjectProperty, Program, PropertyKey, SimpleAssignmentTarget,
    Statement, TSNamespaceDeclaration, TSNamespaceDeclarationBody,
};
use oxc_ast::builder::AstBuilder;
use oxc_ast_visit::{VisitMut, walk_mut};
use oxc_semantic::Scoping;
use oxc_span::Span;
use oxc_syntax::scope::ScopeId;
use oxc_syntax::symbol::SymbolId;

/// Exports of the other blocks of a namespace: name to namespace.
type SiblingExports<'a> = HashMap<&'a str, &'a str>;

/// Qualifies names and returns true if any was rewritten, which makes the scoping outdated.
pub(super) fn join<'a>(allocator: &'a Allocator, program: &mut Program<'a>, scoping: &Scoping) -> bool {
    let mut joiner = Joiner { ast: AstBuilder::new(allocator), scoping, blocks: Vec::new(), changed: false };
    joiner.statements(&mut program.body);
    joiner.changed
}

struct Joiner<'a, 's> {
    ast: AstBuilder<'a>,
    scoping: &'s Scoping,
    /// Blocks that enclose the current node, innermost last.
    blocks: Vec<Block<'a>>,
    changed: bool,
}

/// Block of a namespace.
struct Block<'a> {
    namespace: &'a str,
    scope: ScopeId,
    siblings: SiblingExports<'a>,
    /// Exported variables of this block that are assigned to.
    assigned: BTreeSet<SymbolId>,
}

impl<'a> Joiner<'a, '_> {
    fn statements(&mut self, statements: &mut [Statement<'a>]) {
        let mut exports: BTreeMap<&'a str, Vec<BTreeSet<&'a str>>> = BTreeMap::new();
        for namespace in statements.iter().filter_map(namespace) {
            exports.entry(namespace.id.name.as_str()).or_default().push(exported(namespace));
        }
        exports.retain(|_, blocks| blocks.len() > 1);
        let mut met: BTreeMap<&'a str, usize> = BTreeMap::new();
        for statement in statements {
            let Some(namespace) = namespace_mut(statement) else {
                if !self.blocks.is_empty() {
                    self.visit_statement(statement);
                }
                continue;
            };
            let name = namespace.id.name.as_str();
            let own = met.entry(name).or_default();
            let others = exports.get(name).into_iter().flatten().enumerate();
            let siblings = others.filter(|(block, _)| block != own).flat_map(|(_, names)| names);
            let siblings = siblings.map(|exported| (*exported, name)).collect();
            *own += 1;
            self.block(namespace, siblings);
        }
    }

    fn block(&mut self, namespace: &mut TSNamespaceDeclaration<'a>, siblings: SiblingExports<'a>) {
        let Some(scope) = namespace.scope_id.get() else { return };
        let assigned = exported_symbols(namespace).filter(|id| self.scoping.symbol_is_mutated(*id)).collect();
        self.blocks.push(Block { namespace: namespace.id.name.as_str(), scope, siblings, assigned });
        match &mut namespace.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => self.statements(&mut block.body),
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
                self.block(inner, SiblingExports::new())
            }
        }
        self.blocks.pop();
    }

    /// Returns the namespace that qualifies a name, if another block exports it or if it is an exported variable.
    fn meant(&self, it: &IdentifierReference<'a>) -> Option<&'a str> {
        let symbol = self.scoping.get_reference(it.reference_id.get()?).symbol_id();
        let declared = symbol.map(|symbol| self.scoping.symbol_scope_id(symbol));
        for Block { namespace, scope, siblings, assigned } in self.blocks.iter().rev() {
            if symbol.is_some_and(|symbol| assigned.contains(&symbol)) {
                return Some(namespace);
            }
            let inside = |at: ScopeId| self.scoping.scope_ancestors(at).any(|around| around == *scope);
            if declared.is_some_and(inside) {
                return None;
            }
            if let Some(namespace) = siblings.get(it.name.as_str()) {
                return Some(namespace);
            }
        }
        None
    }

    fn object(&mut self, span: Span, namespace: &'a str) -> Expression<'a> {
        self.changed = true;
        Expression::new_identifier(span, namespace, &self.ast)
    }
}

impl<'a> VisitMut<'a> for Joiner<'a, '_> {
    fn visit_expression(&mut self, it: &mut Expression<'a>) {
        if let Expression::Identifier(id) = it
            && let Some(namespace) = self.meant(id)
        {
            let (span, name) = (id.span, IdentifierName::new(id.span, id.name.as_str(), &self.ast));
            let object = self.object(span, namespace);
            *it = Expression::new_static_member_expression(span, object, name, false, &self.ast);
            return;
        }
        walk_mut::walk_expression(self, it);
    }

    fn visit_simple_assignment_target(&mut self, it: &mut SimpleAssignmentTarget<'a>) {
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(id) = it
            && let Some(namespace) = self.meant(id)
        {
            let (span, name) = (id.span, IdentifierName::new(id.span, id.name.as_str(), &self.ast));
            let object = self.object(span, namespace);
            *it = SimpleAssignmentTarget::new_static_member_expression(span, object, name, false, &self.ast);
            return;
        }
        walk_mut::walk_simple_assignment_target(self, it);
    }

    /// Qualifies the variable of `({ name } = …)` and `({ name = … } = …)`.
    fn visit_assignment_target_property(&mut self, it: &mut AssignmentTargetProperty<'a>) {
        walk_mut::walk_assignment_target_property(self, it);
        let AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(shorthand) = it else { return };
        let Some(namespace) = self.meant(&shorthand.binding) else { return };
        let (span, name) = (shorthand.span, shorthand.binding.name.as_str());
        let (init, object) = (shorthand.init.take(), self.object(span, namespace));
        let member = IdentifierName::new(span, name, &self.ast);
        let target = match init {
            None => AssignmentTargetMaybeDefault::new_static_member_expression(
                span, object, member, false, &self.ast,
            ),
            Some(init) => {
                let target =
                    AssignmentTarget::new_static_member_expression(span, object, member, false, &self.ast);
                AssignmentTargetMaybeDefault::new_assignment_target_with_default(
                    span, target, init, &self.ast,
                )
            }
        };
        let key = PropertyKey::new_static_identifier(span, name, &self.ast);
        *it = AssignmentTargetProperty::new_assignment_target_property_property(
            span, key, target, false, &self.ast,
        );
    }

    fn visit_object_property(&mut self, it: &mut ObjectProperty<'a>) {
        walk_mut::walk_object_property(self, it);
        it.shorthand &= matches!(it.value, Expression::Identifier(_));
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

fn namespace_mut<'s, 'a>(statement: &'s mut Statement<'a>) -> Option<&'s mut TSNamespaceDeclaration<'a>> {
    match statement {
        Statement::TSNamespaceDeclaration(namespace) => Some(namespace),
        Statement::ExportDeclaration(export) => match &mut export.declaration {
            Declaration::TSNamespaceDeclaration(namespace) => Some(namespace),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the symbols of the variables that a block exports.
fn exported_symbols<'s>(namespace: &'s TSNamespaceDeclaration<'_>) -> impl Iterator<Item = SymbolId> + 's {
    let block = match &namespace.body {
        TSNamespaceDeclarationBody::TSModuleBlock(block) => Some(block),
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(_) => None,
    };
    let variables = block.into_iter().flat_map(|block| &block.body).filter_map(|statement| match statement {
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::VariableDeclaration(variables) => Some(variables),
            _ => None,
        },
        _ => None,
    });
    let ids = variables.flat_map(|variables| &variables.declarations);
    ids.flat_map(|variable| variable.id.get_binding_identifiers()).filter_map(|id| id.symbol_id.get())
}

/// Returns the names of the values that a block exports.
fn exported<'a>(namespace: &TSNamespaceDeclaration<'a>) -> BTreeSet<&'a str> {
    let block = match &namespace.body {
        TSNamespaceDeclarationBody::TSModuleBlock(block) => block,
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
            return BTreeSet::from([inner.id.name.as_str()]);
        }
    };
    let mut names = BTreeSet::new();
    for statement in &block.body {
        let Statement::ExportDeclaration(export) = statement else { continue };
        match &export.declaration {
            Declaration::VariableDeclaration(variables) => {
                for variable in &variables.declarations {
                    names
                        .extend(variable.id.get_binding_identifiers().into_iter().map(|id| id.name.as_str()));
                }
            }
            Declaration::FunctionDeclaration(function) => {
                names.extend(function.id.iter().map(|id| id.name.as_str()))
            }
            Declaration::ClassDeclaration(class) => names.extend(class.id.iter().map(|id| id.name.as_str())),
            Declaration::TSEnumDeclaration(it) => drop(names.insert(it.id.name.as_str())),
            Declaration::TSNamespaceDeclaration(it) => drop(names.insert(it.id.name.as_str())),
            _ => {}
        }
    }
    names
}
