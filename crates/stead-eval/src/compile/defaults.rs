//! Defaults of parameters and patterns.
//!
//! The engine applies a default when a value is `undefined`. A member of an unknown may turn out to be `undefined` only after
//! apply, so each name with a default is checked once more after the engine has bound it:
//! `typeof port === "function" && (port = __stead_defaulted(port, () => 443, site))`.

use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentTarget, AssignmentTargetMaybeDefault,
    AssignmentTargetProperty, BindingPattern, CatchClause, Expression, ForStatementLeft, FormalParameters,
    FunctionBody, LogicalOperator, Statement, VariableDeclaration, VariableDeclarationKind,
};
use oxc_semantic::Scoping;
use oxc_span::{GetSpan, Span};

use super::branches::{is_pure, is_value};
use super::instrument::{Instrumenter, Iterates};
use crate::program::site::Usage;

/// Returns the spans of constants that the program assigns to, which throws.
pub(super) fn reassigned_constants(scoping: &Scoping) -> Vec<Span> {
    let constants = scoping.symbol_ids().filter(|symbol| scoping.symbol_flags(*symbol).is_const_variable());
    let assigned =
        constants.filter(|symbol| scoping.get_resolved_references(*symbol).any(|it| it.is_write()));
    assigned.map(|symbol| scoping.symbol_span(symbol)).collect()
}

impl<'a> Instrumenter<'a> {
    /// Adds the checks of a declaration after each pattern: `let { a = 1 } = x, {} = (check of a, 0)`.
    pub(super) fn declaration_defaults(&mut self, it: &mut VariableDeclaration<'a>) {
        if !it.declarations.iter().any(|one| one.init.is_some() && has_defaults(&one.id)) {
            return;
        }
        if it.kind == VariableDeclarationKind::Const {
            if it.declarations.iter().any(|one| self.is_reassigned(&one.id)) {
                for one in &mut it.declarations {
                    if let Some(init) = &mut one.init {
                        let iterates = if has_defaults(&one.id) { Iterates::Part } else { Iterates::No };
                        self.guard_pattern_source(iterates, init);
                    }
                }
                return;
            }
            it.kind = VariableDeclarationKind::Let;
        }
        let mut at = 0;
        while at < it.declarations.len() {
            let span = it.declarations[at].span;
            let mut checks = Vec::new();
            self.pattern_defaults(&it.declarations[at].id, &mut checks);
            at += 1;
            if !checks.is_empty() {
                checks.push(self.build.number(span, 0));
                let checks = self.build.sequence_of(span, checks);
                it.declarations.insert(at, self.build.discard(span, checks));
                at += 1;
            }
        }
    }

    /// Adds the checks of a loop variable to the start of the loop's body.
    pub(super) fn loop_defaults(&mut self, left: &mut ForStatementLeft<'a>, body: &mut Statement<'a>) {
        let ForStatementLeft::VariableDeclaration(declaration) = left else {
            return self.assigned_loop_defaults(left, body);
        };
        let Some(pattern) = declaration.declarations.first().map(|one| &one.id) else { return };
        if !has_defaults(pattern) || self.is_reassigned(pattern) {
            return;
        }
        let mut checks = Vec::new();
        self.pattern_defaults(pattern, &mut checks);
        if declaration.kind == VariableDeclarationKind::Const {
            declaration.kind = VariableDeclarationKind::Let;
        }
        let span = body.span();
        let first = self.build.statement(span, self.build.sequence_of(span, checks));
        let taken = self.build.take_statement(body);
        *body = self.build.block(span, [first, taken]);
    }

    /// Adds the checks of a pattern that a loop assigns to: `for ({ a = 1 } of x)`.
    fn assigned_loop_defaults(&mut self, left: &mut ForStatementLeft<'a>, body: &mut Statement<'a>) {
        let Some(target) = left.as_assignment_target_mut() else { return };
        self.member_defaults(target);
        let mut checks = Vec::new();
        self.target_defaults(target, &mut checks);
        if !checks.is_empty() {
            let span = body.span();
            let first = self.build.statement(span, self.build.sequence_of(span, checks));
            let taken = self.build.take_statement(body);
            *body = self.build.block(span, [first, taken]);
        }
    }

    pub(super) fn catch_defaults(&mut self, it: &mut CatchClause<'a>) {
        let Some(parameter) = &it.param else { return };
        let mut checks = Vec::new();
        self.pattern_defaults(&parameter.pattern, &mut checks);
        if !checks.is_empty() {
            let span = it.body.span;
            let first = self.build.statement(span, self.build.sequence_of(span, checks));
            it.body.body.insert(0, first);
        }
    }

    /// Adds the checks of parameters to the start of a function's body.
    pub(super) fn parameter_defaults(
        &mut self,
        parameters: &FormalParameters<'a>,
        body: Option<&mut FunctionBody<'a>>,
    ) {
        let checks = self.parameter_checks(parameters);
        if let (Some(body), false) = (body, checks.is_empty()) {
            let span = body.span;
            let first = self.build.statement(span, self.build.sequence_of(span, checks));
            body.statements.insert(0, first);
        }
    }

