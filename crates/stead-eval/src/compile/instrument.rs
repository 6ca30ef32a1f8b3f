//! Instruments a module so that no unknown value influences the program without an error.
//!
//! Each operation that inspects a value (a test, a comparison, a key, an iteration) guards it first; `+` and template literals
//! become deferred expressions if an operand is unknown; `new` passes its site and the enclosing instance. Operations that are
//! not rewritten fail at run time, see `prelude/unknown.js`.

use oxc_allocator::{Allocator, TakeIn};
use oxc_ast::ast::{
    Argument, AssignmentTarget, AssignmentTargetProperty, BinaryOperator, BindingPattern, Expression,
    ObjectExpression, ObjectPropertyKind, Program, PropertyKey, TemplateLiteral, UnaryOperator,
};
use oxc_ast_visit::VisitJsMut;
use oxc_span::{GetSpan, Span};
use stead_model::Code;

use super::branches::is_comparison;
use super::build::{Build, can_be_unknown};
use super::captures::{self, Capture, Captures, LiteralCaptures};
use super::implicit_calls::{ImplicitCalls, is_function};
use super::imports::Import;
use super::names::Names;
use super::operators::{binary_function, unary_function};
use crate::UnknownBranches;
use crate::program::site::{LiteralKey, Site, Usage};

/// Syntax that is not supported.
pub(super) struct UnsupportedSyntax {
    pub(super) code: Code,
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) label: &'static str,
    pub(super) help: &'static str,
}

pub(super) struct Instrumented {
    pub(super) sites: Vec<Site>,
    /// `import("…")` expressions.
    pub(super) imports: Vec<Import>,
    pub(super) awaits: Vec<Span>,
    pub(super) unsupported: Vec<UnsupportedSyntax>,
}

/// Availability of `this`.
#[derive(Clone, Copy)]
pub(super) enum This {
    Anywhere,
    /// After this offset, in the constructor of a derived class that calls `super` there.
    After(u32),
    Nowhere,
}

pub(super) struct Instrumenter<'a> {
    pub(super) build: Build<'a>,
    pub(super) branches: UnknownBranches,
    /// Values that functions given to `stead.apply` use, by the span of the call.
    pub(super) captures: Captures,
    pub(super) names: Names<'a>,
    /// Constants that the program assigns to.
    pub(super) reassigned: Vec<Span>,
    /// Expression statement being visited, whose value is discarded.
    pub(super) discarded: Option<Span>,
    /// Arrow function of a field, whose captures are recorded once it is bound to its instance.
    pub(super) field: Option<Span>,
    pub(super) implicit_calls: ImplicitCalls,
    first_site: usize,
    pub(super) out: Instrumented,
    pub(super) this: This,
    /// Number of functions that enclose the current node.
    pub(super) functions: usize,
    /// The innermost function is async.
    pub(super) asynchronous: bool,
    /// The innermost class extends another one, so its instances may be resources.
    pub(super) derived: bool,
    /// The next statement has a label.
    pub(super) labelled: bool,
}

/// Facts about a file that are collected before it is instrumented.
pub(super) struct Facts<'a> {
    pub(super) reassigned: Vec<Span>,
    pub(super) captures: Captures,
    pub(super) names: Names<'a>,
}

pub(super) fn instrument<'a>(
    allocator: &'a Allocator,
    program: &mut Program<'a>,
    first_site: usize,
    branches: UnknownBranches,
    facts: Facts<'a>,
) -> Instrumented {
    let Facts { reassigned, captures, names } = facts;
    let mut visitor = Instrumenter {
        build: Build::new(allocator),
        branches,
        reassigned,
        captures,
        names,
        discarded: None,
        field: None,
        implicit_calls: ImplicitCalls::default(),
        first_site,
        out: Instrumented {
            sites: Vec::new(),
            imports: Vec::new(),
            awaits: Vec::new(),
            unsupported: Vec::new(),
        },
        this: This::Anywhere,
        functions: 0,
        asynchronous: false,
        derived: false,
        labelled: false,
    };
    visitor.visit_program(program);
    visitor.record_named(program);
    visitor.out
}

impl<'a> Instrumenter<'a> {
    pub(super) fn site(&mut self, usage: Usage, span: Span) -> usize {
        self.site_with_keys(usage, span, Vec::new())
    }

