//! Writes a `new` expression again with its arguments in the right places, for the help of an error.
//!
//! The source file is parsed again: only an error needs the spans of all arguments.

use oxc_allocator::Allocator;
use oxc_ast::ast::{Argument, Expression, NewExpression, ObjectExpression, ObjectPropertyKind};
use oxc_ast_visit::{VisitJs, walk_js as walk};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan, SourceType, Span};

use crate::program::source_text::SourceText;

/// Mistake in the arguments of a `new`.
pub(crate) enum ArgumentMistake<'a> {
    /// The id comes first: `new File("a", { … })`.
    IdFirst,
    /// Options among the properties, by name.
    OptionsInProperties(&'a [String]),
}

/// Maximum length of a corrected line; a longer one is not shown.
const MAX_LENGTH: usize = 160;

/// Returns the corrected text of the `new` expression at a span; `None` if it cannot be written on one line.
pub(crate) fn corrected_new(
    source: &SourceText,
    span: Span,
    mistake: &ArgumentMistake<'_>,
) -> Option<String> {
    let allocator = Allocator::default();
    let options = ParseOptions { preserve_parens: false, ..ParseOptions::default() };
    let parser = Parser::new(&allocator, &source.text, SourceType::ts()).with_options(options);
    let mut search = Search { source, span, mistake, found: None };
    search.visit_program(&parser.parse().program);
    search.found.filter(|line| line.chars().count() <= MAX_LENGTH)
}

struct Search<'s> {
    source: &'s SourceText,
    span: Span,
    mistake: &'s ArgumentMistake<'s>,
    found: Option<String>,
}

impl<'a> VisitJs<'a> for Search<'_> {
    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        if it.span == self.span {
            self.found = self.rewrite(it);
        } else {
            walk::walk_new_expression(self, it);
        }
    }
}

impl Search<'_> {
    fn rewrite(&self, new: &NewExpression<'_>) -> Option<String> {
        let (properties, options) = match self.mistake {
            ArgumentMistake::IdFirst => {
                let id = format!("id: {}", self.text(new.arguments.first()?.span())?);
                let properties =
                    new.arguments.get(1).map_or(Some("{}".to_owned()), |it| self.text(it.span()))?;
                (properties, self.joined(vec![id], new.arguments.get(2))?)
            }
            ArgumentMistake::OptionsInProperties(names) => {
                let object = literal(new.arguments.first()?)?;
                let (moved, kept) = self.split(object, names)?;
                (braced(&kept), self.joined(moved, new.arguments.get(1))?)
            }
        };
        let callee = self.text(Span::new(new.span.start, new.callee.span().end))?;
        Some(format!("{callee}({properties}, {options})"))
    }

    /// Returns the members with the given names, and the others.
    fn split(&self, object: &ObjectExpression<'_>, names: &[String]) -> Option<(Vec<String>, Vec<String>)> {
        let (mut moved, mut kept) = (Vec::new(), Vec::new());
        for member in &object.properties {
            let name = match member {
                ObjectPropertyKind::ObjectProperty(property) => property.key.static_name(),
                ObjectPropertyKind::SpreadProperty(_) => None,
            };
            let is_moved = name.is_some_and(|name| names.iter().any(|wanted| *wanted == *name));
            let list = if is_moved { &mut moved } else { &mut kept };
            list.push(self.text(member.span())?);
        }
        (moved.len() == names.len()).then_some((moved, kept))
    }

    /// Returns an object literal with the given members, and with those of an argument.
    fn joined(&self, mut members: Vec<String>, argument: Option<&Argument<'_>>) -> Option<String> {
        match (argument, argument.and_then(literal)) {
            (_, Some(object)) => {
                for member in &object.properties {
                    members.push(self.text(member.span())?);
                }
            }
            (Some(other), None) => members.push(format!("...{}", self.text(other.span())?)),
            (None, None) => {}
        }
        Some(braced(&members))
    }

    /// Returns the source text of a span on one line.
    fn text(&self, span: Span) -> Option<String> {
        let text = self.source.text.get(span.start as usize..span.end as usize)?;
        Some(text.lines().map(str::trim).collect::<Vec<_>>().join(" "))
    }
}

/// Returns the object literal that an argument is, without type assertions around it.
fn literal<'s, 'a>(argument: &'s Argument<'a>) -> Option<&'s ObjectExpression<'a>> {
    match argument.as_expression()?.get_inner_expression() {
        Expression::ObjectExpression(object) => Some(object),
        _ => None,
    }
}

fn braced(members: &[String]) -> String {
    if members.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", members.join(", ")) }
}
