//! Rewrites assignments that read the old value (`+=`, `||=`, `&&=`, `??=`), and `throw`.
//!
//! The parts of the target are evaluated once and in the order of the language, also around `await`.

use oxc_allocator::TakeIn;
use oxc_ast::ast::{
    Argument, AssignmentOperator, AssignmentTarget, BinaryOperator, Expression, LogicalOperator,
};
use oxc_span::{GetSpan, Span};
use stead_model::Code;

use super::instrument::{Instrumenter, Iterates, UnsupportedSyntax, target_iterates};
use super::operators::{binary_function, operation_use};
use crate::program::site::Usage;

/// Variable that holds the parts of an assignment target. No other code runs between its assignment and its use.
const REFERENCE: &str = "__stead_ref";

/// Old value of an assignment target.
enum OldValue<'a> {
    /// The target can be read again without side effects.
    Simple(Expression<'a>),
    /// `object[key]`, where each part must be evaluated once.
    Parts(Expression<'a>, Expression<'a>),
    Other,
}

impl<'a> Instrumenter<'a> {
    pub(super) fn assignment(&mut self, expression: &mut Expression<'a>) {
        let Expression::AssignmentExpression(assignment) = expression else { return };
        let span = assignment.span;
        match assignment.operator {
            AssignmentOperator::Assign => {
                let discarded = self.discarded == Some(span);
                let iterates = match (target_iterates(&assignment.left), &assignment.left) {
                    // The value of the assignment is its right side, which stays as it is.
                    (true, AssignmentTarget::ArrayAssignmentTarget(_)) if discarded => Iterates::Itself,
                    (true, _) => Iterates::Part,
                    (false, _) => Iterates::No,
                };
                self.guard_pattern_source(iterates, &mut assignment.right);
                self.member_defaults(&mut assignment.left);
                self.assignment_defaults(expression);
            }
            AssignmentOperator::LogicalAnd => self.logical_assignment(expression, LogicalOperator::And),
            AssignmentOperator::LogicalOr => self.logical_assignment(expression, LogicalOperator::Or),
            AssignmentOperator::LogicalNullish => {
                self.logical_assignment(expression, LogicalOperator::Coalesce);
            }
            operator => {
                let Some(operator) = operator.to_binary_operator() else { return };
                let old = self.old_value(&mut assignment.left);
                if matches!(old, OldValue::Other) && operator == BinaryOperator::Exponential {
                    return self.unsupported_target(assignment.left.span());
                }
                if matches!(old, OldValue::Other) {
                    // The engine converts the old value to a primitive, which an unknown refuses.
                    return self.guard(&mut assignment.right, Usage::Arithmetic);
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
        old: OldValue<'a>,
        target: AssignmentTarget<'a>,
        value: Expression<'a>,
    ) -> Expression<'a> {
        let Some(function) = binary_function(operator) else { return value };
        match old {
            OldValue::Simple(old) => {
                let result = self.operation(span, operator, function, old, value);
                self.build.assign(span, target, result)
            }
            OldValue::Parts(object, key) => {
                let site = self.site(operation_use(operator), span);
                let reference = self.reference(span, object, key);
                let site = self.build.number(span, site);
                let operate = self.build.name(span, function);
                let arguments = [reference, value, site, operate].map(Argument::from);
                let made = self.build.call(span, "__stead_operate_on", arguments);
                // The code of the program assigns: a frozen object ignores it in sloppy code.
                let stored = self.build.assign(span, self.build.name_target(span, REFERENCE), made);
                let [object, key, value] =
                    ["object", "key", "value"].map(|name| self.build.member(span, REFERENCE, name));
                let target = self.build.element_target(span, object, key);
                self.build.sequence(span, [stored, self.build.assign(span, target, value)])
            }
            OldValue::Other => value,
        }
    }

    /// Rewrites `x ||= y` to `x || (x = y)` with a guard on the left.
    fn logical_assignment(&mut self, expression: &mut Expression<'a>, operator: LogicalOperator) {
        let Expression::AssignmentExpression(assignment) = expression else { return };
        let span = assignment.span;
        let nullish = operator == LogicalOperator::Coalesce;
        let usage = if nullish { Usage::Nullish } else { Usage::Logical };
        let old = self.old_value(&mut assignment.left);
        let target = assignment.left.take_in(&self.build.allocator());
        let target_span = target.span();
        let value = self.take(&mut assignment.right);
        *expression = match old {
            OldValue::Simple(mut old) => {
                self.guard(&mut old, usage);
                let assigned = self.build.assign(span, target, value);
                self.build.logical(span, old, operator, assigned)
            }
            OldValue::Parts(object, key) => {
                let reference = self.reference(span, object, key);
                let stored = self.build.name_target(span, REFERENCE);
                let stored = self.build.assign(span, stored, reference);
                let mut old = self.build.member(target_span, REFERENCE, "value");
                self.guard(&mut old, usage);
                let object = self.build.member(span, REFERENCE, "object");
                let key = self.build.member(span, REFERENCE, "key");
                let target = self.build.element_target(span, object, key);
                let assigned = self.build.assign(span, target, value);
                let left = self.build.sequence(span, [stored, old]);
                self.build.logical(span, left, operator, assigned)
            }
            OldValue::Other => {
                self.unsupported_target(target_span);
                value
            }
        };
    }

    pub(super) fn unsupported_target(&mut self, span: Span) {
        self.out.unsupported.push(UnsupportedSyntax {
            code: Code::SYNTAX,
            span,
            message: "this form of assignment is not supported on a private member of an expression"
                .to_owned(),
            label: "here",
            help: "assign the object to a variable first",
        });
    }

    fn reference(&self, span: Span, object: Expression<'a>, key: Expression<'a>) -> Expression<'a> {
        self.build.call(span, "__stead_reference", [Argument::from(object), Argument::from(key)])
    }

    fn old_value(&self, target: &mut AssignmentTarget<'a>) -> OldValue<'a> {
        let allocator = self.build.allocator();
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(id) => {
                OldValue::Simple(self.build.name(id.span, id.name.as_str()))
            }
            AssignmentTarget::StaticMemberExpression(member) if self.is_simple(&member.object) => {
                OldValue::Simple(Expression::StaticMemberExpression(self.build.copy(&*member)))
            }
            AssignmentTarget::PrivateFieldExpression(member) if self.is_simple(&member.object) => {
                OldValue::Simple(Expression::PrivateFieldExpression(self.build.copy(&*member)))
            }
            AssignmentTarget::StaticMemberExpression(member) => {
                let key = self.build.string(member.property.span, member.property.name.as_str());
                OldValue::Parts(member.object.take_in(&allocator), key)
            }
            AssignmentTarget::ComputedMemberExpression(member) => {
                if matches!(member.object, Expression::Super(_)) {
                    return OldValue::Simple(Expression::ComputedMemberExpression(self.build.copy(&*member)));
                }
                OldValue::Parts(member.object.take_in(&allocator), member.expression.take_in(&allocator))
            }
            _ => OldValue::Other,
        }
    }

    /// Rewrites `throw x` to record the site, because only errors carry a stack trace.
    pub(super) fn thrown(&mut self, value: &mut Expression<'a>) {
        let span = value.span();
        let site = self.site(Usage::Throw, span);
        let taken = self.take(value);
        let site = self.build.number(span, site);
        *value = self.build.call(span, "__stead_thrown", [Argument::from(taken), Argument::from(site)]);
    }

    /// Returns true if an object can be read twice without side effects.
    pub(super) fn is_simple(&self, object: &Expression<'_>) -> bool {
        match object {
            Expression::Identifier(id) => self.names.is_variable(&id.name),
            Expression::ThisExpression(_) | Expression::Super(_) => true,
            _ => false,
        }
    }
}
