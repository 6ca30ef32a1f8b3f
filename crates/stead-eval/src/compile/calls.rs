//! Where calls stand in a source file.
//!
//! The engine reports a call at the last name in its arguments; with the called function's name, the call
//! itself can be found again. Only looked at when a trace is.

use oxc_allocator::Allocator;
use oxc_ast::ast::{CallExpression, Expression, NewExpression};
use oxc_ast_visit::{VisitJs, walk_js as walk};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan, SourceType, Span};

use crate::place::SourceText;

/// All calls of a file.
#[derive(Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
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

    /// What is called in the innermost call of a function with this name around an offset.
    pub(crate) fn callee(&self, offset: u32, name: &str) -> Option<Span> {
        let around = |call: &&Call| call.span.start <= offset && offset < call.span.end && call.name == name;
        self.calls.iter().filter(around).min_by_key(|call| call.span.size()).map(|call| call.callee)
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

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.add(it.span, &it.callee);
        walk::walk_new_expression(self, it);
    }
}
