//! Assignments that look at the old value (`+=`, `||=`, `&&=`, `??=`), and `throw`.
//!
//! The target's parts are evaluated once and in the order of the language, also around `await`.

use oxc_allocator::TakeIn;
use oxc_ast::ast::{
    Argument, AssignmentOperator, AssignmentTarget, BinaryOperator, Expression, LogicalOperator,
};
use oxc_span::{GetSpan, Span};
use stead_model::Code;

use super::instrument::{Instrument, Refused, target_iterates};
use super::operators::{binary_function, operation_use};
use crate::site::Use;

/// How a target can be read.
enum Old<'a> {
    /// Reading it again costs nothing and changes nothing.
    Simple(Expression<'a>),
    /// `object[key]`, each to be evaluated once.
    Parts(Expression<'a>, Expression<'a>),
    Other,
}

impl<'a> Instrument<'a> {
    pub(super) fn assignment(&mut self, expression: &mut Expression<'a>) {
        let Expression::AssignmentExpression(assignment) = expression else { return };
        let span = assignment.span;
        match assignment.operator {
            AssignmentOperator::Assign => {
                let iterates = target_iterates(&assignment.left);
                self.guard_pattern_source(iterates, &mut assignment.right);
            }
            AssignmentOperator::LogicalAnd => self.logical_assignment(expression, LogicalOperator::And),
            AssignmentOperator::LogicalOr => self.logical_assignment(expression, LogicalOperator::Or),
            AssignmentOperator::LogicalNullish => {
                self.logical_assignment(expression, LogicalOperator::Coalesce);
            }
            operator => {
                let Some(operator) = operator.to_binary_operator() else { return };
                let old = self.old(&mut assignment.left);
                if matches!(old, Old::Other) {
                    // The old value is turned into a number or text by the engine, which an unknown refuses.
                    return self.guard(&mut assignment.right, Use::Arithmetic);
                }
                let target = assignment.left.take_in(&self.build.allocator());
                let value = self.take(&mut assignment.right);
                *expression = self.operate_on(span, operator, old, target, value);
            }
        }
    }

    fn operate_on(
        &mut self,
        span: Span,
        operator: BinaryOperator,
        old: Old<'a>,
        target: AssignmentTarget<'a>,
        value: Expression<'a>,
    ) -> Expression<'a> {
        let Some(function) = binary_function(operator) else { return value };
        match old {
            Old::Simple(old) => {
                let result = self.operation(span, operator, function, old, value);
                self.build.assign(span, target, result)
            }
            Old::Parts(object, key) => {
                let site = self.site(operation_use(operator), span);
                let reference = self.reference(span, object, key);
                let site = self.build.number(span, site);
                let operate = self.build.name(span, function);
                let arguments = [reference, value, site, operate].map(Argument::from);
                self.build.call(span, "__stead_operate_on", arguments)
            }
            Old::Other => value,
        }
    }

    /// `x ||= y` → `x || (x = y)`, with the guard on the left.
    fn logical_assignment(&mut self, expression: &mut Expression<'a>, operator: LogicalOperator) {
        let Expression::AssignmentExpression(assignment) = expression else { return };
        let span = assignment.span;
        let nullish = operator == LogicalOperator::Coalesce;
        let usage = if nullish { Use::Nullish } else { Use::Logical };
        let old = self.old(&mut assignment.left);
        let target = assignment.left.take_in(&self.build.allocator());
        let target_span = target.span();
        let value = self.take(&mut assignment.right);
        *expression = match old {
            Old::Simple(mut old) => {
                self.guard(&mut old, usage);
                let assigned = self.build.assign(span, target, value);
                self.build.logical(span, old, operator, assigned)
            }
            Old::Parts(object, key) => {
                // The reference is read back before anything else can run that would set it again.
                let reference = self.reference(span, object, key);
                let stored = self.build.name_target(span, "__stead_ref");
                let stored = self.build.assign(span, stored, reference);
                let mut old = self.build.member(target_span, "__stead_ref", "value");
                self.guard(&mut old, usage);
                let object = self.build.member(span, "__stead_ref", "object");
                let key = self.build.member(span, "__stead_ref", "key");
                let target = self.build.element_target(span, object, key);
                let assigned = self.build.assign(span, target, value);
                let left = self.build.sequence(span, [stored, old]);
                self.build.logical(span, left, operator, assigned)
            }
            Old::Other => {
                self.out.refused.push(Refused {
                    code: Code::SYNTAX,
                    span: target_span,
                    message: "this form of assignment is not supported on a private member of an expression"
                        .to_owned(),
                    label: "here",
                    help: "put the object into a variable first",
                });
                value
            }
        };
    }

    fn reference(&self, span: Span, object: Expression<'a>, key: Expression<'a>) -> Expression<'a> {
        self.build.call(span, "__stead_reference", [Argument::from(object), Argument::from(key)])
    }

    fn old(&self, target: &mut AssignmentTarget<'a>) -> Old<'a> {
        let allocator = self.build.allocator();
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(id) => {
                Old::Simple(self.build.name(id.span, id.name.as_str()))
            }
            AssignmentTarget::StaticMemberExpression(member) if is_simple(&member.object) => {
                Old::Simple(Expression::StaticMemberExpression(self.build.copy(&*member)))
            }
            AssignmentTarget::PrivateFieldExpression(member) if is_simple(&member.object) => {
                Old::Simple(Expression::PrivateFieldExpression(self.build.copy(&*member)))
            }
            AssignmentTarget::StaticMemberExpression(member) => {
                let key = self.build.string(member.property.span, member.property.name.as_str());
                Old::Parts(member.object.take_in(&allocator), key)
            }
            AssignmentTarget::ComputedMemberExpression(member) => {
                if matches!(member.object, Expression::Super(_)) {
                    return Old::Simple(Expression::ComputedMemberExpression(self.build.copy(&*member)));
                }
                Old::Parts(member.object.take_in(&allocator), member.expression.take_in(&allocator))
            }
            _ => Old::Other,
        }
    }

    /// An error knows where it was made; for anything else that is thrown, the site is remembered.
    pub(super) fn thrown(&mut self, value: &mut Expression<'a>) {
        let span = value.span();
        let site = self.site(Use::Throw, span);
        let taken = self.take(value);
        let site = self.build.number(span, site);
        *value = self.build.call(span, "__stead_thrown", [Argument::from(taken), Argument::from(site)]);
    }
}

fn is_simple(object: &Expression<'_>) -> bool {
    matches!(object, Expression::Identifier(_) | Expression::ThisExpression(_) | Expression::Super(_))
}
