//! Keeps the transformer from computing `**` in enums with the C library of the platform.
//!
//! A power of literals is computed here; any other is left to the program. The transformer then no longer knows whether the
//! member is a number, so a file that also joins text in an enum is refused.

use oxc_allocator::{Allocator, TakeIn};
use oxc_ast::ast::{BinaryOperator, Expression, Program, TSEnumMember, UnaryOperator};
use oxc_ast_visit::{VisitJsMut, walk_js_mut as walk};
use oxc_span::Span;
use stead_model::{Code, Diagnostic};

use super::build::Build;
use crate::math;
use crate::program::source_text::SourceText;

pub(super) fn correct<'a>(
    allocator: &'a Allocator,
    source: &SourceText,
    program: &mut Program<'a>,
) -> Result<(), Vec<Diagnostic>> {
    if !(source.text.contains("enum") && source.text.contains("**")) {
        return Ok(());
    }
    let mut powers =
        Powers { build: Build::new(allocator), in_member: false, hidden: None, may_join_text: false };
    powers.visit_program(program);
    let Some(span) = powers.hidden.filter(|_| powers.may_join_text) else { return Ok(()) };
    let place = source.locate(span);
    let message = "`**` with a name is not supported in an enum of a file whose enums use `+` or templates";
    let problem = Diagnostic::error(Code::SYNTAX, message.to_owned());
    Err(vec![
        problem.at(place.at, place.length, "here").help("write the number, or move the power to a constant"),
    ])
}

struct Powers<'a> {
    build: Build<'a>,
    in_member: bool,
    /// First power that the program computes.
    hidden: Option<Span>,
    may_join_text: bool,
}

impl<'a> VisitJsMut<'a> for Powers<'a> {
    fn visit_ts_enum_member(&mut self, it: &mut TSEnumMember<'a>) {
        self.in_member = true;
        walk::walk_ts_enum_member(self, it);
        self.in_member = false;
    }

    fn visit_expression(&mut self, it: &mut Expression<'a>) {
        walk::walk_expression(self, it);
        if !self.in_member {
            return;
        }
        match it {
            Expression::TemplateLiteral(template) if !template.expressions.is_empty() => {
                self.may_join_text = true;
            }
            Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Addition => {
                self.may_join_text |= constant(&binary.left).is_none() || constant(&binary.right).is_none();
            }
            Expression::BinaryExpression(binary) if binary.operator == BinaryOperator::Exponential => {
                let span = binary.span;
                let operands = constant(&binary.left).zip(constant(&binary.right));
                let power = operands.map(|(base, exponent)| math::pow(base, exponent));
                if let Some(power) = power.filter(|power| power.is_finite() && power.is_sign_positive()) {
                    *it = self.build.double(span, power);
                    return;
                }
                self.hidden.get_or_insert(span);
                let power = it.take_in(&self.build.allocator());
                *it = self.build.sequence(span, [self.build.number(span, 0), power]);
            }
            _ => {}
        }
    }
}

/// Returns the value of an expression of number literals.
fn constant(expression: &Expression<'_>) -> Option<f64> {
    match expression {
        Expression::NumericLiteral(literal) => Some(literal.value),
        Expression::UnaryExpression(unary) => {
            let value = constant(&unary.argument)?;
            match unary.operator {
                UnaryOperator::UnaryNegation => Some(-value),
                UnaryOperator::UnaryPlus => Some(value),
                _ => None,
            }
        }
        Expression::BinaryExpression(binary) => {
            let (left, right) = (constant(&binary.left)?, constant(&binary.right)?);
            match binary.operator {
                BinaryOperator::Addition => Some(left + right),
                BinaryOperator::Subtraction => Some(left - right),
                BinaryOperator::Multiplication => Some(left * right),
                BinaryOperator::Division => Some(left / right),
                _ => None,
            }
        }
        _ => None,
    }
}
