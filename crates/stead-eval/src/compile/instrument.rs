//! Rewrites a module so that no value that exists only after apply can decide anything unseen.
//!
//! Where the language looks at a value (a test, a comparison, a key, an iteration), the value passes a guard
//! first; `+` and template literals become expressions if they meet an unknown; `new` reports its site and the
//! instance around it. What is not rewritten must fail by itself when it meets an unknown: that is the
//! runtime's part.

use oxc_allocator::{Allocator, TakeIn};
use oxc_ast::ast::{
    Argument, AssignmentTarget, AssignmentTargetProperty, BindingPattern, Expression, ObjectExpression,
    ObjectPropertyKind, Program, PropertyKey, TemplateLiteral, UnaryOperator,
};
use oxc_ast_visit::VisitJsMut;
use oxc_span::{GetSpan, Span};
use stead_model::Code;

use super::branches::is_comparison;
use super::build::{Build, can_be_unknown};
use super::conversions::Conversions;
use super::imports::Import;
use super::operators::{binary_function, unary_function};
use crate::UnknownBranches;
use crate::site::{LiteralKey, Site, Use};

/// Something that cannot be instrumented, or must not be there.
pub(super) struct Refused {
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
    pub(super) refused: Vec<Refused>,
}

/// Where `this` can be read.
#[derive(Clone, Copy)]
pub(super) enum This {
    Anywhere,
    /// In the constructor of a derived class, behind the statement that calls `super`.
    After(u32),
    Nowhere,
}

pub(super) struct Instrument<'a> {
    pub(super) build: Build<'a>,
    pub(super) branches: UnknownBranches,
    /// The expression whose value nobody looks at: a statement.
    pub(super) discarded: Option<Span>,
    pub(super) conversions: Conversions,
    first_site: usize,
    pub(super) out: Instrumented,
    pub(super) this: This,
    /// How many functions stand around the current node.
    pub(super) functions: usize,
    /// The innermost function is an async one.
    pub(super) asynchronous: bool,
    /// The innermost class derives from another: only such a one can be a resource.
    pub(super) derived: bool,
    /// The next statement has a label.
    pub(super) labelled: bool,
}

pub(super) fn instrument<'a>(
    allocator: &'a Allocator,
    program: &mut Program<'a>,
    first_site: usize,
    branches: UnknownBranches,
) -> Instrumented {
    let mut visitor = Instrument {
        build: Build::new(allocator),
        branches,
        discarded: None,
        conversions: Conversions::default(),
        first_site,
        out: Instrumented { sites: Vec::new(), imports: Vec::new(), awaits: Vec::new(), refused: Vec::new() },
        this: This::Anywhere,
        functions: 0,
        asynchronous: false,
        derived: false,
        labelled: false,
    };
    visitor.visit_program(program);
    visitor.out
}

impl<'a> Instrument<'a> {
    pub(super) fn site(&mut self, usage: Use, span: Span) -> usize {
        self.site_with_keys(usage, span, Vec::new())
    }

    fn site_with_keys(&mut self, usage: Use, span: Span, keys: Vec<LiteralKey>) -> usize {
        self.out.sites.push(Site { usage, span, keys });
        self.first_site + self.out.sites.len() - 1
    }

