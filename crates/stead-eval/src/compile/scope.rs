//! Keeps the resource around a function across `await`.

use oxc_ast::ast::{Argument, Expression};
use oxc_span::GetSpan;

use super::instrument::Instrument;

impl<'a> Instrument<'a> {
    /// `await x` → `__stead_resume(__stead_current(), await x)`: the first argument is read before the function
    /// is suspended. Outside of functions nothing is around.
    pub(super) fn awaited(&mut self, expression: &mut Expression<'a>) {
        if self.functions == 0 {
            return;
        }
        let span = expression.span();
        let current = self.build.call(span, "__stead_current", []);
        let awaited = self.take(expression);
        let arguments = [Argument::from(current), Argument::from(awaited)];
        *expression = self.build.call(span, "__stead_resume", arguments);
    }
}