    pub(super) fn arrow_defaults(&mut self, it: &mut ArrowFunctionExpression<'a>) {
        if let Some(body) = it.body.as_expression_mut() {
            let mut checks = self.parameter_checks(&it.params);
            if !checks.is_empty() {
                checks.push(self.take(body));
                *body = self.build.sequence_of(body.span(), checks);
            }
        } else {
            let ArrowFunctionExpression { params, body, .. } = it;
            self.parameter_defaults(params, body.as_function_body_mut());
        }
    }

    fn parameter_checks(&mut self, parameters: &FormalParameters<'a>) -> Vec<Expression<'a>> {
        let mut checks = Vec::new();
        for parameter in &parameters.items {
            match (&parameter.pattern, &parameter.initializer) {
                (BindingPattern::BindingIdentifier(name), Some(default)) => {
                    checks.push(self.check_of(name.name.as_str(), default));
                }
                (pattern, _) => self.pattern_defaults(pattern, &mut checks),
            }
        }
        if let Some(rest) = &parameters.rest {
            self.pattern_defaults(&rest.rest.argument, &mut checks);
        }
        checks
    }

    fn pattern_defaults(&mut self, pattern: &BindingPattern<'a>, checks: &mut Vec<Expression<'a>>) {
        match pattern {
            BindingPattern::BindingIdentifier(_) => {}
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    self.pattern_defaults(&property.value, checks);
                }
            }
            BindingPattern::ArrayPattern(array) => {
                for element in array.elements.iter().flatten() {
                    self.pattern_defaults(element, checks);
                }
                if let Some(rest) = &array.rest {
                    self.pattern_defaults(&rest.argument, checks);
                }
            }
            BindingPattern::AssignmentPattern(assignment) => match &assignment.left {
                BindingPattern::BindingIdentifier(name) => {
                    checks.push(self.check_of(name.name.as_str(), &assignment.right));
                }
                inner => self.pattern_defaults(inner, checks),
            },
        }
    }

    /// Rewrites `({ a = 1 } = x)` to `__stead_first({ a = 1 } = x, check of a)`.
    pub(super) fn assignment_defaults(&mut self, expression: &mut Expression<'a>) {
        let Expression::AssignmentExpression(assignment) = expression else { return };
        let mut checks = Vec::new();
        self.target_defaults(&assignment.left, &mut checks);
        if checks.is_empty() {
            return;
        }
        let span = expression.span();
        let all = std::iter::once(self.take(expression)).chain(checks);
        let all: Vec<Argument<'a>> = all.map(Argument::from).collect();
        *expression = self.build.call(span, "__stead_first", all);
    }

    fn target_defaults(&mut self, target: &AssignmentTarget<'a>, checks: &mut Vec<Expression<'a>>) {
        match target {
            AssignmentTarget::ObjectAssignmentTarget(object) => {
                for property in &object.properties {
                    match property {
                        AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(it) => {
                            if let Some(default) = &it.init {
                                checks.push(self.check_of(it.binding.name.as_str(), default));
                            }
                        }
                        AssignmentTargetProperty::AssignmentTargetPropertyProperty(it) => {
                            self.target_default(&it.binding, checks);
                        }
                    }
                }
            }
            AssignmentTarget::ArrayAssignmentTarget(array) => {
                for element in array.elements.iter().flatten() {
                    self.target_default(element, checks);
                }
            }
            _ => {}
        }
    }

    /// Rewrites `{ p: o.q = 80 }` to `{ p: __stead_slot(o, "q", () => 80, site).value = 80 }`, in all parts of a pattern.
    pub(super) fn member_defaults(&mut self, target: &mut AssignmentTarget<'a>) {
        match target {
            AssignmentTarget::ObjectAssignmentTarget(object) => {
                for property in &mut object.properties {
                    if let AssignmentTargetProperty::AssignmentTargetPropertyProperty(it) = property {
                        self.member_default(&mut it.binding);
                    }
                }
            }
            AssignmentTarget::ArrayAssignmentTarget(array) => {
                array.elements.iter_mut().flatten().for_each(|element| self.member_default(element));
            }
            _ => {}
        }
    }

    fn member_default(&mut self, target: &mut AssignmentTargetMaybeDefault<'a>) {
        let AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) = target else {
            return target.as_assignment_target_mut().into_iter().for_each(|it| self.member_defaults(it));
        };
        let span = it.binding.span();
        let (object, key) = match &mut it.binding {
            AssignmentTarget::StaticMemberExpression(member)
                if !matches!(member.object, Expression::Super(_)) =>
            {
                let key = self.build.string(span, member.property.name.as_str());
                (self.take(&mut member.object), key)
            }
            AssignmentTarget::ComputedMemberExpression(member)
                if !matches!(member.object, Expression::Super(_)) =>
            {
                (self.take(&mut member.object), self.take(&mut member.expression))
            }
            // `target_default` checks it after the assignment.
            AssignmentTarget::PrivateFieldExpression(member) if self.is_simple(&member.object) => return,
            AssignmentTarget::PrivateFieldExpression(_)
            | AssignmentTarget::StaticMemberExpression(_)
            | AssignmentTarget::ComputedMemberExpression(_) => return self.unsupported_target(span),
            inner => return self.member_defaults(inner),
        };
        let site = self.site(Usage::Default, it.init.span());
        let site = self.build.number(span, site);
        let otherwise = self.default_thunk(&it.init);
        let arguments = [object, key, otherwise, site].map(Argument::from);
        let slot = self.build.call(span, "__stead_slot", arguments);
        it.binding = self.build.member_target(span, slot, "value");
    }

    fn target_default(
        &mut self,
        target: &AssignmentTargetMaybeDefault<'a>,
        checks: &mut Vec<Expression<'a>>,
    ) {
        match target {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) => match &it.binding {
                AssignmentTarget::AssignmentTargetIdentifier(name) => {
                    checks.push(self.check_of(name.name.as_str(), &it.init));
                }
                AssignmentTarget::PrivateFieldExpression(member) if self.is_simple(&member.object) => {
                    let span = member.span;
                    let read = [0; 2].map(|_| Expression::PrivateFieldExpression(self.build.copy(member)));
                    let target = AssignmentTarget::PrivateFieldExpression(self.build.copy(member));
                    checks.push(self.check_of_target(span, read, target, &it.init));
                }
                inner => self.target_defaults(inner, checks),
            },
            target => {
                if let Some(target) = target.as_assignment_target() {
                    self.target_defaults(target, checks);
                }
            }
        }
    }

    /// Builds `typeof name === "function" && (name = __stead_defaulted(name, () => default, site))`.
    ///
    fn check_of(&mut self, name: &'a str, default: &Expression<'a>) -> Expression<'a> {
        let span = default.span();
        let read = [self.build.name(span, name), self.build.name(span, name)];
        self.check_of_target(span, read, self.build.name_target(span, name), default)
    }

    fn check_of_target(
        &mut self,
        span: Span,
        read: [Expression<'a>; 2],
        target: AssignmentTarget<'a>,
        default: &Expression<'a>,
    ) -> Expression<'a> {
        let [tested, given] = read;
        let site = self.site(Usage::Default, default.span());
        let otherwise = self.default_thunk(default);
        let arguments = [given, otherwise, self.build.number(span, site)];
        let value = self.build.call(span, "__stead_defaulted", arguments.map(Argument::from));
        let assigned = self.build.assign(span, target, value);
        self.build.logical(span, self.build.is_function_value(span, tested), LogicalOperator::And, assigned)
    }

    /// Builds `() => default`, or `undefined` for a default that may have side effects: it is refused if the value may be
    /// `undefined`, because it would run although the value may be there.
    fn default_thunk(&self, default: &Expression<'a>) -> Expression<'a> {
        match is_value(default) && is_pure(default) {
            true => self.build.thunk(self.build.copy(default)),
            false => self.build.undefined(default.span()),
        }
    }

    fn is_reassigned(&self, pattern: &BindingPattern<'a>) -> bool {
        let mut found = false;
        names(pattern, &mut |span| found |= self.reassigned.contains(&span));
        found
    }
}