    pub(super) fn take(&self, expression: &mut Expression<'a>) -> Expression<'a> {
        expression.take_in(&self.build.allocator())
    }

    /// Makes an expression fail if its value is an unknown. The smallest part that decides is guarded, so that
    /// the error underlines that.
    pub(super) fn guard(&mut self, expression: &mut Expression<'a>, usage: Use) {
        if !can_be_unknown(expression) {
            return;
        }
        match expression {
            // The left side is guarded already, wherever it can be the result.
            Expression::LogicalExpression(logical) => self.guard(&mut logical.right, usage),
            Expression::ConditionalExpression(choice) => {
                self.guard(&mut choice.consequent, usage);
                self.guard(&mut choice.alternate, usage);
            }
            Expression::SequenceExpression(sequence) => {
                if let Some(last) = sequence.expressions.last_mut() {
                    self.guard(last, usage);
                }
            }
            _ => {
                let span = expression.span();
                let site = self.site(usage, span);
                let taken = self.take(expression);
                *expression = match &taken {
                    Expression::Identifier(id) => {
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

    /// The key of a computed member; other keys are fixed.
    pub(super) fn guard_key(&mut self, key: &mut PropertyKey<'a>, computed: bool) {
        if let (true, Some(expression)) = (computed, key.as_expression_mut()) {
            self.guard(expression, Use::Key);
        }
    }

    /// `{ value, done }`: what an iterator gives. The engine looks at `done` where nobody can see it.
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
                self.guard(&mut property.value, Use::Done);
            }
        }
    }

    /// A pattern that iterates over its value, or over a part of it. The guard is a call in any case: what the
    /// engine then does to the parts is reported at the place of the last call.
    pub(super) fn guard_pattern_source(&mut self, iterates: bool, source: &mut Expression<'a>) {
        if iterates {
            let span = source.span();
            let site = self.site(Use::Destructure, span);
            let taken = self.take(source);
            *source = self.known(span, taken, site);
        }
    }

    /// Rewrites an expression whose parts have been instrumented.
    pub(super) fn rewrite(&mut self, expression: &mut Expression<'a>) {
        match expression {
            Expression::BinaryExpression(binary)
                if can_be_unknown(&binary.left) || can_be_unknown(&binary.right) =>
            {
                if self.compared_later() && is_comparison(binary.operator) {
                    self.compare_later(expression);
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
                    None if self.compared_later() => self.compare_later(expression),
                    None => {}
                }
            }
            Expression::TemplateLiteral(template) if template.expressions.iter().any(can_be_unknown) => {
                *expression = self.template(template);
            }
            Expression::AssignmentExpression(_) => self.assignment(expression),
            Expression::NewExpression(_) => self.allocation(expression),
            Expression::ConditionalExpression(_) | Expression::LogicalExpression(_) => {
                self.choose_later(expression);
            }
            Expression::AwaitExpression(_) => self.awaited(expression),
            _ => {}
        }
    }

    /// `` `a${x}b` `` → `__stead_text("a", x, "b")`, unless all holes are names that can be looked at first.
    fn template(&mut self, template: &mut TemplateLiteral<'a>) -> Expression<'a> {
        let span = template.span;
        let names: Option<Vec<&'a str>> = template
            .expressions
            .iter()
            .filter(|hole| can_be_unknown(hole))
            .map(|hole| match hole {
                Expression::Identifier(id) => Some(id.name.as_str()),
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

    /// `typeof x` must not fail for a name that is not declared, so that the guard stands around it.
    fn type_of(&mut self, expression: &mut Expression<'a>) {
        let Expression::UnaryExpression(unary) = expression else { return };
        match &unary.argument {
            Expression::Identifier(id) if can_be_unknown(&unary.argument) => {
                let (span, name) = (unary.span, id.name.as_str());
                let site = self.site(Use::TypeOf, id.span);
                let checked = self.known(span, self.build.name(span, name), site);
                let test = self.build.is_function(span, name);
                let plain = self.take(expression);
                *expression = self.build.choose(span, test, self.build.type_of(span, checked), plain);
            }
            _ => self.guard(&mut unary.argument, Use::TypeOf),
        }
    }

    /// `new C(…)` → `__stead_make(site, this, C, …)`.
    fn allocation(&mut self, expression: &mut Expression<'a>) {
        let Expression::NewExpression(new) = expression else { return };
        let span = new.span;
        let keys = new.arguments.iter().flat_map(literal_keys).collect();
        let site = self.site_with_keys(Use::New, span, keys);
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

/// Whether a pattern, or one inside it, iterates: array patterns do, and those that take the rest of an object.
pub(super) fn iterates(pattern: &BindingPattern<'_>) -> bool {
    match pattern {
        BindingPattern::BindingIdentifier(_) => false,
        BindingPattern::ArrayPattern(_) => true,
        BindingPattern::ObjectPattern(object) => {
            object.rest.is_some() || object.properties.iter().any(|property| iterates(&property.value))
        }
        BindingPattern::AssignmentPattern(assignment) => iterates(&assignment.left),
    }
}

/// The same for a pattern on the left of `=`. Nested object patterns are taken to iterate: it costs little.
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

/// The elements that are written out, for `Array(n)`.
pub(super) fn single(arguments: &[Argument<'_>]) -> bool {
    arguments.len() == 1 && !matches!(arguments[0], Argument::SpreadElement(_))
}
