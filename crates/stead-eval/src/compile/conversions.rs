//! `valueOf`, `toString` and `toJSON` of the program: the engine asks them for a value and, given an unknown, takes
//! something else in silence. What they return is guarded.

use oxc_ast::ast::{ArrowFunctionExpression, Expression, PropertyKey, ReturnStatement};
use oxc_span::{GetSpan, Span};

use super::instrument::Instrument;
use crate::site::Use;

/// Which functions are asked, and whether the current one is.
#[derive(Default)]
pub(super) struct Conversions {
    next: Option<Span>,
    inside: bool,
}

impl<'a> Instrument<'a> {
    /// A member is about to be visited whose value is, or may be, such a function.
    pub(super) fn expect_conversion(&mut self, key: &PropertyKey<'a>, computed: bool, function: Span) {
        let named = ["valueOf", "toString", "toJSON"].iter().any(|name| key.is_specific_static_name(name));
        if named && !computed {
            self.conversions.next = Some(function);
        }
    }

    pub(super) fn expect_conversion_by(
        &mut self,
        key: &PropertyKey<'a>,
        computed: bool,
        value: &Expression<'a>,
    ) {
        if matches!(value, Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_)) {
            self.expect_conversion(key, computed, value.span());
        }
    }

    /// A function is entered: what it was before, for `leave_function`.
    pub(super) fn enter_function(&mut self, span: Span) -> bool {
        let own = self.conversions.next.take_if(|next| *next == span).is_some();
        std::mem::replace(&mut self.conversions.inside, own)
    }

    pub(super) fn leave_function(&mut self, outer: bool) {
        self.conversions.inside = outer;
    }

    pub(super) fn guard_return(&mut self, statement: &mut ReturnStatement<'a>) {
        if let (true, Some(value)) = (self.conversions.inside, &mut statement.argument) {
            self.guard(value, Use::Convert);
        }
    }

    pub(super) fn guard_arrow(&mut self, arrow: &mut ArrowFunctionExpression<'a>) {
        if let (true, Some(value)) = (self.conversions.inside, arrow.body.as_expression_mut()) {
            self.guard(value, Use::Convert);
        }
    }
}
