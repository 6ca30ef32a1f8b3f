//! Functions of the program that the engine asks, and whose answer it looks at where nobody sees it: `valueOf`,
//! `toString` and `toJSON`, given an unknown, are passed over in silence; an iterator's `next` whose `done` is one
//! ends the loop. What they return is guarded.

use oxc_ast::ast::{Argument, ArrowFunctionExpression, Expression, PropertyKey, ReturnStatement};
use oxc_span::{GetSpan, Span};

use super::instrument::Instrument;
use crate::site::Use;

/// What the engine wants of a function.
#[derive(Clone, Copy)]
enum Asked {
    /// A value to go on with.
    Value,
    /// `{ value, done }`.
    Step,
}

/// Which functions are asked, and whether the current one is.
#[derive(Default)]
pub(super) struct Conversions {
    next: Option<(Span, Asked)>,
    inside: Option<Asked>,
}

/// What was around a function, for `leave_function`.
pub(super) struct Outer {
    asked: Option<Asked>,
    asynchronous: bool,
}

impl<'a> Instrument<'a> {
    /// A member is about to be visited whose value is, or may be, such a function.
    pub(super) fn expect_conversion(&mut self, key: &PropertyKey<'a>, computed: bool, function: Span) {
        if let (false, Some(name)) = (computed, key.static_name()) {
            self.expect_by_name(&name, function);
        }
    }

    /// The same for a function that a variable, or its own name, tells.
    pub(super) fn expect_by_name(&mut self, name: &str, function: Span) {
        let asked = match name {
            "valueOf" | "toString" | "toJSON" => Asked::Value,
            "next" | "return" | "throw" => Asked::Step,
            _ => return,
        };
        self.conversions.next = Some((function, asked));
    }

    pub(super) fn expect_conversion_by(
        &mut self,
        key: &PropertyKey<'a>,
        computed: bool,
        value: &Expression<'a>,
    ) {
        if is_function(value) {
            self.expect_conversion(key, computed, value.span());
        }
    }

    /// A function is entered: what was around it. A generator returns to its caller, not to the engine.
    pub(super) fn enter_function(&mut self, span: Span, is_async: bool, is_generator: bool) -> Outer {
        let own = self.conversions.next.take_if(|(next, _)| *next == span);
        let own = own.map(|(_, asked)| asked).filter(|_| !is_generator);
        Outer {
            asked: std::mem::replace(&mut self.conversions.inside, own),
            asynchronous: std::mem::replace(&mut self.asynchronous, is_async),
        }
    }

    pub(super) fn leave_function(&mut self, outer: Outer) {
        self.conversions.inside = outer.asked;
        self.asynchronous = outer.asynchronous;
    }

    pub(super) fn guard_return(&mut self, statement: &mut ReturnStatement<'a>) {
        if let Some(value) = &mut statement.argument {
            self.guard_answer(value);
        }
    }

    pub(super) fn guard_arrow(&mut self, arrow: &mut ArrowFunctionExpression<'a>) {
        if let Some(value) = arrow.body.as_expression_mut() {
            self.guard_answer(value);
        }
    }

    fn guard_answer(&mut self, value: &mut Expression<'a>) {
        match self.conversions.inside {
            None => {}
            Some(Asked::Value) => self.guard(value, Use::Convert),
            Some(Asked::Step) => {
                let span = value.span();
                let site = self.site(Use::Done, span);
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
