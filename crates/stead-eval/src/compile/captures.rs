//! Finds the values that functions given to `stead.apply`, `stead.all` and `stead.ephemeral` use from outside.
//!
//! Such a function runs after apply, when it can no longer read an unknown, create a resource or read a file. The runtime looks at
//! these values at the end of the evaluation, so that a mistake is an error while planning. Functions of the program that are
//! called by name are followed, in the same file and, if they are exported, in others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use oxc_ast::ast::{
    Argument, ArrayExpression, ArrowFunctionExpression, AssignmentExpression, AssignmentPattern,
    AssignmentTarget, CallExpression, ConditionalExpression, ExportDefaultDeclarationKind, Expression,
    FormalParameter, Function, IdentifierReference, ImportDeclarationSpecifier, LogicalExpression,
    ModuleExportName, NewExpression, ObjectProperty, Program, PropertyDefinition, PropertyKey, PropertyKind,
    ReturnStatement, Statement, ThisExpression, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js as walk};
use oxc_semantic::{Scoping, SymbolId};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::{ScopeFlags, ScopeId};

use super::implicit_calls::is_function;
use super::imports::declared;

/// Use of a captured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureUse {
    Read,
    Call,
    New,
    /// Call of a built-in that reads the clock.
    Clock,
    /// Call of a built-in that returns a random value.
    Random,
}

impl CaptureUse {
    pub(super) fn name(self) -> &'static str {
        match self {
            CaptureUse::Read => "read",
            CaptureUse::Call => "call",
            CaptureUse::New => "new",
            CaptureUse::Clock => "clock",
            CaptureUse::Random => "random",
        }
    }
}

/// Value that a function uses: a variable or `this`, and the members that it reads.
#[derive(Clone, Debug)]
pub(super) struct Capture {
    /// `None` for `this`.
    pub(super) variable: Option<String>,
    pub(super) path: Vec<String>,
    pub(super) usage: CaptureUse,
    pub(super) span: Span,
}

/// Captures of a function without a name of its own.
#[derive(Clone, Debug)]
pub(super) struct LiteralCaptures {
    /// Name that the function gets from the member of an object.
    pub(super) name: Option<String>,
    pub(super) captures: Vec<Capture>,
}

/// Captures of the functions of a file.
#[derive(Default)]
pub(super) struct Captures {
    /// Captures of a deferred function, by the span of the call of `apply`, `all` or `ephemeral`.
    pub(super) calls: HashMap<Span, Vec<Capture>>,
    /// Captures of the functions that the file exports or names at its top level, by the name of the function.
    pub(super) named: Vec<(String, Vec<Capture>)>,
    /// Captures of functions without a name of their own, by their span: another function may defer them.
    pub(super) literals: HashMap<Span, LiteralCaptures>,
}

/// Returns the captures of all functions that a file gives to `stead.apply` and `stead.all`, and of those that may reach another
/// call of them by a name, an argument, a result, or a member of an object.
///
/// In a package, only the functions that it gives itself are followed.
pub(super) fn find(program: &Program<'_>, scoping: &Scoping, owner: Owner) -> Captures {
    let imported = imported_functions(program);
    if imported.is_empty() && owner == Owner::Package {
        return Captures::default();
    }
    let mut collector = Collector {
        scoping,
        owner,
        imported,
        functions: HashMap::new(),
        literals: Vec::new(),
        own_this: Vec::new(),
        uses: Vec::new(),
        calls: Vec::new(),
    };
    collector.visit_program(program);
    collector.uses.sort_by_key(|it| it.capture.span.start);
    let calls = collector.calls.iter().map(|call| (call.span, collector.captures(call)));
    let mut found = Captures {
        calls: calls.filter(|(_, captures)| !captures.is_empty()).collect(),
        ..Captures::default()
    };
    if owner == Owner::Program {
        let named = collector.top_level(exported_names(program));
        found.named = named.into_iter().filter(|(_, captures)| !captures.is_empty()).collect();
        let literals = collector.literals.iter().map(|(call, name)| {
            let captures = collector.captures(call);
            (call.span, LiteralCaptures { name: name.clone(), captures })
        });
        found.literals = literals.filter(|(_, literal)| !literal.captures.is_empty()).collect();
    }
    found
}

