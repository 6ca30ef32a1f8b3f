//! Operators that can be put off: arithmetic, bits and `+`.
//!
//! Each becomes a call of its own function of the runtime, which is exact for known values. Where both sides are
//! names or literals, the call is made only if one of them can be an unknown.

use oxc_ast::ast::{Argument, BinaryOperator, Expression, LogicalOperator, UnaryOperator};
use oxc_span::Span;

use super::instrument::Instrument;
use crate::site::Use;

/// What the left side of an operator gave, until the operator looks at it.
pub(super) const RESULT: &str = "__stead_result";

/// The runtime's function for an operator that can be put off.
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

pub(super) fn operation_use(operator: BinaryOperator) -> Use {
    if operator == BinaryOperator::Addition { Use::Add } else { Use::Arithmetic }
}

impl<'a> Instrument<'a> {
    pub(super) fn operation(
        &mut self,
        span: Span,
        operator: BinaryOperator,
        function: &'static str,
        left: Expression<'a>,
        right: Expression<'a>,
    ) -> Expression<'a> {
        if matches!(simple_name(&left), Simple::No) && !matches!(simple_name(&right), Simple::No) {
            return self.operation_on_result(span, operator, function, left, right);
        }
        let names = [simple_name(&left), simple_name(&right)];
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

    /// `f() - y` → `typeof (t = f()) === "function" || typeof y === "function" ? __stead_minus(t, y, site) : t - y`.
    /// Nothing runs between setting `t` and reading it, so that one for the whole module is enough.
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
        if let Simple::Name(name) = simple_name(&right) {
            test = self.build.logical(span, test, LogicalOperator::Or, self.build.is_function(span, name));
        }
        let site = self.site(operation_use(operator), span);
        let plain = self.build.binary(span, self.build.name(span, RESULT), operator, self.build.copy(&right));
        let arguments = [self.build.name(span, RESULT), right, self.build.number(span, site)];
        let call = self.build.call(span, function, arguments.map(Argument::from));
        self.build.choose(span, test, call, plain)
    }

    /// `-x` → `__stead_negative(x, site)`.
    pub(super) fn unary(&mut self, expression: &mut Expression<'a>, function: &'static str) {
        let Expression::UnaryExpression(unary) = expression else { return };
        let span = unary.span;
        let site = self.site(Use::Arithmetic, span);
        let site = self.build.number(span, site);
        let argument = self.take(&mut unary.argument);
        *expression = self.build.call(span, function, [argument, site].map(Argument::from));
    }
}

enum Simple<'a> {
    Name(&'a str),
    /// It cannot be an unknown, and looking at it twice changes nothing.
    Literal,
    No,
}

fn simple_name<'a>(expression: &Expression<'a>) -> Simple<'a> {
    match expression {
        Expression::Identifier(id) => Simple::Name(id.name.as_str()),
        Expression::StringLiteral(_) | Expression::NumericLiteral(_) => Simple::Literal,
        _ => Simple::No,
    }
}
