//! Guards the keys of computed members: an unknown key, and `then` of an unknown object.
//!
//! `await` reads `then` of each value, and an unknown has none. A program that reads it would find `undefined`.

use oxc_ast::ast::{Argument, BinaryOperator, ComputedMemberExpression, Expression, UnaryOperator};
use oxc_span::GetSpan;
use oxc_syntax::operator::LogicalOperator;

use super::build::can_be_unknown;
use super::instrument::Instrumenter;
use super::operators::RESULT;
use crate::program::site::Usage;

/// Kind of a key, as far as its syntax shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Then,
    NotThen,
    Dynamic,
}

/// Returns the kind of a key that is not instrumented yet.
pub(super) fn kind_of(key: &Expression<'_>) -> Key {
    let literal = |text: &str| if text == "then" { Key::Then } else { Key::NotThen };
    match key {
        Expression::StringLiteral(text) => literal(&text.value),
        Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
            template.single_quasi().map_or(Key::Dynamic, |text| literal(&text))
        }
        Expression::NumericLiteral(_)
        | Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::BigIntLiteral(_)
        | Expression::UpdateExpression(_) => Key::NotThen,
        Expression::UnaryExpression(unary) if unary.operator != UnaryOperator::Typeof => Key::NotThen,
        Expression::BinaryExpression(binary) => match binary.operator {
            BinaryOperator::Addition if !is_number(&binary.left) && !is_number(&binary.right) => Key::Dynamic,
            _ => Key::NotThen,
        },
        Expression::StaticMemberExpression(symbol) if symbol.object.is_specific_id("Symbol") => Key::NotThen,
        _ => Key::Dynamic,
    }
}

fn is_number(expression: &Expression<'_>) -> bool {
    matches!(expression, Expression::NumericLiteral(_))
}

impl<'a> Instrumenter<'a> {
    /// Guards the key of a member, and the object if the key is `then`.
    pub(super) fn guard_member_key(&mut self, member: &mut ComputedMemberExpression<'a>, key: Key) {
        match key {
            _ if !can_be_unknown(&member.object) => self.guard(&mut member.expression, Usage::Key),
            Key::Then => self.guard(&mut member.object, Usage::Then),
            Key::NotThen => self.guard(&mut member.expression, Usage::Key),
            Key::Dynamic if member.optional => self.guard(&mut member.expression, Usage::Key),
            Key::Dynamic => self.guard_dynamic_key(member),
        }
    }

    /// Rewrites `o[k]` to `o[typeof k === "function" || typeof o === "function" ? __stead_key(o, k, site) : k]`.
    ///
    /// An object that is no variable is stored first; no other code runs before it is read.
    fn guard_dynamic_key(&mut self, member: &mut ComputedMemberExpression<'a>) {
        let span = member.expression.span();
        let site = self.site(Usage::Key, span);
        self.site(Usage::Then, member.object.span());
        let site = self.build.number(span, site);
        let variable = match &member.object {
            Expression::Identifier(id) if self.names.is_variable(&id.name) => id.name.as_str(),
            _ => {
                let object = self.take(&mut member.object);
                let span = object.span();
                member.object = self.build.assign(span, self.build.name_target(span, RESULT), object);
                RESULT
            }
        };
        let object = self.build.name(span, variable);
        let key = self.take(&mut member.expression);
        let name = match &key {
            Expression::Identifier(id) if self.names.is_variable(&id.name) => Some(id.name.as_str()),
            _ => None,
        };
        let plain = name.map(|name| self.build.name(span, name));
        let checked = self.build.call(span, "__stead_key", [object, key, site].map(Argument::from));
        member.expression = match (name, plain) {
            (Some(name), Some(plain)) => {
                let tests = [name, variable].map(|name| self.build.is_function(span, name));
                let [key, object] = tests;
                let test = self.build.logical(span, key, LogicalOperator::Or, object);
                self.build.choose(span, test, checked, plain)
            }
            _ => checked,
        };
    }
}
