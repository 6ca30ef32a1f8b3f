//! Guards the results of functions that the engine calls implicitly.
//!
//! The engine ignores an unknown from `valueOf`, `toString` or `toJSON`, and ends a loop if `done` from an iterator's `next` is
//! unknown. Neither raises an error by itself.
//!
//! A function literal is guarded where it returns. Another value of such a member may be a function of any name: it is wrapped
//! where the member gets it, or checked where the program iterates (`guard_iterable`).

use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentTarget, Expression, PropertyKey, ReturnStatement,
    StaticMemberExpression,
};
use oxc_span::{GetSpan, Span};

use super::build::can_be_unknown;
use super::instrument::Instrumenter;
use crate::program::site::Usage;

/// Result that the engine expects from an implicit call.
#[derive(Clone, Copy)]
enum ImplicitCall {
    /// A primitive value.
    Conversion,
    /// `{ value, done }`.
    IteratorStep,
}

/// Implicit call that the visitor expects next, and the one it is inside.
#[derive(Default)]
pub(super) struct ImplicitCalls {
    next: Option<(Span, ImplicitCall)>,
    inside: Option<ImplicitCall>,
}

/// State of the enclosing function, restored by `leave_function`.
pub(super) struct OuterFunction {
    call: Option<ImplicitCall>,
    asynchronous: bool,
}

impl<'a> Instrumenter<'a> {
    /// Records that the function in a member with this key may be called implicitly.
    pub(super) fn expect_implicit_call(&mut self, key: &PropertyKey<'a>, computed: bool, function: Span) {
        match key {
            PropertyKey::StaticMemberExpression(symbol) if computed && is_to_primitive(symbol) => {
                self.implicit_calls.next = Some((function, ImplicitCall::Conversion));
            }
            key => {
                if let Some(name) = key.static_name() {
                    self.expect_by_name(&name, function);
                }
            }
        }
    }

    /// Records that the function with this name may be called implicitly.
    pub(super) fn expect_by_name(&mut self, name: &str, function: Span) {
        let call = match name {
            name if is_conversion(name) => ImplicitCall::Conversion,
            "next" | "return" | "throw" => ImplicitCall::IteratorStep,
            _ => return,
        };
        self.implicit_calls.next = Some((function, call));
    }

    /// Records that the value of a member may be called implicitly, and returns true if it must be wrapped once it is
    /// instrumented, because it is no function literal.
    pub(super) fn expect_implicit_call_by(
        &mut self,
        key: &PropertyKey<'a>,
        computed: bool,
        value: &Expression<'a>,
    ) -> bool {
        let value = assigned(value);
        if is_function(value) {
            self.expect_implicit_call(key, computed, value.span());
            return false;
        }
        let converts = match key {
            PropertyKey::StaticMemberExpression(symbol) if computed => is_to_primitive(symbol),
            key => key.static_name().is_some_and(|name| is_conversion(&name)),
        };
        converts && can_be_unknown(value)
    }

    /// Records that the value of an assignment to a member may be called implicitly. Returns true as `expect_implicit_call_by`.
    pub(super) fn expect_assigned_call(
        &mut self,
        target: &AssignmentTarget<'a>,
        value: &Expression<'a>,
    ) -> bool {
        let value = assigned(value);
        let name = match target {
            AssignmentTarget::StaticMemberExpression(member) => member.property.name.as_str(),
            AssignmentTarget::ComputedMemberExpression(member) => match &member.expression {
                Expression::StringLiteral(name) => name.value.as_str(),
                Expression::StaticMemberExpression(symbol) if is_to_primitive(symbol) => "valueOf",
                _ => return false,
            },
            _ => return false,
        };
        if is_function(value) {
            self.expect_by_name(name, value.span());
            return false;
        }
        is_conversion(name) && can_be_unknown(value)
    }

    /// Rewrites the value of a member that converts its object to `__stead_converter(value, site)`.
    pub(super) fn wrap_converter(&mut self, value: &mut Expression<'a>) {
        let span = value.span();
        let site = self.site(Usage::Convert, span);
        let taken = self.take(value);
        let arguments = [taken, self.build.number(span, site)].map(Argument::from);
        *value = self.build.call(span, "__stead_converter", arguments);
    }

    /// Enters a function and returns the state of the enclosing one. A generator's `return` is not an implicit result.
    pub(super) fn enter_function(&mut self, span: Span, is_async: bool, is_generator: bool) -> OuterFunction {
        let own = self.implicit_calls.next.take_if(|(next, _)| *next == span);
        let own = own.map(|(_, call)| call).filter(|_| !is_generator);
        OuterFunction {
            call: std::mem::replace(&mut self.implicit_calls.inside, own),
            asynchronous: std::mem::replace(&mut self.asynchronous, is_async),
        }
    }

    pub(super) fn leave_function(&mut self, outer: OuterFunction) {
        self.implicit_calls.inside = outer.call;
        self.asynchronous = outer.asynchronous;
    }

    pub(super) fn guard_return(&mut self, statement: &mut ReturnStatement<'a>) {
        if let Some(value) = &mut statement.argument {
            self.guard_result(value);
        }
    }

    pub(super) fn guard_arrow(&mut self, arrow: &mut ArrowFunctionExpression<'a>) {
        if let Some(value) = arrow.body.as_expression_mut() {
            self.guard_result(value);
        }
    }

    fn guard_result(&mut self, value: &mut Expression<'a>) {
        match self.implicit_calls.inside {
            None => {}
            Some(ImplicitCall::Conversion) => self.guard(value, Usage::Convert),
            Some(ImplicitCall::IteratorStep) => {
                let span = value.span();
                let site = self.site(Usage::Done, span);
                let taken = self.take(value);
                let arguments = [taken, self.build.number(span, site)].map(Argument::from);
                *value = self.build.call(span, "__stead_step", arguments);
            }
        }
    }
}

fn is_conversion(name: &str) -> bool {
    matches!(name, "valueOf" | "toString" | "toJSON")
}

fn is_to_primitive(symbol: &StaticMemberExpression<'_>) -> bool {
    symbol.object.is_specific_id("Symbol") && symbol.property.name == "toPrimitive"
}

/// Returns the value that a chain of assignments ends with.
fn assigned<'s, 'a>(mut value: &'s Expression<'a>) -> &'s Expression<'a> {
    while let Expression::AssignmentExpression(assignment) = value {
        value = &assignment.right;
    }
    value
}

pub(super) fn is_function(value: &Expression<'_>) -> bool {
    matches!(value, Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_))
}