/// Returns the names of the variables that a file exports.
fn exported_names(program: &Program<'_>) -> BTreeSet<String> {
    let mut names = BTreeMap::new();
    for statement in &program.body {
        match statement {
            Statement::ExportDeclaration(export) => declared(&export.declaration, &mut names),
            Statement::ExportNamedDeclaration(export) => {
                names.extend(export.specifiers.iter().map(|it| (it.local.name().to_string(), it.span)));
            }
            Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                    names.extend(function.id.as_ref().map(|id| (id.name.to_string(), id.span)));
                }
                ExportDefaultDeclarationKind::Identifier(id) => {
                    names.insert(id.name.to_string(), id.span);
                }
                _ => {}
            },
            _ => {}
        }
    }
    names.into_keys().collect()
}

/// Owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Program,
    /// A package, or a module of Node.js.
    Package,
}

/// Import whose functions take other functions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Imported {
    /// `apply`, `all` or `ephemeral` of the module "stead".
    Function,
    /// The module "stead".
    Namespace,
    /// A name of the module "stead/test", whose functions call the given ones by themselves.
    Test,
}

fn imported_functions(program: &Program<'_>) -> HashMap<SymbolId, Imported> {
    let mut found = HashMap::new();
    for statement in &program.body {
        let Statement::ImportDeclaration(import) = statement else { continue };
        let specifiers = import.specifiers.iter().flatten();
        match import.source.value.as_str() {
            "stead" => {}
            "stead/test" => {
                let symbols = specifiers.filter_map(|specifier| specifier.local().symbol_id.get());
                found.extend(symbols.map(|symbol| (symbol, Imported::Test)));
                continue;
            }
            _ => continue,
        }
        for specifier in specifiers {
            let (local, imported) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(it) => match &it.imported {
                    ModuleExportName::IdentifierName(name)
                        if matches!(name.name.as_str(), "apply" | "all" | "ephemeral") =>
                    {
                        (&it.local, Imported::Function)
                    }
                    _ => continue,
                },
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => (&it.local, Imported::Namespace),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => continue,
            };
            found.extend(local.symbol_id.get().map(|symbol| (symbol, imported)));
        }
    }
    found
}

/// Returns the position of the function among the arguments: `ephemeral` has no other argument.
pub(super) fn position(arguments: &[Argument<'_>]) -> usize {
    usize::from(arguments.len() > 1)
}

struct Use {
    /// `None` for `this` and for a global.
    symbol: Option<SymbolId>,
    capture: Capture,
}

/// Methods that call their argument at once, and whose argument is rarely a function that is deferred later.
const CALLS_AT_ONCE: &[&str] = &[
    "every",
    "filter",
    "find",
    "findIndex",
    "findLast",
    "flatMap",
    "forEach",
    "map",
    "reduce",
    "reduceRight",
    "replace",
    "replaceAll",
    "some",
    "sort",
    "toSorted",
    "then",
    "catch",
    "finally",
];

/// Returns the use of a global that reads the clock or returns a random value.
fn forbidden_global(name: &str, path: &[String], usage: CaptureUse) -> Option<CaptureUse> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match (usage, name, path.as_slice()) {
        (CaptureUse::Call, "Date" | "performance", ["now"]) | (CaptureUse::Call, "Date", []) => {
            Some(CaptureUse::Clock)
        }
        (CaptureUse::Call, "Math", ["random"])
        | (CaptureUse::Call, "crypto", ["randomUUID" | "getRandomValues"]) => Some(CaptureUse::Random),
        _ => None,
    }
}

enum Given {
    Inline(Span),
    /// An arrow function, which has the `this` of the code around it.
    Arrow(Span),
    Named(SymbolId),
}

struct ApplyCall {
    span: Span,
    given: Given,
    scope: ScopeId,
}

