//! Visits the syntax tree and guards each kind of node that inspects a value.
//!
//! Children are instrumented first. A kind of node without a method here only passes values on.

use oxc_ast::ast::{
    AccessorProperty, Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentOperator,
    AssignmentTargetPropertyProperty, AwaitExpression, BinaryExpression, BinaryOperator, BindingIdentifier,
    BindingProperty, CallExpression, CatchClause, Class, ClassElement, ComputedMemberExpression,
    ConditionalExpression, Decorator, DoWhileStatement, Expression, ExpressionStatement, ForInStatement,
    ForOfStatement, ForStatement, Function, IdentifierReference, IfStatement, ImportExpression,
    LogicalExpression, LogicalOperator, MethodDefinition, MethodDefinitionKind, ObjectExpression,
    ObjectProperty, ObjectPropertyKind, PrivateFieldExpression, PrivateInExpression, PropertyDefinition,
    PropertyKind, RegExpLiteral, ReturnStatement, SpreadElement, Statement, StaticBlock,
    StaticMemberExpression, SwitchCase, SwitchStatement, ThrowStatement, UnaryExpression, UnaryOperator,
    VariableDeclaration, VariableDeclarator, WhileStatement, YieldExpression,
};
use oxc_ast_visit::{VisitJsMut, walk_js_mut as walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;
use stead_model::Code;

use super::branches::is_comparison;
use super::build::can_be_unknown;
use super::captures::LiteralCaptures;
use super::implicit_calls::is_function;
use super::imports::{Import, Needs};
use super::instrument::{Instrumenter, This, UnsupportedSyntax, iterating, single};
use crate::program::site::Usage;

impl<'a> VisitJsMut<'a> for Instrumenter<'a> {
    fn visit_expression(&mut self, it: &mut Expression<'a>) {
        walk::walk_expression(self, it);
        self.rewrite(it);
        self.record_literal(it);
    }

    fn visit_statement(&mut self, it: &mut Statement<'a>) {
        let labelled = std::mem::replace(&mut self.labelled, matches!(it, Statement::LabeledStatement(_)));
        walk::walk_statement(self, it);
        if !labelled {
            self.restore_scope(it);
        }
    }

    fn visit_expression_statement(&mut self, it: &mut ExpressionStatement<'a>) {
        self.discarded = Some(it.expression.span());
        walk::walk_expression_statement(self, it);
    }

    fn visit_if_statement(&mut self, it: &mut IfStatement<'a>) {
        walk::walk_if_statement(self, it);
        self.guard(&mut it.test, Usage::Test);
    }

    fn visit_while_statement(&mut self, it: &mut WhileStatement<'a>) {
        walk::walk_while_statement(self, it);
        self.guard(&mut it.test, Usage::Test);
    }

    fn visit_do_while_statement(&mut self, it: &mut DoWhileStatement<'a>) {
        walk::walk_do_while_statement(self, it);
        self.guard(&mut it.test, Usage::Test);
    }

    fn visit_for_statement(&mut self, it: &mut ForStatement<'a>) {
        walk::walk_for_statement(self, it);
        if let Some(test) = &mut it.test {
            self.guard(test, Usage::Test);
        }
    }

    fn visit_conditional_expression(&mut self, it: &mut ConditionalExpression<'a>) {
        walk::walk_conditional_expression(self, it);
        if !self.is_deferrable_choice(it.span, &it.test, &[&it.consequent, &it.alternate]) {
            self.guard(&mut it.test, Usage::Choose);
        }
    }

    fn visit_logical_expression(&mut self, it: &mut LogicalExpression<'a>) {
        walk::walk_logical_expression(self, it);
        let nullish = it.operator == LogicalOperator::Coalesce;
        if !self.is_deferrable_choice(it.span, &it.left, &[&it.right]) {
            self.guard(&mut it.left, if nullish { Usage::Nullish } else { Usage::Logical });
        }
    }

    fn visit_unary_expression(&mut self, it: &mut UnaryExpression<'a>) {
        walk::walk_unary_expression(self, it);
        match it.operator {
            UnaryOperator::LogicalNot if self.defers_comparisons() => {}
            UnaryOperator::LogicalNot => self.guard(&mut it.argument, Usage::Not),
            // `typeof` and arithmetic are rewritten as a whole; `void` and `delete` do not inspect the value.
            UnaryOperator::UnaryNegation
            | UnaryOperator::UnaryPlus
            | UnaryOperator::BitwiseNot
            | UnaryOperator::Typeof
            | UnaryOperator::Void
            | UnaryOperator::Delete => {}
        }
    }

    fn visit_binary_expression(&mut self, it: &mut BinaryExpression<'a>) {
        walk::walk_binary_expression(self, it);
        let usage = match it.operator {
            BinaryOperator::In => Usage::In,
            BinaryOperator::Instanceof => Usage::InstanceOf,
            operator if is_comparison(operator) && !self.defers_comparisons() => Usage::Compare,
            // Arithmetic is rewritten as a whole.
            _ => return,
        };
        self.guard(&mut it.left, usage);
        self.guard(&mut it.right, usage);
    }

    fn visit_private_in_expression(&mut self, it: &mut PrivateInExpression<'a>) {
        walk::walk_private_in_expression(self, it);
        self.guard(&mut it.right, Usage::In);
    }

    fn visit_switch_statement(&mut self, it: &mut SwitchStatement<'a>) {
        walk::walk_switch_statement(self, it);
        self.guard(&mut it.discriminant, Usage::Switch);
    }

    fn visit_switch_case(&mut self, it: &mut SwitchCase<'a>) {
        walk::walk_switch_case(self, it);
        if let Some(test) = &mut it.test {
            self.guard(test, Usage::Switch);
        }
    }

    fn visit_for_of_statement(&mut self, it: &mut ForOfStatement<'a>) {
        if it.r#await && self.functions == 0 {
            self.out.awaits.push(it.right.span());
        }
        walk::walk_for_of_statement(self, it);
        self.guard_iterable(&mut it.right, Usage::Iterate);
        self.loop_defaults(&mut it.left, &mut it.body);
    }

    fn visit_for_in_statement(&mut self, it: &mut ForInStatement<'a>) {
        walk::walk_for_in_statement(self, it);
        self.guard(&mut it.right, Usage::Iterate);
        self.loop_defaults(&mut it.left, &mut it.body);
    }

    fn visit_spread_element(&mut self, it: &mut SpreadElement<'a>) {
        walk::walk_spread_element(self, it);
        self.guard_iterable(&mut it.argument, Usage::Spread);
    }

    fn visit_object_property_kind(&mut self, it: &mut ObjectPropertyKind<'a>) {
        match it {
            ObjectPropertyKind::ObjectProperty(property) => self.visit_object_property(property),
            ObjectPropertyKind::SpreadProperty(spread) => {
                walk::walk_spread_element(self, spread);
                self.guard(&mut spread.argument, Usage::Spread);
            }
        }
    }

    fn visit_yield_expression(&mut self, it: &mut YieldExpression<'a>) {
        walk::walk_yield_expression(self, it);
        if let (true, Some(argument)) = (it.delegate, &mut it.argument) {
            self.guard_iterable(argument, Usage::Iterate);
        }
    }

    fn visit_variable_declaration(&mut self, it: &mut VariableDeclaration<'a>) {
        walk::walk_variable_declaration(self, it);
        self.declaration_defaults(it);
    }

    fn visit_catch_clause(&mut self, it: &mut CatchClause<'a>) {
        walk::walk_catch_clause(self, it);
        self.catch_defaults(it);
    }

    fn visit_variable_declarator(&mut self, it: &mut VariableDeclarator<'a>) {
        if let (Some(name), Some(init)) = (it.id.get_identifier_name(), &it.init)
            && is_function(init)
        {
            self.expect_by_name(&name, init.span());
        }
        walk::walk_variable_declarator(self, it);
        if let Some(init) = &mut it.init {
            self.guard_pattern_source(iterating(&it.id), init);
            self.check_pattern_members(&it.id, init);
        }
    }

    fn visit_computed_member_expression(&mut self, it: &mut ComputedMemberExpression<'a>) {
        let key = super::keys::kind_of(&it.expression);
        walk::walk_computed_member_expression(self, it);
        self.guard_member_key(it, key);
        if it.optional {
            self.guard(&mut it.object, Usage::OptionalChain);
        }
    }

    fn visit_assignment_expression(&mut self, it: &mut AssignmentExpression<'a>) {
        let wraps =
            it.operator == AssignmentOperator::Assign && self.expect_assigned_call(&it.left, &it.right);
        walk::walk_assignment_expression(self, it);
        if wraps {
            self.wrap_converter(&mut it.right);
        }
    }

    fn visit_static_member_expression(&mut self, it: &mut StaticMemberExpression<'a>) {
        walk::walk_static_member_expression(self, it);
        if it.optional {
            self.guard(&mut it.object, Usage::OptionalChain);
        } else if it.property.name == "then" {
            // An unknown has no `then`, so that `await` returns it; a program must not see that.
            self.guard(&mut it.object, Usage::Then);
        } else if it.property.name == "done"
            && can_be_unknown(&it.object)
            && !matches!(it.object, Expression::Super(_))
        {
            let span = it.object.span();
            let object = self.take(&mut it.object);
            it.object = self.build.call(span, "__stead_done_of", [Argument::from(object)]);
        }
    }

    fn visit_private_field_expression(&mut self, it: &mut PrivateFieldExpression<'a>) {
        walk::walk_private_field_expression(self, it);
        if it.optional {
            self.guard(&mut it.object, Usage::OptionalChain);
        }
    }

    fn visit_call_expression(&mut self, it: &mut CallExpression<'a>) {
        walk::walk_call_expression(self, it);
        if it.optional {
            // A guard around a member would lose its `this`; an unknown member fails when it is called.
            match &mut it.callee {
                Expression::StaticMemberExpression(callee) => {
                    self.guard(&mut callee.object, Usage::OptionalChain);
                }
                Expression::ComputedMemberExpression(callee) => {
                    self.guard(&mut callee.object, Usage::OptionalChain);
                }
                Expression::PrivateFieldExpression(callee) => {
                    self.guard(&mut callee.object, Usage::OptionalChain);
                }
                callee => self.guard(callee, Usage::OptionalChain),
            }
        }
        self.record_captures(it.span, &mut it.arguments);
        let makes_array = matches!(&it.callee, Expression::Identifier(id) if id.name == "Array");
        if makes_array
            && single(&it.arguments)
            && let Some(length) = it.arguments[0].as_expression_mut()
        {
            self.guard(length, Usage::Count);
        }
    }

    fn visit_object_expression(&mut self, it: &mut ObjectExpression<'a>) {
        walk::walk_object_expression(self, it);
        self.guard_done(it);
    }

    fn visit_object_property(&mut self, it: &mut ObjectProperty<'a>) {
        let wraps =
            it.kind == PropertyKind::Init && self.expect_implicit_call_by(&it.key, it.computed, &it.value);
        walk::walk_object_property(self, it);
        if wraps {
            it.shorthand = false;
            self.wrap_converter(&mut it.value);
        }
        self.guard_key(&mut it.key, it.computed);
        let sets_prototype =
            !it.computed && !it.method && !it.shorthand && it.key.is_specific_static_name("__proto__");
        if sets_prototype {
            self.guard(&mut it.value, Usage::Extends);
        }
    }

    fn visit_binding_property(&mut self, it: &mut BindingProperty<'a>) {
        walk::walk_binding_property(self, it);
        self.guard_key(&mut it.key, it.computed);
    }

    fn visit_assignment_target_property_property(&mut self, it: &mut AssignmentTargetPropertyProperty<'a>) {
        walk::walk_assignment_target_property_property(self, it);
        self.guard_key(&mut it.name, it.computed);
    }

    fn visit_return_statement(&mut self, it: &mut ReturnStatement<'a>) {
        walk::walk_return_statement(self, it);
        self.guard_return(it);
    }

    fn visit_throw_statement(&mut self, it: &mut ThrowStatement<'a>) {
        walk::walk_throw_statement(self, it);
        self.thrown(&mut it.argument);
    }

    fn visit_await_expression(&mut self, it: &mut AwaitExpression<'a>) {
        if self.functions == 0 {
            self.out.awaits.push(it.span);
        }
        walk::walk_await_expression(self, it);
    }

    fn visit_class(&mut self, it: &mut Class<'a>) {
        let derived = it.heritage.is_some();
        let outer = self.this;
        let around = std::mem::replace(&mut self.derived, derived);
        it.decorators.iter_mut().for_each(|decorator| self.visit_decorator(decorator));
        if let Some(heritage) = &mut it.heritage {
            self.visit_expression(&mut heritage.expression);
            self.guard(&mut heritage.expression, Usage::Extends);
        }
        it.id.iter_mut().for_each(|id| self.visit_binding_identifier(id));
        for element in &mut it.body.body {
            if let (true, ClassElement::MethodDefinition(method)) = (derived, &mut *element)
                && method.kind == MethodDefinitionKind::Constructor
            {
                self.this = after_super(&method.value);
                self.constructor(&mut method.value);
                self.this = outer;
            } else {
                self.visit_class_element(element);
            }
        }
        self.derived = around;
    }

    fn visit_method_definition(&mut self, it: &mut MethodDefinition<'a>) {
        self.expect_implicit_call(&it.key, it.computed, it.value.span);
        walk::walk_method_definition(self, it);
        self.guard_key(&mut it.key, it.computed);
    }

    fn visit_property_definition(&mut self, it: &mut PropertyDefinition<'a>) {
        it.decorators.iter_mut().for_each(|decorator| self.visit_decorator(decorator));
        self.visit_property_key(&mut it.key);
        self.guard_key(&mut it.key, it.computed);
        let Some(value) = &mut it.value else { return };
        let wraps = self.expect_implicit_call_by(&it.key, it.computed, value);
        let span = value.span();
        let binds = self.derived && !it.r#static && matches!(value, Expression::ArrowFunctionExpression(_));
        let outer = std::mem::replace(&mut self.field, binds.then_some(span));
        self.with_own_this(|this| this.visit_expression(value));
        self.field = outer;
        if wraps {
            self.wrap_converter(value);
        }
        if binds {
            self.bind_arrow_field(&it.key, value);
            if let Some(literal) = self.captures.literals.remove(&span) {
                self.apply_literal(value, &LiteralCaptures { name: None, ..literal });
            }
        }
    }

    fn visit_accessor_property(&mut self, it: &mut AccessorProperty<'a>) {
        self.out.unsupported.push(UnsupportedSyntax {
            code: Code::SYNTAX,
            span: it.key.span(),
            message: "`accessor` fields are not supported yet".to_owned(),
            label: "here",
            help: "write a field, or a getter and a setter",
        });
    }

    fn visit_static_block(&mut self, it: &mut StaticBlock<'a>) {
        self.with_own_this(|this| walk::walk_static_block(this, it));
    }

    fn visit_function(&mut self, it: &mut Function<'a>, flags: ScopeFlags) {
        if let Some(name) = &it.id {
            self.expect_by_name(&name.name, it.span);
        }
        let outer = self.enter_function(it.span, it.r#async, it.generator);
        self.with_own_this(|this| walk::walk_function(this, it, flags));
        self.parameter_defaults(&it.params, it.body.as_deref_mut());
        self.leave_function(outer);
    }

    fn visit_arrow_function_expression(&mut self, it: &mut ArrowFunctionExpression<'a>) {
        let outer = self.enter_function(it.span, it.r#async, false);
        self.functions += 1;
        walk::walk_arrow_function_expression(self, it);
        self.functions -= 1;
        self.guard_arrow(it);
        self.arrow_defaults(it);
        self.leave_function(outer);
    }

    fn visit_import_expression(&mut self, it: &mut ImportExpression<'a>) {
        it.options = None;
        match &it.source {
            Expression::StringLiteral(text) => self.out.imports.push(Import {
                specifier: text.value.to_string(),
                span: text.span,
                names: Vec::new(),
                needs: Needs::Exports,
            }),
            other => self.out.unsupported.push(UnsupportedSyntax {
                code: Code::UNSUPPORTED_IMPORT,
                span: other.span(),
                message: "the path of an import must be a string literal".to_owned(),
                label: "computed here",
                help: "write the path as a literal: all files of a program are loaded before it runs",
            }),
        }
    }

    fn visit_decorator(&mut self, it: &mut Decorator<'a>) {
        self.out.unsupported.push(UnsupportedSyntax {
            code: Code::SYNTAX,
            span: it.span,
            message: "decorators are not supported yet".to_owned(),
            label: "here",
            help: "call the function yourself, or set the option in the constructor",
        });
    }

    fn visit_reg_exp_literal(&mut self, it: &mut RegExpLiteral<'a>) {
        self.check_regex(it);
    }

    fn visit_identifier_reference(&mut self, it: &mut IdentifierReference<'a>) {
        self.refuse_reserved(it.name.as_str(), it.span);
    }

    fn visit_binding_identifier(&mut self, it: &mut BindingIdentifier<'a>) {
        self.refuse_reserved(it.name.as_str(), it.span);
    }
}

impl<'a> Instrumenter<'a> {
    fn with_own_this(&mut self, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.this, This::Anywhere);
        self.functions += 1;
        visit(self);
        self.functions -= 1;
        self.this = outer;
    }

    /// Visits a constructor, for which the class has already set the availability of `this`.
    fn constructor(&mut self, function: &mut Function<'a>) {
        let outer = self.enter_function(function.span, false, false);
        self.functions += 1;
        walk::walk_function(self, function, ScopeFlags::Function | ScopeFlags::Constructor);
        self.functions -= 1;
        self.parameter_defaults(&function.params, function.body.as_deref_mut());
        self.leave_function(outer);
    }

    fn refuse_reserved(&mut self, name: &str, span: Span) {
        if name.starts_with("__stead") {
            self.out.unsupported.push(UnsupportedSyntax {
                code: Code::SYNTAX,
                span,
                message: format!("`{name}` is a reserved name"),
                label: "names that start with `__stead` are reserved",
                help: "choose another name",
            });
        }
    }
}

/// Returns the availability of `this`: after a `super(…)` that is a statement of the constructor.
fn after_super(constructor: &Function<'_>) -> This {
    let statements = constructor.body.iter().flat_map(|body| body.statements.iter());
    let ends = statements.filter_map(|statement| match statement {
        Statement::ExpressionStatement(statement) => match &statement.expression {
            Expression::CallExpression(call) if matches!(call.callee, Expression::Super(_)) => {
                Some(call.span.end)
            }
            _ => None,
        },
        _ => None,
    });
    ends.min().map_or(This::Nowhere, This::After)
}
