//! Restores the enclosing resource after each `await` of a function.

use oxc_ast::ast::{Argument, Expression, ForOfStatement, PropertyKey, Statement, TryStatement};
use oxc_span::{GetSpan, Span};

use super::instrument::Instrumenter;

/// Constant that holds the enclosing resource from before a statement.
const AROUND: &str = "__stead_around";

impl<'a> Instrumenter<'a> {
    /// Rewrites `await x` to `__stead_resume(__stead_current(), await x)`: the first argument is evaluated before the function is
    /// suspended. The top level has no enclosing resource.
    pub(super) fn rewrite_await(&mut self, expression: &mut Expression<'a>) {
        if self.functions == 0 {
            return;
        }
        let span = expression.span();
        let current = self.build.call(span, "__stead_current", []);
        let rewrite_await = self.take(expression);
        let arguments = [Argument::from(current), Argument::from(rewrite_await)];
        *expression = self.build.call(span, "__stead_resume", arguments);
    }

    /// Restores the enclosing resource in statements that continue after an implicit or a failed `await`:
    /// `{ const around = current(); try { … } catch { resume(around); … } }`.
    pub(super) fn restore_scope(&mut self, statement: &mut Statement<'a>) {
        if !self.asynchronous {
            return;
        }
        let span = statement.span();
        match innermost(statement) {
            Statement::TryStatement(it) => self.resume_in_try(it),
            Statement::ForOfStatement(it) if it.r#await => self.resume_in_loop(it),
            _ => return,
        }
        let taken = self.build.take_statement(statement);
        let before = self.build.constant(span, AROUND, self.build.call(span, "__stead_current", []));
        let after = self.resume(span);
        *statement = self.build.block(span, [before, taken, after]);
    }

    fn resume_in_try(&self, it: &mut TryStatement<'a>) {
        if let Some(handler) = &mut it.handler {
            let resume = self.resume(handler.span);
            handler.body.body.insert(0, resume);
        }
        if let Some(finalizer) = &mut it.finalizer {
            let resume = self.resume(finalizer.span);
            finalizer.body.insert(0, resume);
        }
    }

    fn resume_in_loop(&self, it: &mut ForOfStatement<'a>) {
        let span = it.body.span();
        match &mut it.body {
            Statement::BlockStatement(block) => block.body.insert(0, self.resume(span)),
            body => {
                let taken = self.build.take_statement(body);
                *body = self.build.block(span, [self.resume(span), taken]);
            }
        }
    }

    /// Builds `__stead_resume(__stead_around);`.
    fn resume(&self, span: Span) -> Statement<'a> {
        let around = Argument::from(self.build.name(span, AROUND));
        self.build.statement(span, self.build.call(span, "__stead_resume", [around]))
    }

    /// Binds `field = () => …` of a derived class to its instance: resources it creates belong to the instance.
    pub(super) fn bind_arrow_field(&mut self, key: &PropertyKey<'a>, value: &mut Expression<'a>) {
        let span = value.span();
        let name = match key {
            PropertyKey::PrivateIdentifier(key) => Some(format!("#{}", key.name)),
            key => key.static_name().map(|name| name.to_string()),
        };
        let name = self.build.text(span, name.as_deref().unwrap_or_default());
        let arrow = self.take(value);
        let arguments = [self.build.this(span), arrow, name].map(Argument::from);
        *value = self.build.call(span, "__stead_own", arguments);
    }
}

/// Returns the statement inside its labels.
fn innermost<'s, 'a>(mut statement: &'s mut Statement<'a>) -> &'s mut Statement<'a> {
    while let Statement::LabeledStatement(labelled) = statement {
        statement = &mut labelled.body;
    }
    statement
}
