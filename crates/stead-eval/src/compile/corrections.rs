//! Corrects what transformer and engine do differently from TypeScript and the language.
//!
//! The transformer applies decorators in the order of the members; TypeScript applies those of instance members first. The
//! engine copies nothing when an object literal spreads a string.

use oxc_allocator::Allocator;
use oxc_ast::ast::{Argument, Expression, ObjectExpression, ObjectPropertyKind, Program, Statement};
use oxc_ast_visit::{VisitJsMut, walk_js_mut as walk};
use oxc_span::GetSpan;

use super::build::Build;

/// Puts decorators of instance members before those of static members.
pub(super) fn order_decorators(program: &mut Program<'_>) {
    DecoratorOrder.visit_program(program);
}

/// Makes object literals copy the characters of a string that they spread. Runs after instrumentation, which refuses the
/// names of the runtime.
pub(super) fn spread_text<'a>(allocator: &'a Allocator, program: &mut Program<'a>) {
    TextSpread { build: Build::new(allocator) }.visit_program(program);
}

struct DecoratorOrder;

impl<'a> VisitJsMut<'a> for DecoratorOrder {
    fn visit_statements(&mut self, it: &mut oxc_allocator::ArenaVec<'a, Statement<'a>>) {
        walk::walk_statements(self, it);
        for decorations in it.chunk_by_mut(|one, next| decorated(one).is_some() && decorated(next).is_some())
        {
            decorations.sort_by_key(|statement| decorated(statement));
        }
    }
}

struct TextSpread<'a> {
    build: Build<'a>,
}

impl<'a> VisitJsMut<'a> for TextSpread<'a> {
    fn visit_object_expression(&mut self, it: &mut ObjectExpression<'a>) {
        walk::walk_object_expression(self, it);
        for property in &mut it.properties {
            let ObjectPropertyKind::SpreadProperty(spread) = property else { continue };
            if can_be_text(&spread.argument) {
                let span = spread.argument.span();
                let argument = std::mem::replace(&mut spread.argument, self.build.undefined(span));
                spread.argument = self.build.call(span, "__stead_spread", [argument.into()]);
            }
        }
    }
}

/// Member that a statement decorates: those of instances come first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Decorated {
    Instance,
    Static,
}

fn decorated(statement: &Statement<'_>) -> Option<Decorated> {
    let Statement::ExpressionStatement(statement) = statement else { return None };
    let Expression::CallExpression(call) = &statement.expression else { return None };
    let Expression::Identifier(callee) = &call.callee else { return None };
    if !callee.name.as_str().starts_with("_decorate") || call.arguments.len() < 3 {
        return None;
    }
    match &call.arguments[1] {
        Argument::StaticMemberExpression(_) => Some(Decorated::Instance),
        Argument::Identifier(_) | Argument::ThisExpression(_) => Some(Decorated::Static),
        _ => None,
    }
}

fn can_be_text(expression: &Expression<'_>) -> bool {
    !matches!(
        expression,
        Expression::ObjectExpression(_)
            | Expression::ArrayExpression(_)
            | Expression::ArrowFunctionExpression(_)
            | Expression::ThisExpression(_)
            | Expression::NewExpression(_)
    )
}