struct Collector<'s> {
    scoping: &'s Scoping,
    owner: Owner,
    imported: HashMap<SymbolId, Imported>,
    /// Functions by the constant or declaration that names them.
    functions: HashMap<SymbolId, Span>,
    /// Functions with their own `this`.
    own_this: Vec<Span>,
    uses: Vec<Use>,
    calls: Vec<ApplyCall>,
    /// Functions that are arguments, results, or members of objects and arrays, as if they were given to `apply` there.
    literals: Vec<(ApplyCall, Option<String>)>,
}

impl Collector<'_> {
    fn symbol(&self, id: &IdentifierReference<'_>) -> Option<SymbolId> {
        self.scoping.get_reference(id.reference_id.get()?).symbol_id()
    }

    /// Records a chain of members that starts with a variable or `this`. Returns false for other expressions.
    fn record(&mut self, expression: &Expression<'_>, usage: CaptureUse) -> bool {
        let Some((root, path)) = chain(expression) else { return false };
        let span = expression.span();
        match root {
            Root::This => {
                self.uses.push(Use { symbol: None, capture: Capture { variable: None, path, usage, span } });
            }
            Root::Variable(id) => {
                let symbol = self.symbol(id);
                let usage = match symbol {
                    Some(_) => Some(usage),
                    None => forbidden_global(&id.name, &path, usage),
                };
                if let Some(usage) = usage {
                    let capture = Capture { variable: Some(id.name.to_string()), path, usage, span };
                    self.uses.push(Use { symbol, capture });
                }
            }
        }
        true
    }

    /// Records a call of `apply`, `all` or `ephemeral` of the module "stead".
    fn record_apply(&mut self, it: &CallExpression<'_>) {
        let Some((Root::Variable(id), path)) = chain(&it.callee) else { return };
        let Some(symbol) = self.symbol(id) else { return };
        let called = match self.imported.get(&symbol) {
            Some(Imported::Function) => path.is_empty(),
            Some(Imported::Namespace) => {
                matches!(path.as_slice(), [name] if matches!(name.as_str(), "apply" | "all" | "ephemeral"))
            }
            Some(Imported::Test) | None => false,
        };
        let scope = id.reference_id.get().map(|id| self.scoping.get_reference(id).scope_id());
        let (true, Some(scope), Some(given)) =
            (called, scope, it.arguments.get(position(&it.arguments)).and_then(Argument::as_expression))
        else {
            return;
        };
        let given = match given.get_inner_expression() {
            Expression::ArrowFunctionExpression(arrow) => Given::Arrow(arrow.span),
            Expression::FunctionExpression(function) => Given::Inline(function.span),
            Expression::Identifier(id) => match self.symbol(id) {
                Some(symbol) => Given::Named(symbol),
                None => return,
            },
            _ => return,
        };
        self.calls.push(ApplyCall { span: it.span, given, scope });
    }

    /// Returns true if a call gives its functions to no `apply`, as far as the names tell.
    fn calls_at_once(&self, callee: &Expression<'_>) -> bool {
        let callee = callee.get_inner_expression();
        if let Expression::StaticMemberExpression(member) = callee
            && CALLS_AT_ONCE.contains(&member.property.name.as_str())
        {
            return true;
        }
        let Some((Root::Variable(id), _)) = chain(callee) else { return false };
        let symbol = self.symbol(id);
        symbol.is_some_and(|symbol| matches!(self.imported.get(&symbol), Some(Imported::Test)))
    }

    /// Returns the captures of the functions that the file names at its top level.
    fn top_level(&self, exported: BTreeSet<String>) -> Vec<(String, Vec<Capture>)> {
        let root = self.scoping.root_scope_id();
        let own = self.functions.keys().filter(|symbol| self.is_top_level(**symbol));
        let mut names = exported;
        names.extend(own.map(|symbol| self.scoping.symbol_name(*symbol).to_owned()));
        let captures = |name: String| {
            let symbol = self.scoping.find_binding(root, name.as_str().into())?;
            let given = Given::Named(symbol);
            Some((name, self.captures(&ApplyCall { span: Span::default(), given, scope: root })))
        };
        names.into_iter().filter_map(captures).collect()
    }

    fn is_top_level(&self, symbol: SymbolId) -> bool {
        self.scoping.symbol_scope_id(symbol) == self.scoping.root_scope_id()
    }

    /// Records a function that gets its name from the place that its value is for, unless it has one.
    fn record_named_literal(&mut self, expression: &Expression<'_>, name: &str) {
        let own = matches!(expression.get_inner_expression(), Expression::FunctionExpression(it) if it.id.is_some());
        self.record_literal(expression, (!own).then(|| name.to_owned()));
    }

    /// Records a function without a name of its own, where its value may reach a call of `apply`.
    fn record_literal(&mut self, expression: &Expression<'_>, name: Option<String>) {
        let inner = expression.get_inner_expression();
        let (span, given, scope) = match inner {
            Expression::ArrowFunctionExpression(arrow) => {
                (arrow.span, Given::Arrow(arrow.span), arrow.scope_id.get())
            }
            Expression::FunctionExpression(function) => {
                (function.span, Given::Inline(function.span), function.scope_id.get())
            }
            _ => return,
        };
        let around = scope.and_then(|scope| self.scoping.scope_parent_id(scope));
        if let (Some(scope), Owner::Program) = (around, self.owner) {
            self.literals.push((ApplyCall { span, given, scope }, name));
        }
    }

    /// Returns the captures of a function, directly or through functions that it names. The functions that a file of
    /// the program names at its top level have their own captures.
    fn captures(&self, call: &ApplyCall) -> Vec<Capture> {
        let mut found = Vec::new();
        let mut done = BTreeSet::new();
        let mut todo: Vec<Span> = match &call.given {
            Given::Arrow(span) | Given::Inline(span) => vec![*span],
            Given::Named(symbol) => self.functions.get(symbol).copied().into_iter().collect(),
        };
        while let Some(function) = todo.pop() {
            if !done.insert((function.start, function.end)) {
                continue;
            }
            let first = self.uses.partition_point(|it| it.capture.span.start < function.start);
            for it in self.uses[first..].iter().take_while(|it| it.capture.span.end <= function.end) {
                let Some(symbol) = it.symbol else {
                    if it.capture.variable.is_some() {
                        found.push(it.capture.clone());
                        continue;
                    }
                    let span = it.capture.span;
                    let own = |outer: &Span| within(span, *outer) && within(*outer, function);
                    if matches!(call.given, Given::Arrow(arrow) if arrow == function)
                        && !self.own_this.iter().any(own)
                    {
                        found.push(it.capture.clone());
                    }
                    continue;
                };
                if within(self.scoping.symbol_span(symbol), function) {
                    continue;
                }
                if self.owner == Owner::Package || !self.is_top_level(symbol) {
                    todo.extend(self.functions.get(&symbol));
                }
                // The variable is looked at where `apply` is called; another one may have its name there.
                let name = self.scoping.symbol_ident(symbol);
                if self.scoping.find_binding(call.scope, name) == Some(symbol) {
                    found.push(it.capture.clone());
                }
            }
        }
        found
    }
}

