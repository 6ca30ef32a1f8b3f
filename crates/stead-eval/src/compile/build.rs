//! Builds pieces of generated code, and tells which expressions can be unknown.
//!
//! **Invariant:** every generated node has the span of the node that it replaces, so that source maps stay correct.

use oxc_allocator::{Allocator, ArenaBox, ArenaVec, CloneIn, GetAllocator, TakeIn};
use oxc_ast::ast::{
    Argument, ArrowFunctionBody, AssignmentOperator, AssignmentTarget, BinaryOperator, BindingPattern,
    Expression, FormalParameterKind, FormalParameters, LogicalOperator, NumberBase, Statement,
    TemplateLiteral, UnaryOperator, VariableDeclarationKind, VariableDeclarator,
};
use oxc_ast::builder::AstBuilder;
use oxc_span::{GetSpan, Span};

pub(super) struct Build<'a> {
    ast: AstBuilder<'a>,
}

impl<'a> Build<'a> {
    pub(super) fn new(allocator: &'a Allocator) -> Build<'a> {
        Build { ast: AstBuilder::new(allocator) }
    }

    pub(super) fn allocator(&self) -> &'a Allocator {
        self.ast.allocator()
    }

    pub(super) fn name(&self, span: Span, name: &'a str) -> Expression<'a> {
        Expression::new_identifier(span, name, &self.ast)
    }

    pub(super) fn undefined(&self, span: Span) -> Expression<'a> {
        Expression::new_unary_expression(span, UnaryOperator::Void, self.number(span, 0), &self.ast)
    }