    fn site_with_keys(&mut self, usage: Usage, span: Span, keys: Vec<LiteralKey>) -> usize {
        self.out.sites.push(Site { usage, span, keys });
        self.first_site + self.out.sites.len() - 1
    }

    pub(super) fn take(&self, expression: &mut Expression<'a>) -> Expression<'a> {
        expression.take_in(&self.build.allocator())
    }

    /// Makes an expression fail if its value is unknown.
    ///
    /// The guard covers the smallest part that determines the value, so that the error underlines it.
    pub(super) fn guard(&mut self, expression: &mut Expression<'a>, usage: Usage) {
        if can_be_unknown(expression) {
            self.guard_parts(expression, usage, Guard::Known);
        }
    }

    /// Makes an expression fail if the engine would iterate over an unknown, or take an unknown for the end of the iteration.
    pub(super) fn guard_iterable(&mut self, expression: &mut Expression<'a>, usage: Usage) {
        let is_list = matches!(
            expression,
            Expression::ArrayExpression(_) | Expression::StringLiteral(_) | Expression::TemplateLiteral(_)
        );
        if !is_list {
            self.guard_parts(expression, usage, Guard::Iterable);
        }
    }

    fn guard_parts(&mut self, expression: &mut Expression<'a>, usage: Usage, guard: Guard) {
        let part = |this: &mut Self, part: &mut Expression<'a>| match guard {
            Guard::Known => this.guard(part, usage),
            Guard::Iterable => this.guard_iterable(part, usage),
        };
        match expression {
            // The left side is already guarded.
            Expression::LogicalExpression(logical) if guard == Guard::Known => {
                part(self, &mut logical.right);
            }
            Expression::ConditionalExpression(choice) => {
                part(self, &mut choice.consequent);
                part(self, &mut choice.alternate);
            }
            Expression::SequenceExpression(sequence) => {
                if let Some(last) = sequence.expressions.last_mut() {
                    part(self, last);
                }
            }
            _ => {
                let span = expression.span();
                let site = self.site(usage, span);
                let taken = self.take(expression);
                *expression = match (&taken, guard) {
                    (_, Guard::Iterable) => self.iterable(span, taken, site),
                    (Expression::Identifier(id), _) if self.names.is_variable(&id.name) => {
                        let name = id.name.as_str();
                        let test = self.build.is_function(span, name);
                        let checked = self.known(span, self.build.name(span, name), site);
                        self.build.choose(span, test, checked, taken)
                    }
                    _ => self.known(span, taken, site),
                };
            }
        }
    }