fn has_defaults(pattern: &BindingPattern<'_>) -> bool {
    match pattern {
        BindingPattern::BindingIdentifier(_) => false,
        BindingPattern::ObjectPattern(object) => object.properties.iter().any(|it| has_defaults(&it.value)),
        BindingPattern::ArrayPattern(array) => {
            array.elements.iter().flatten().any(has_defaults)
                || array.rest.as_ref().is_some_and(|rest| has_defaults(&rest.argument))
        }
        BindingPattern::AssignmentPattern(assignment) => {
            matches!(assignment.left, BindingPattern::BindingIdentifier(_)) || has_defaults(&assignment.left)
        }
    }
}

/// Passes on the span of each name that a pattern binds.
fn names(pattern: &BindingPattern<'_>, found: &mut dyn FnMut(Span)) {
    match pattern {
        BindingPattern::BindingIdentifier(name) => found(name.span),
        BindingPattern::ObjectPattern(object) => {
            object.properties.iter().for_each(|it| names(&it.value, found));
            object.rest.iter().for_each(|rest| names(&rest.argument, found));
        }
        BindingPattern::ArrayPattern(array) => {
            array.elements.iter().flatten().for_each(|element| names(element, found));
            array.rest.iter().for_each(|rest| names(&rest.argument, found));
        }
        BindingPattern::AssignmentPattern(assignment) => names(&assignment.left, found),
    }
}
