//! Rewrites operators that can be deferred: arithmetic, bitwise operators and `+`.
//!
//! Each becomes a call of a runtime function with the semantics of the operator. If both operands are names or literals, the call
//! is made only if one of them may be unknown.

use oxc_ast::ast::{Argument, BinaryOperator, Expression, LogicalOperator, UnaryOperator};
use oxc_span::Span;

use super::instrument::Instrumenter;
use crate::program::site::Usage;

/// Variable that holds the left operand until the operator uses it.
pub(super) const RESULT: &str = "__stead_result";

/// Returns the runtime function for an operator that can be deferred.
pub(super) fn binary_function(operator: BinaryOperator) -> Option<&'static str> {
    Some(match operator {
        BinaryOperator::Addition => "__stead_add",
        BinaryOperator::Subtraction => "__stead_minus",
        BinaryOperator::Multiplication => "__stead_times",
        BinaryOperator::Division => "__stead_over",
        BinaryOperator::Remainder => "__stead_modulo",
        BinaryOperator::Exponential => "__stead_power",
        BinaryOperator::ShiftLeft => "__stead_shl",
        BinaryOperator::ShiftRight => "__stead_shr",
        BinaryOperator::ShiftRightZeroFill => "__stead_ushr",
        BinaryOperator::BitwiseAnd => "__stead_and",
        BinaryOperator::BitwiseOR => "__stead_or",
        BinaryOperator::BitwiseXOR => "__stead_xor",
        BinaryOperator::Equality
        | BinaryOperator::Inequality
        | BinaryOperator::StrictEquality
        | BinaryOperator::StrictInequality
        | BinaryOperator::LessThan
        | BinaryOperator::LessEqualThan
        | BinaryOperator::GreaterThan
        | BinaryOperator::GreaterEqualThan
        | BinaryOperator::In
        | BinaryOperator::Instanceof => return None,
    })
}

pub(super) fn unary_function(operator: UnaryOperator) -> Option<&'static str> {
    match operator {
        UnaryOperator::UnaryNegation => Some("__stead_negative"),
        UnaryOperator::UnaryPlus => Some("__stead_positive"),
        UnaryOperator::BitwiseNot => Some("__stead_flip"),
        UnaryOperator::LogicalNot | UnaryOperator::Typeof | UnaryOperator::Void | UnaryOperator::Delete => {
            None
        }
    }
}

pub(super) fn operation_use(operator: BinaryOperator) -> Usage {
    if operator == BinaryOperator::Addition { Usage::Add } else { Usage::Arithmetic }
}

impl<'a> Instrumenter<'a> {
    pub(super) fn operation(
        &mut self,
        span: Span,
        operator: BinaryOperator,
        function: &'static str,
        left: Expression<'a>,
        right: Expression<'a>,
    ) -> Expression<'a> {
        if operator == BinaryOperator::Exponential {
            return self.power(span, function, left, right);
        }
        let names = [self.simple_name(&left), self.simple_name(&right)];
        if matches!(names, [Simple::No, Simple::Name(_) | Simple::Literal]) {
            return self.operation_on_result(span, operator, function, left, right);
        }
        let copies = (self.build.copy(&left), self.build.copy(&right));
        let site = self.site(operation_use(operator), span);
        let site = self.build.number(span, site);
        let call = self.build.call(span, function, [left, right, site].map(Argument::from));
        if names.iter().any(|name| matches!(name, Simple::No)) {
            return call;
        }
        let tests = names.into_iter().filter_map(|name| match name {
            Simple::Name(name) => Some(self.build.is_function(span, name)),
            _ => None,
        });
        match tests.reduce(|left, right| self.build.logical(span, left, LogicalOperator::Or, right)) {
            Some(test) => {
                let plain = self.build.binary(span, copies.0, operator, copies.1);
                self.build.choose(span, test, call, plain)
            }
            None => call,
        }
    }

    /// Rewrites `x ** y` to a call for all values, because the engine takes powers from the C library of the platform.
    fn power(
        &mut self,
        span: Span,
        function: &'static str,
        left: Expression<'a>,
        right: Expression<'a>,
    ) -> Expression<'a> {
        let site = self.site(operation_use(BinaryOperator::Exponential), span);
        let site = self.build.number(span, site);
        self.build.call(span, function, [left, right, site].map(Argument::from))
    }

    /// Rewrites `f() - y` to
    /// `typeof (t = f()) === "function" || typeof y === "function" ? __stead_minus(t, y, site) : t - y`.
    ///
    /// No other code runs between the assignment of `t` and its use, so one variable for the module is enough.
    fn operation_on_result(
        &mut self,
        span: Span,
        operator: BinaryOperator,
        function: &'static str,
        left: Expression<'a>,
        right: Expression<'a>,
    ) -> Expression<'a> {
        let stored = self.build.name_target(span, RESULT);
        let stored = self.build.assign(span, stored, left);
        let mut test = self.build.is_function_value(span, stored);
        if let Simple::Name(name) = self.simple_name(&right) {
            test = self.build.logical(span, test, LogicalOperator::Or, self.build.is_function(span, name));
        }
        let site = self.site(operation_use(operator), span);
        let plain = self.build.binary(span, self.build.name(span, RESULT), operator, self.build.copy(&right));
        let arguments = [self.build.name(span, RESULT), right, self.build.number(span, site)];
        let call = self.build.call(span, function, arguments.map(Argument::from));
        self.build.choose(span, test, call, plain)
    }

    /// Rewrites `-x` to `__stead_negative(x, site)`.
    pub(super) fn unary(&mut self, expression: &mut Expression<'a>, function: &'static str) {
        let Expression::UnaryExpression(unary) = expression else { return };
        let span = unary.span;
        let site = self.site(Usage::Arithmetic, span);
        let site = self.build.number(span, site);
        let argument = self.take(&mut unary.argument);
        *expression = self.build.call(span, function, [argument, site].map(Argument::from));
    }

    fn simple_name(&self, expression: &Expression<'a>) -> Simple<'a> {
        match expression {
            Expression::Identifier(id) if self.names.is_variable(&id.name) => Simple::Name(id.name.as_str()),
            Expression::StringLiteral(_) | Expression::NumericLiteral(_) => Simple::Literal,
            _ => Simple::No,
        }
    }
}

enum Simple<'a> {
    /// A variable, which can be read twice.
    Name(&'a str),
    /// A literal: never unknown, and safe to evaluate twice.
    Literal,
    No,
}
