//! Defers expressions that choose between values, if branches on unknown values are allowed.
//!
//! Both arms are evaluated, so they must be free of side effects: an arm with an assignment or `await` is not deferred, and an
//! arm that creates a resource fails at run time.

use oxc_allocator::TakeIn;
use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, AwaitExpression,
    BinaryOperator, CallExpression, Class, Expression, Function, ImportExpression, LogicalOperator,
    TaggedTemplateExpression, UnaryExpression, UnaryOperator, UpdateExpression, YieldExpression,
};
use oxc_ast_visit::{VisitJs, walk_js as walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::build::can_be_unknown;
use super::implicit_calls::is_function;
use super::instrument::Instrumenter;
use super::operators::RESULT;
use crate::UnknownBranches;
use crate::program::site::Usage;
use crate::unknown::builtins::{MethodKind, is_global, method};

impl<'a> Instrumenter<'a> {
    /// Returns true if a choice between these arms can be deferred. `span` is the span of the whole expression.
    pub(super) fn is_deferrable_choice(
        &self,
        span: Span,
        test: &Expression<'a>,
        arms: &[&Expression<'a>],
    ) -> bool {
        self.branches == UnknownBranches::Allow
            && self.discarded != Some(span)
            && can_be_unknown(test)
            && arms.iter().all(|arm| is_value(arm))
    }

    pub(super) fn defers_comparisons(&self) -> bool {
        self.branches == UnknownBranches::Allow
    }

    /// Rewrites `test ? a : b` to `__stead_choose(test, () => a, () => b, site)`, and likewise `&&`, `||`, `??`.
    pub(super) fn defer_choice(&mut self, expression: &mut Expression<'a>) {
        let span = expression.span();
        let (function, usage, test, arms) = match expression {
            Expression::ConditionalExpression(choice)
                if self.is_deferrable_choice(
                    span,
                    &choice.test,
                    &[&choice.consequent, &choice.alternate],
                ) =>
            {
                let arms = vec![self.take(&mut choice.consequent), self.take(&mut choice.alternate)];
                ("__stead_choose", Usage::Choose, self.take(&mut choice.test), arms)
            }
            Expression::LogicalExpression(logical)
                if self.is_deferrable_choice(span, &logical.left, &[&logical.right]) =>
            {
                let (function, usage) = match logical.operator {
                    LogicalOperator::And => ("__stead_both", Usage::Logical),
                    LogicalOperator::Or => ("__stead_either", Usage::Logical),
                    LogicalOperator::Coalesce => ("__stead_default", Usage::Nullish),
                };
                (function, usage, self.take(&mut logical.left), vec![self.take(&mut logical.right)])
            }
            _ => return,
        };
        let site = self.site(usage, test.span());
        let arms = arms.into_iter().map(|arm| self.build.thunk(arm)).collect::<Vec<_>>();
        let all = std::iter::once(test).chain(arms).chain([self.build.number(span, site)]);
        *expression = self.build.call(span, function, all.map(Argument::from).collect::<Vec<_>>());
    }

    /// Rewrites `a < b` to `__stead_compare("<", a, b, site)`, and `!a` to `__stead_not(a, site)`.
    pub(super) fn defer_comparison(&mut self, expression: &mut Expression<'a>) {
        let span = expression.span();
        match expression {
            Expression::BinaryExpression(binary) if is_comparison(binary.operator) => {
                let operator = self.build.string(span, binary.operator.as_str());
                let (left, right) = (self.take(&mut binary.left), self.take(&mut binary.right));
                let site = self.site(Usage::Compare, span);
                let arguments = [operator, left, right, self.build.number(span, site)].map(Argument::from);
                *expression = self.build.call(span, "__stead_compare", arguments);
            }
            Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::LogicalNot => {
                let argument = unary.argument.take_in(&self.build.allocator());
                let site = self.site(Usage::Not, argument.span());
                let arguments = [argument, self.build.number(span, site)].map(Argument::from);
                *expression = self.build.call(span, "__stead_not", arguments);
            }
            _ => {}
        }
    }
}

pub(super) fn is_comparison(operator: BinaryOperator) -> bool {
    operator.is_equality() || operator.is_compare()
}

/// Returns true if the syntax of an expression shows no side effect.
pub(super) fn is_value(expression: &Expression<'_>) -> bool {
    let mut effects = SideEffects(false);
    effects.visit_expression(expression);
    !effects.0
}

struct SideEffects(bool);

impl<'a> VisitJs<'a> for SideEffects {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        // Instrumentation assigns to `RESULT`; that is no side effect of the program.
        match &it.left {
            AssignmentTarget::AssignmentTargetIdentifier(id) if id.name == RESULT => {
                walk::walk_assignment_expression(self, it);
            }
            _ => self.0 = true,
        }
    }

    fn visit_update_expression(&mut self, _: &UpdateExpression<'a>) {
        self.0 = true;
    }

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.0 = true;
    }

    fn visit_yield_expression(&mut self, _: &YieldExpression<'a>) {
        self.0 = true;
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        self.0 |= it.operator == UnaryOperator::Delete;
        walk::walk_unary_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &oxc_ast::ast::CallExpression<'a>) {
        // A rewritten assignment.
        let name = it.callee.get_identifier_reference().map(|name| name.name.as_str());
        self.0 |= matches!(name, Some("__stead_operate_on"));
        walk::walk_call_expression(self, it);
    }

    // The body of a function runs only when it is called.
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let _ = it;
    }
    fn visit_class(&mut self, _: &Class<'a>) {}
}

/// Returns true if an instrumented expression calls no function of the program, as far as the names tell.
pub(super) fn is_pure(expression: &Expression<'_>) -> bool {
    let mut calls = Calls(false);
    calls.visit_expression(expression);
    !calls.0
}

/// Finds calls other than those of the runtime and of built-ins that are known as pure.
struct Calls(bool);

impl<'a> VisitJs<'a> for Calls {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let pure = match it.callee.get_inner_expression() {
            Expression::Identifier(id) => match id.name.as_str() {
                "__stead_make" | "__stead_thrown" | "__stead_operate_on" => false,
                name => name.starts_with("__stead_") || is_global(name),
            },
            Expression::StaticMemberExpression(member) => match &member.object {
                Expression::Identifier(owner)
                    if is_global(&format!("{}.{}", owner.name, member.property.name)) =>
                {
                    true
                }
                _ => method(&member.property.name) == MethodKind::Pure,
            },
            _ => false,
        };
        let calls_back = it.arguments.iter().filter_map(Argument::as_expression).any(is_function);
        self.0 |= !pure || calls_back && !is_capture(it);
        walk::walk_call_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, _: &TaggedTemplateExpression<'a>) {
        self.0 = true;
    }

    fn visit_import_expression(&mut self, _: &ImportExpression<'a>) {
        self.0 = true;
    }

    // The body of a function runs only when it is called.
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
}

/// Returns true for calls of the runtime, which do not call the functions that they take.
fn is_capture(call: &CallExpression<'_>) -> bool {
    call.callee.get_identifier_reference().is_some_and(|id| id.name.as_str().starts_with("__stead_"))
}