    pub(super) fn this(&self, span: Span) -> Expression<'a> {
        Expression::new_this_expression(span, &self.ast)
    }

    pub(super) fn number(&self, span: Span, value: usize) -> Expression<'a> {
        Expression::new_numeric_literal(span, value as f64, None, NumberBase::Decimal, &self.ast)
    }

    pub(super) fn double(&self, span: Span, value: f64) -> Expression<'a> {
        Expression::new_numeric_literal(span, value, None, NumberBase::Decimal, &self.ast)
    }

    /// Builds `function(arguments…)` for a function of the runtime.
    pub(super) fn call(
        &self,
        span: Span,
        function: &'a str,
        arguments: impl IntoIterator<Item = Argument<'a>>,
    ) -> Expression<'a> {
        let arguments = ArenaVec::from_iter_in(arguments, &self.ast);
        Expression::new_call_expression(span, self.name(span, function), None, arguments, false, &self.ast)
    }

    /// Builds `typeof name === "function"`, a cheap test that is false for nearly every known value.
    pub(super) fn is_function(&self, span: Span, name: &'a str) -> Expression<'a> {
        self.is_function_value(span, self.name(span, name))
    }

    pub(super) fn is_function_value(&self, span: Span, value: Expression<'a>) -> Expression<'a> {
        let kind = self.type_of(span, value);
        let function = Expression::new_string_literal(span, "function", None, &self.ast);
        Expression::new_binary_expression(span, kind, BinaryOperator::StrictEquality, function, &self.ast)
    }

    pub(super) fn type_of(&self, span: Span, of: Expression<'a>) -> Expression<'a> {
        Expression::new_unary_expression(span, UnaryOperator::Typeof, of, &self.ast)
    }

    pub(super) fn choose(
        &self,
        span: Span,
        test: Expression<'a>,
        yes: Expression<'a>,
        no: Expression<'a>,
    ) -> Expression<'a> {
        Expression::new_conditional_expression(span, test, yes, no, &self.ast)
    }

    pub(super) fn logical(
        &self,
        span: Span,
        left: Expression<'a>,
        operator: LogicalOperator,
        right: Expression<'a>,
    ) -> Expression<'a> {
        Expression::new_logical_expression(span, left, operator, right, &self.ast)
    }

    pub(super) fn binary(
        &self,
        span: Span,
        left: Expression<'a>,
        operator: BinaryOperator,
        right: Expression<'a>,
    ) -> Expression<'a> {
        Expression::new_binary_expression(span, left, operator, right, &self.ast)
    }

    pub(super) fn template(&self, template: TemplateLiteral<'a>) -> Expression<'a> {
        Expression::TemplateLiteral(ArenaBox::new_in(template, &self.ast))
    }

    pub(super) fn sequence<const N: usize>(&self, span: Span, all: [Expression<'a>; N]) -> Expression<'a> {
        Expression::new_sequence_expression(span, ArenaVec::from_array_in(all, &self.ast), &self.ast)
    }

    pub(super) fn sequence_of(&self, span: Span, all: Vec<Expression<'a>>) -> Expression<'a> {
        Expression::new_sequence_expression(span, ArenaVec::from_iter_in(all, &self.ast), &self.ast)
    }

    /// Builds the declarator `{} = value`, which evaluates the value and binds nothing.
    pub(super) fn discard(&self, span: Span, value: Expression<'a>) -> VariableDeclarator<'a> {
        let nothing = BindingPattern::new_object_pattern(span, ArenaVec::new_in(&self.ast), None, &self.ast);
        VariableDeclarator::new(span, nothing, None, Some(value), false, &self.ast)
    }

    pub(super) fn assign(
        &self,
        span: Span,
        target: AssignmentTarget<'a>,
        value: Expression<'a>,
    ) -> Expression<'a> {
        Expression::new_assignment_expression(span, AssignmentOperator::Assign, target, value, &self.ast)
    }

    pub(super) fn name_target(&self, span: Span, name: &'a str) -> AssignmentTarget<'a> {
        AssignmentTarget::new_assignment_target_identifier(span, name, &self.ast)
    }

    /// Builds `object.property` for a variable of the runtime.
    pub(super) fn member(&self, span: Span, object: &'a str, property: &'a str) -> Expression<'a> {
        let property = oxc_ast::ast::IdentifierName::new(span, property, &self.ast);
        let object = self.name(span, object);
        Expression::new_static_member_expression(span, object, property, false, &self.ast)
    }

    /// Builds the assignment target `object.property`.
    pub(super) fn member_target(
        &self,
        span: Span,
        object: Expression<'a>,
        property: &'a str,
    ) -> AssignmentTarget<'a> {
        let property = oxc_ast::ast::IdentifierName::new(span, property, &self.ast);
        AssignmentTarget::new_static_member_expression(span, object, property, false, &self.ast)
    }

    /// Builds the assignment target `object[key]`.
    pub(super) fn element_target(
        &self,
        span: Span,
        object: Expression<'a>,
        key: Expression<'a>,
    ) -> AssignmentTarget<'a> {
        AssignmentTarget::new_computed_member_expression(span, object, key, false, &self.ast)
    }

    pub(super) fn string(&self, span: Span, text: &'a str) -> Expression<'a> {
        Expression::new_string_literal(span, text, None, &self.ast)
    }

    /// Builds a template literal without holes, which keeps the escapes of the piece as written.
    pub(super) fn template_piece(&self, piece: oxc_ast::ast::TemplateElement<'a>) -> Expression<'a> {
        let span = piece.span;
        let pieces = ArenaVec::from_array_in([piece], &self.ast);
        Expression::new_template_literal(span, pieces, ArenaVec::new_in(&self.ast), &self.ast)
    }

    /// Builds `() => value`.
    pub(super) fn thunk(&self, value: Expression<'a>) -> Expression<'a> {
        let span = value.span();
        let kind = FormalParameterKind::ArrowFormalParameters;
        let parameters = FormalParameters::boxed(span, kind, ArenaVec::new_in(&self.ast), None, &self.ast);
        let body = ArrowFunctionBody::from(value);
        Expression::new_arrow_function_expression(span, false, None, parameters, None, body, &self.ast)
    }

    pub(super) fn statement(&self, span: Span, expression: Expression<'a>) -> Statement<'a> {
        Statement::new_expression_statement(span, expression, &self.ast)
    }

    pub(super) fn block<const N: usize>(&self, span: Span, all: [Statement<'a>; N]) -> Statement<'a> {
        Statement::new_block_statement(span, ArenaVec::from_array_in(all, &self.ast), &self.ast)
    }

    /// Builds `const name = value;`.
    pub(super) fn constant(&self, span: Span, name: &'a str, value: Expression<'a>) -> Statement<'a> {
        let id = BindingPattern::new_binding_identifier(span, name, &self.ast);
        let one = VariableDeclarator::new(span, id, None, Some(value), false, &self.ast);
        let all = ArenaVec::from_array_in([one], &self.ast);
        Statement::new_variable_declaration(span, VariableDeclarationKind::Const, all, false, &self.ast)
    }

    pub(super) fn take_statement(&self, statement: &mut Statement<'a>) -> Statement<'a> {
        statement.take_in(&self.allocator())
    }

    /// Builds a string literal from text that is not in the source.
    pub(super) fn text(&self, span: Span, text: &str) -> Expression<'a> {
        self.string(span, self.allocator().alloc_str(text))
    }

    pub(super) fn copy<T: CloneIn<'a>>(&self, node: &T) -> T::Cloned {
        node.clone_in(self.allocator())
    }
}

/// Returns true if an instrumented expression can be unknown.
///
/// After instrumentation, remaining `+` expressions and template literals have known operands only.
pub(super) fn can_be_unknown(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::BigIntLiteral(_)
        | Expression::RegExpLiteral(_)
        | Expression::StringLiteral(_)
        | Expression::TemplateLiteral(_)
        | Expression::ArrayExpression(_)
        | Expression::ObjectExpression(_)
        | Expression::ArrowFunctionExpression(_)
        | Expression::FunctionExpression(_)
        | Expression::ClassExpression(_)
        | Expression::UnaryExpression(_)
        | Expression::UpdateExpression(_)
        | Expression::BinaryExpression(_)
        | Expression::PrivateInExpression(_)
        | Expression::NewExpression(_)
        | Expression::ImportMeta(_)
        | Expression::NewTarget(_)
        | Expression::Super(_) => false,
        Expression::Identifier(id) => !matches!(id.name.as_str(), "undefined" | "NaN" | "Infinity"),
        Expression::CallExpression(call) => match &call.callee {
            Expression::Identifier(id) => !matches!(id.name.as_str(), "__stead_known" | "__stead_make"),
            _ => true,
        },
        _ => true,
    }
}