fn within(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

enum Root<'e, 'a> {
    This,
    Variable(&'e IdentifierReference<'a>),
}

fn chain<'e, 'a>(expression: &'e Expression<'a>) -> Option<(Root<'e, 'a>, Vec<String>)> {
    match expression.get_inner_expression() {
        Expression::Identifier(id) => Some((Root::Variable(id), Vec::new())),
        Expression::ThisExpression(_) => Some((Root::This, Vec::new())),
        Expression::StaticMemberExpression(member) => {
            let (root, mut path) = chain(&member.object)?;
            path.push(member.property.name.to_string());
            Some((root, path))
        }
        _ => None,
    }
}

impl<'a> VisitJs<'a> for Collector<'_> {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.record_apply(it);
        let at_once = self.calls_at_once(&it.callee);
        let given = self.calls.last().is_some_and(|call| call.span == it.span);
        if !at_once && !given {
            let functions = it.arguments.iter().filter_map(Argument::as_expression);
            functions.for_each(|argument| self.record_literal(argument, None));
        }
        if !self.record(&it.callee, CaptureUse::Call) {
            self.visit_expression(&it.callee);
        }
        it.arguments.iter().for_each(|argument| self.visit_argument(argument));
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        let clock = matches!(&it.callee, Expression::Identifier(id) if id.name == "Date" && self.symbol(id).is_none());
        if clock && it.arguments.is_empty() {
            let variable = Some("Date".to_owned());
            let capture = Capture { variable, path: Vec::new(), usage: CaptureUse::Clock, span: it.span };
            self.uses.push(Use { symbol: None, capture });
            return;
        }
        it.arguments.iter().filter_map(Argument::as_expression).for_each(|it| self.record_literal(it, None));
        if !self.record(&it.callee, CaptureUse::New) {
            self.visit_expression(&it.callee);
        }
        it.arguments.iter().for_each(|argument| self.visit_argument(argument));
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        if matches!(it, Expression::StaticMemberExpression(_)) && self.record(it, CaptureUse::Read) {
            return;
        }
        walk::walk_expression(self, it);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        it.argument.iter().for_each(|argument| self.record_literal(argument, None));
        walk::walk_return_statement(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        it.body.as_expression().into_iter().for_each(|body| self.record_literal(body, None));
        walk::walk_arrow_function_expression(self, it);
    }

    fn visit_array_expression(&mut self, it: &ArrayExpression<'a>) {
        it.elements
            .iter()
            .filter_map(|element| element.as_expression())
            .for_each(|item| self.record_literal(item, None));
        walk::walk_array_expression(self, it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        let name = it.key.static_name().filter(|name| !it.computed && name != "__proto__");
        if let (Some(name), PropertyKind::Init, false) = (name, it.kind, it.method) {
            self.record_named_literal(&it.value, &name);
        }
        walk::walk_object_property(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        match &it.left {
            AssignmentTarget::AssignmentTargetIdentifier(id) => {
                self.record_named_literal(&it.right, &id.name)
            }
            _ => self.record_literal(&it.right, None),
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.record_literal(&it.consequent, None);
        self.record_literal(&it.alternate, None);
        walk::walk_conditional_expression(self, it);
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.record_literal(&it.left, None);
        self.record_literal(&it.right, None);
        walk::walk_logical_expression(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if let Some(value) = &it.value {
            let name = match &it.key {
                PropertyKey::PrivateIdentifier(key) => Some(format!("#{}", key.name)),
                key => key.static_name().map(|name| name.to_string()),
            };
            name.iter().for_each(|name| self.record_named_literal(value, name));
        }
        walk::walk_property_definition(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if let (Some(name), Some(default)) = (it.pattern.get_identifier_name(), &it.initializer) {
            self.record_named_literal(default, &name);
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_assignment_pattern(&mut self, it: &AssignmentPattern<'a>) {
        if let Some(name) = it.left.get_identifier_name() {
            self.record_named_literal(&it.right, &name);
        }
        walk::walk_assignment_pattern(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some(symbol) = self.symbol(it) {
            let variable = Some(it.name.to_string());
            let capture = Capture { variable, path: Vec::new(), usage: CaptureUse::Read, span: it.span };
            self.uses.push(Use { symbol: Some(symbol), capture });
        }
    }

    fn visit_this_expression(&mut self, it: &ThisExpression) {
        let capture = Capture { variable: None, path: Vec::new(), usage: CaptureUse::Read, span: it.span };
        self.uses.push(Use { symbol: None, capture });
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if let Some(symbol) = it.id.as_ref().and_then(|id| id.symbol_id.get()) {
            self.functions.insert(symbol, it.span);
        }
        self.own_this.push(it.span);
        walk::walk_function(self, it, flags);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (Some(id), Some(init)) = (it.id.get_binding_identifier(), &it.init)
            && is_function(init.get_inner_expression())
            && let Some(symbol) = id.symbol_id.get()
        {
            self.functions.insert(symbol, init.get_inner_expression().span());
        }
        walk::walk_variable_declarator(self, it);
    }
}