    fn known(&self, span: Span, value: Expression<'a>, site: usize) -> Expression<'a> {
        let site = self.build.number(span, site);
        self.build.call(span, "__stead_known", [Argument::from(value), Argument::from(site)])
    }

    fn iterable(&self, span: Span, value: Expression<'a>, site: usize) -> Expression<'a> {
        let site = self.build.number(span, site);
        self.build.call(span, "__stead_iterable", [Argument::from(value), Argument::from(site)])
    }

    /// Guards the key of a computed member.
    pub(super) fn guard_key(&mut self, key: &mut PropertyKey<'a>, computed: bool) {
        if let (true, Some(expression)) = (computed, key.as_expression_mut()) {
            self.guard(expression, Usage::Key);
        }
    }

    /// Guards `done` in an iterator result `{ value, done }`, which only the engine inspects.
    pub(super) fn guard_done(&mut self, object: &mut ObjectExpression<'a>) {
        let is_result = |property: &ObjectPropertyKind<'a>| match property {
            ObjectPropertyKind::ObjectProperty(property) if !property.computed => {
                property.key.is_specific_static_name("done") || property.key.is_specific_static_name("value")
            }
            _ => false,
        };
        if !object.properties.iter().all(is_result) {
            return;
        }
        for property in &mut object.properties {
            if let ObjectPropertyKind::ObjectProperty(property) = property
                && property.key.is_specific_static_name("done")
            {
                self.guard(&mut property.value, Usage::Done);
            }
        }
    }

    /// Guards the source of a pattern that iterates over it or over a part of it.
    ///
    /// The guard is always a call, because the engine reports errors of the parts at the position of the last call.
    pub(super) fn guard_pattern_source(&mut self, iterates: Iterates, source: &mut Expression<'a>) {
        if iterates == Iterates::No {
            return;
        }
        let span = source.span();
        let site = self.site(Usage::Destructure, span);
        let taken = self.take(source);
        *source = match iterates {
            Iterates::Itself => self.iterable(span, taken, site),
            Iterates::Part | Iterates::No => self.known(span, taken, site),
        };
    }

    /// Checks the source of an object pattern for the members that the pattern reads, if it may be unknown or a resource. The
    /// engine would report a member that the type does not have at another position.
    pub(super) fn check_pattern_members(
        &mut self,
        pattern: &BindingPattern<'a>,
        source: &mut Expression<'a>,
    ) {
        let BindingPattern::ObjectPattern(object) = pattern else { return };
        if !can_be_unknown(source) || object.rest.is_some() {
            return;
        }
        let span = source.span();
        let site = self.site(Usage::Destructure, span);
        let taken = self.take(source);
        let mut arguments = vec![taken, self.build.number(span, site)];
        for property in object.properties.iter().filter(|property| !property.computed) {
            arguments.extend(property.key.static_name().map(|name| self.build.text(span, &name)));
        }
        let arguments: Vec<_> = arguments.into_iter().map(Argument::from).collect();
        *source = self.build.call(span, "__stead_members", arguments);
    }

    /// Rewrites `apply(x, f)` to `apply(x, __stead_capture(f, () => y, site, "read", "member"))` for each value that `f` uses.
    pub(super) fn record_captures(&mut self, call: Span, arguments: &mut [Argument<'a>]) {
        let Some(captures) = self.captures.calls.remove(&call) else { return };
        let position = captures::position(arguments);
        let usage = if position == 0 { Usage::CaptureEphemeral } else { Usage::Capture };
        let Some(function) = arguments.get_mut(position).and_then(Argument::as_expression_mut) else {
            return;
        };
        *function = captures.iter().fold(self.take(function), |f, it| self.capture(f, it, usage));
    }

    /// Records the captures of a function without a name of its own, once it is instrumented.
    pub(super) fn record_literal(&mut self, expression: &mut Expression<'a>) {
        if !is_function(expression) {
            return;
        }
        let span = expression.span();
        if self.field == Some(span) {
            return;
        }
        let Some(literal) = self.captures.literals.remove(&span) else { return };
        self.apply_literal(expression, &literal);
    }

    /// Records the captures of a function: `__stead_capture(f, …)`.
    pub(super) fn apply_literal(&mut self, expression: &mut Expression<'a>, literal: &LiteralCaptures) {
        let span = expression.span();
        let mut function = self.take(expression);
        // The name of the member, which the language gives only to a function that is its whole value.
        if let Some(name) = &literal.name {
            let arguments = [self.build.undefined(span), function, self.build.text(span, name)];
            function = self.build.call(span, "__stead_own", arguments.map(Argument::from));
        }
        *expression = literal.captures.iter().fold(function, |f, it| self.capture(f, it, Usage::Capture));
    }

    /// Returns `__stead_capture(f, () => y, site, "read", "member")`.
    fn capture(&mut self, function: Expression<'a>, capture: &Capture, usage: Usage) -> Expression<'a> {
        let span = capture.span;
        let value = match &capture.variable {
            Some(name) => self.build.name(span, self.build.allocator().alloc_str(name)),
            None => self.build.this(span),
        };
        let site = self.site(usage, span);
        let mut all = vec![function, self.build.thunk(value), self.build.number(span, site)];
        all.push(self.build.text(span, capture.usage.name()));
        all.extend(capture.path.iter().map(|key| self.build.text(span, key)));
        let all: Vec<_> = all.into_iter().map(Argument::from).collect();
        self.build.call(span, "__stead_capture", all)
    }

    /// Adds `__stead_capture_later(() => (__stead_capture(f, …), …))` for the functions that the file names at its top level:
    /// one may be deferred by another name, or called by a function that is deferred.
    fn record_named(&mut self, program: &mut Program<'a>) {
        let named = std::mem::take(&mut self.captures.named);
        if named.is_empty() {
            return;
        }
        let span = Span::empty(program.span.end);
        let mut all = Vec::with_capacity(named.len());
        for (name, captures) in named {
            let function = self.build.name(span, self.build.allocator().alloc_str(&name));
            all.push(captures.iter().fold(function, |f, it| self.capture(f, it, Usage::Capture)));
        }
        let thunk = self.build.thunk(self.build.sequence_of(span, all));
        let call = self.build.call(span, "__stead_capture_later", [Argument::from(thunk)]);
        program.body.push(self.build.statement(span, call));
    }

    /// Rewrites an expression whose parts are already instrumented.
    pub(super) fn rewrite(&mut self, expression: &mut Expression<'a>) {
        match expression {
            Expression::BinaryExpression(binary)
                if can_be_unknown(&binary.left)
                    || can_be_unknown(&binary.right)
                    || matches!(
                        binary.operator,
                        // A class or an object literal may have a `Symbol.hasInstance`.
                        BinaryOperator::Exponential | BinaryOperator::Instanceof
                    ) =>
            {
                if self.defers_comparisons() && is_comparison(binary.operator) {
                    self.defer_comparison(expression);
                } else if binary.operator == BinaryOperator::Instanceof {
                    let span = binary.span;
                    let site = self.site(Usage::InstanceOf, span);
                    let (left, right) = (self.take(&mut binary.left), self.take(&mut binary.right));
                    let arguments = [left, right, self.build.number(span, site)].map(Argument::from);
                    *expression = self.build.call(span, "__stead_instance", arguments);
                } else if let Some(function) = binary_function(binary.operator) {
                    let (span, operator) = (binary.span, binary.operator);
                    let (left, right) = (self.take(&mut binary.left), self.take(&mut binary.right));
                    *expression = self.operation(span, operator, function, left, right);
                }
            }
            Expression::UnaryExpression(unary) if can_be_unknown(&unary.argument) => {
                match unary_function(unary.operator) {
                    Some(function) => self.unary(expression, function),
                    None if unary.operator == UnaryOperator::Typeof => self.type_of(expression),
                    None if self.defers_comparisons() => self.defer_comparison(expression),
                    None => {}
                }
            }
            Expression::TemplateLiteral(template) if template.expressions.iter().any(can_be_unknown) => {
                *expression = self.template(template);
            }
            Expression::AssignmentExpression(_) => self.assignment(expression),
            Expression::NewExpression(_) => self.allocation(expression),
            Expression::ConditionalExpression(_) | Expression::LogicalExpression(_) => {
                self.defer_choice(expression);
            }
            Expression::AwaitExpression(_) => self.rewrite_await(expression),
            _ => {}
        }
    }

    /// Rewrites `` `a${x}b` `` to `__stead_text("a", x, "b")`; if all holes are names, only when one is unknown.
    fn template(&mut self, template: &mut TemplateLiteral<'a>) -> Expression<'a> {
        let span = template.span;
        let names: Option<Vec<&'a str>> = template
            .expressions
            .iter()
            .filter(|hole| can_be_unknown(hole))
            .map(|hole| match hole {
                Expression::Identifier(id) if self.names.is_variable(&id.name) => Some(id.name.as_str()),
                _ => None,
            })
            .collect();
        let names = names.filter(|names| names.len() <= 3 && names.len() == template.expressions.len());
        let plain = names.as_ref().map(|_| self.build.copy(&*template));
        let allocator = self.build.allocator();
        let mut holes = template.expressions.take_in(&allocator).into_iter();
        let mut arguments = Vec::new();
        for piece in template.quasis.take_in(&allocator) {
            arguments.push(Argument::from(self.build.template_piece(piece)));
            arguments.extend(holes.next().map(Argument::from));
        }
        let call = self.build.call(span, "__stead_text", arguments);
        let (Some(names), Some(plain)) = (names, plain) else { return call };
        let tests = names.iter().map(|name| self.build.is_function(span, name));
        let test = tests
            .reduce(|left, right| self.build.logical(span, left, oxc_ast::ast::LogicalOperator::Or, right));
        match test {
            Some(test) => self.build.choose(span, test, call, self.build.template(plain)),
            None => call,
        }
    }

    /// Guards the operand of `typeof`, which must not fail for an undeclared name.
    fn type_of(&mut self, expression: &mut Expression<'a>) {
        let Expression::UnaryExpression(unary) = expression else { return };
        match &unary.argument {
            Expression::Identifier(id) if can_be_unknown(&unary.argument) => {
                let (span, name) = (unary.span, id.name.as_str());
                let site = self.site(Usage::TypeOf, id.span);
                let checked = self.known(span, self.build.name(span, name), site);
                let test = match self.names.is_variable(name) || self.names.has_with {
                    true => self.build.is_function(span, name),
                    // A getter of the global object runs once.
                    false => {
                        let name = Argument::from(self.build.string(span, name));
                        self.build.call(span, "__stead_is_global", [name])
                    }
                };
                let plain = self.take(expression);
                *expression = self.build.choose(span, test, self.build.type_of(span, checked), plain);
            }
            _ => self.guard(&mut unary.argument, Usage::TypeOf),
        }
    }

    /// Rewrites `new C(…)` to `__stead_make(site, this, C, …)`.
    fn allocation(&mut self, expression: &mut Expression<'a>) {
        let Expression::NewExpression(new) = expression else { return };
        let span = new.span;
        let keys = new.arguments.iter().flat_map(literal_keys).collect();
        let site = self.site_with_keys(Usage::New, span, keys);
        let readable = match self.this {
            This::Anywhere => true,
            This::After(position) => span.start >= position,
            This::Nowhere => false,
        };
        let this = if readable { self.build.this(span) } else { self.build.undefined(span) };
        let callee = new.callee.take_in(&self.build.allocator());
        let arguments = new.arguments.take_in(&self.build.allocator());
        let mut all = vec![Argument::from(self.build.number(span, site)), Argument::from(this)];
        all.push(Argument::from(callee));
        all.extend(arguments);
        *expression = self.build.call(span, "__stead_make", all);
    }
}

fn literal_keys<'a>(argument: &Argument<'a>) -> Vec<LiteralKey> {
    let Argument::ObjectExpression(object) = argument else { return Vec::new() };
    let properties = object.properties.iter().filter_map(|property| match property {
        ObjectPropertyKind::ObjectProperty(property) if !property.computed => {
            let name = property.key.static_name()?.to_string();
            Some(LiteralKey { name, span: property.key.span() })
        }
        _ => None,
    });
    properties.collect()
}

/// Part of a pattern that iterates over its source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Iterates {
    /// The pattern is an array pattern.
    Itself,
    /// A nested pattern iterates over a part of the source, or a rest element over its keys.
    Part,
    No,
}

/// Value that a guard lets pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    Known,
    Iterable,
}

/// Returns the part of a pattern that iterates.
pub(super) fn iterating(pattern: &BindingPattern<'_>) -> Iterates {
    match pattern {
        BindingPattern::ArrayPattern(_) => Iterates::Itself,
        pattern if iterates(pattern) => Iterates::Part,
        _ => Iterates::No,
    }
}

/// Returns true if a pattern or a nested one iterates: an array pattern, or an object pattern with a rest element.
fn iterates(pattern: &BindingPattern<'_>) -> bool {
    match pattern {
        BindingPattern::BindingIdentifier(_) => false,
        BindingPattern::ArrayPattern(_) => true,
        BindingPattern::ObjectPattern(object) => {
            object.rest.is_some() || object.properties.iter().any(|property| iterates(&property.value))
        }
        BindingPattern::AssignmentPattern(assignment) => iterates(&assignment.left),
    }
}

/// Returns true if an assignment target may iterate. Nested object patterns count as iterating.
pub(super) fn target_iterates(target: &AssignmentTarget<'_>) -> bool {
    matches!(target, AssignmentTarget::ArrayAssignmentTarget(_) | AssignmentTarget::ObjectAssignmentTarget(_))
        && !only_names(target)
}

fn only_names(target: &AssignmentTarget<'_>) -> bool {
    let AssignmentTarget::ObjectAssignmentTarget(object) = target else { return false };
    let plain = |property: &AssignmentTargetProperty<'_>| {
        matches!(property, AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(_))
    };
    object.rest.is_none() && object.properties.iter().all(plain)
}

/// Returns true for exactly one argument that is not spread, as in `Array(n)`.
pub(super) fn single(arguments: &[Argument<'_>]) -> bool {
    arguments.len() == 1 && !matches!(arguments[0], Argument::SpreadElement(_))
}
