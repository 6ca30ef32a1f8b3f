//! Guards the results of functions that the engine calls implicitly.
//!
//! The engine ignores an unknown from `valueOf`, `toString` or `toJSON`, and ends a loop if `done` from an iterator's `next` is
//! unknown. Neither raises an error by itself.

use oxc_ast::ast::{Argument, ArrowFunctionExpression, Expression, PropertyKey, ReturnStatement};
use oxc_span::{GetSpan, Span};

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
            PropertyKey::StaticMemberExpression(symbol)
                if computed
                    && symbol.object.is_specific_id("Symbol")
                    && symbol.property.name == "toPrimitive" =>
            {
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
            "valueOf" | "toString" | "toJSON" => ImplicitCall::Conversion,
            "next" | "return" | "throw" => ImplicitCall::IteratorStep,
            _ => return,
        };
        self.implicit_calls.next = Some((function, call));
    }

    pub(super) fn expect_implicit_call_by(
        &mut self,
        key: &PropertyKey<'a>,
        computed: bool,
        value: &Expression<'a>,
    ) {
        if is_function(value) {
            self.expect_implicit_call(key, computed, value.span());
        }
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

pub(super) fn is_function(value: &Expression<'_>) -> bool {
    matches!(value, Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_))
}
