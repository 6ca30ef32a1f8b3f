//! Indexes the calls and loops of a source file, to locate the lines of a stack trace.
//!
//! The engine reports a call at the last name in its arguments; the name of the called function identifies the call itself.

use oxc_allocator::Allocator;
use oxc_ast::ast::{ArrowFunctionExpression, CallExpression, Expression, Function, NewExpression, Statement};
use oxc_ast_visit::{VisitJs, walk_js as walk};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan, SourceType, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::program::source_text::SourceText;

/// Index of the calls, functions and loops of a file.
#[derive(Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    functions: Vec<Span>,
    loops: Vec<Span>,
}

struct Call {
    span: Span,
    callee: Span,
    name: String,
}

impl Calls {
    pub(crate) fn of(source: &SourceText) -> Calls {
        let allocator = Allocator::default();
        let options = ParseOptions { preserve_parens: false, ..ParseOptions::default() };
        let parser = Parser::new(&allocator, &source.text, SourceType::ts()).with_options(options);
        let mut calls = Calls::default();
        calls.visit_program(&parser.parse().program);
        calls
    }

    /// Returns the span of the callee in the innermost call of `name` that contains an offset.
    pub(crate) fn callee(&self, offset: u32, name: &str) -> Option<Span> {
        let around = |call: &&Call| call.span.start <= offset && offset < call.span.end && call.name == name;
        self.calls.iter().filter(around).min_by_key(|call| call.span.size()).map(|call| call.callee)
    }

    /// Returns the innermost loop that contains an offset, or else the next loop of the same function.
    ///
    /// The engine records no position when it jumps back to the start of a loop.
    pub(crate) fn loop_at(&self, offset: u32) -> Option<Span> {
        let innermost = |spans: &[Span], at: u32| {
            let around = spans.iter().filter(|span| span.start <= at && at < span.end);
            around.min_by_key(|span| span.size()).copied()
        };
        let function = innermost(&self.functions, offset);
        let own = |span: &&Span| innermost(&self.functions, span.start) == function;
        let around = self.loops.iter().filter(own).filter(|span| span.start <= offset && offset < span.end);
        let after = self.loops.iter().filter(own).filter(|span| span.start > offset);
        around.min_by_key(|span| span.size()).or_else(|| after.min_by_key(|span| span.start)).copied()
    }

    fn add(&mut self, span: Span, callee: &Expression<'_>) {
        let name = match callee {
            Expression::Identifier(id) => id.name.as_str(),
            Expression::StaticMemberExpression(member) => member.property.name.as_str(),
            Expression::PrivateFieldExpression(member) => member.field.name.as_str(),
            _ => return,
        };
        self.calls.push(Call { span, callee: callee.span(), name: name.to_owned() });
    }
}

impl<'a> VisitJs<'a> for Calls {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.add(it.span, &it.callee);
        walk::walk_call_expression(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions.push(it.span);
        walk::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.functions.push(it.span);
        walk::walk_arrow_function_expression(self, it);
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        if it.is_iteration_statement() {
            self.loops.push(it.span());
        }
        walk::walk_statement(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.add(it.span, &it.callee);
        walk::walk_new_expression(self, it);
    }
}
