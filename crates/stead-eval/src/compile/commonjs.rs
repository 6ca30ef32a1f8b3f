//! CommonJS files: their recognition, and the names that they export.
//!
//! An `import` of names from a CommonJS file needs the names before the file runs. They are found as Node.js finds them:
//! assignments to `exports`, `module.exports = { … }`, `Object.defineProperty(exports, …)`, and the forms in which compilers
//! write re-exports. The scope of a name does not matter, because bundlers wrap files in functions.

use std::collections::{BTreeMap, BTreeSet};

use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, CallExpression, Expression, ObjectExpression,
    ObjectPropertyKind, Program, PropertyKey, PropertyKind, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js as walk};
use oxc_semantic::Scoping;

/// Names that a CommonJS file exports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExportedNames {
    pub(crate) names: BTreeSet<String>,
    /// Specifiers of the modules whose names the file exports too.
    pub(crate) from: Vec<String>,
}

const NAMES: [&str; 5] = ["module", "exports", "require", "__dirname", "__filename"];

/// Returns true if a file without `import` and `export` uses a name of CommonJS.
pub(super) fn is_used(scoping: &Scoping) -> bool {
    let unresolved = scoping.root_unresolved_references();
    NAMES.iter().any(|name| unresolved.contains_key(*name))
}

pub(super) fn exported_names(program: &Program<'_>) -> ExportedNames {
    let mut finder = NameFinder::default();
    finder.visit_program(program);
    finder.found
}

#[derive(Default)]
struct NameFinder {
    found: ExportedNames,
    /// Variables that hold the result of a `require`, with its specifier.
    required: BTreeMap<String, String>,
}

impl<'a> VisitJs<'a> for NameFinder {
    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        let specifier = it.init.as_ref().and_then(required);
        if let (Some(name), Some(specifier)) = (it.id.get_identifier_name(), specifier) {
            self.required.insert(name.to_string(), specifier);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        match &it.left {
            AssignmentTarget::StaticMemberExpression(member) if is_module_exports_member(member) => {
                self.assigned_whole(&it.right);
            }
            AssignmentTarget::StaticMemberExpression(member) if is_exports(&member.object) => {
                self.found.names.insert(member.property.name.to_string());
            }
            AssignmentTarget::ComputedMemberExpression(member) if is_exports(&member.object) => {
                if let Expression::StringLiteral(name) = &member.expression {
                    self.found.names.insert(name.value.to_string());
                }
            }
            _ => {}
        }
        walk::walk_assignment_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        match called(&it.callee) {
            Some("defineProperty") => self.defined(it),
            Some("__exportStar" | "__export") => {
                self.found
                    .from
                    .extend(it.arguments.first().and_then(Argument::as_expression).and_then(required));
            }
            Some("forEach") => self.copied(it),
            _ => {}
        }
        walk::walk_call_expression(self, it);
    }
}

impl NameFinder {
    /// Reads `module.exports = …`, which ends earlier re-exports.
    fn assigned_whole(&mut self, value: &Expression<'_>) {
        self.found.from.clear();
        match value {
            Expression::ObjectExpression(object) => self.literal(object),
            Expression::AssignmentExpression(inner) => self.assigned_whole(&inner.right),
            other => self.found.from.extend(required(other)),
        }
    }

    /// Reads the keys of a literal up to the first value that is not a plain name, as Node.js does.
    fn literal(&mut self, object: &ObjectExpression<'_>) {
        for property in &object.properties {
            match property {
                ObjectPropertyKind::SpreadProperty(spread) => match required(&spread.argument) {
                    Some(specifier) => self.found.from.push(specifier),
                    None if matches!(spread.argument, Expression::Identifier(_)) => {}
                    None => return,
                },
                ObjectPropertyKind::ObjectProperty(property) => {
                    let name = match &property.key {
                        PropertyKey::StaticIdentifier(key) => key.name.to_string(),
                        PropertyKey::StringLiteral(key) => key.value.to_string(),
                        _ => return,
                    };
                    if property.computed
                        || property.kind != PropertyKind::Init
                        || !starts_with_name(&property.value)
                    {
                        return;
                    }
                    self.found.names.insert(name);
                    if property.method || !matches!(property.value, Expression::Identifier(_)) {
                        return;
                    }
                }
            }
        }
    }

    /// Reads `Object.defineProperty(exports, "name", { value } or { enumerable: true, get })`.
    fn defined(&mut self, call: &CallExpression<'_>) {
        let [
            Argument::StaticMemberExpression(_) | Argument::Identifier(_),
            Argument::StringLiteral(name),
            Argument::ObjectExpression(descriptor),
        ] = call.arguments.as_slice()
        else {
            return;
        };
        let target = call.arguments.first().and_then(Argument::as_expression);
        let has = |wanted: &str| {
            descriptor.properties.iter().any(|property| match property {
                ObjectPropertyKind::ObjectProperty(property) => property.key.is_specific_static_name(wanted),
                ObjectPropertyKind::SpreadProperty(_) => false,
            })
        };
        if target.is_some_and(is_exports) && (has("value") || (has("enumerable") && has("get"))) {
            self.found.names.insert(name.value.to_string());
        }
    }

    /// Reads `Object.keys(x).forEach(function (key) { … exports[key] = x[key]; … })`, where `x` holds a `require`.
    fn copied(&mut self, call: &CallExpression<'_>) {
        let Expression::StaticMemberExpression(member) = &call.callee else { return };
        let Expression::CallExpression(keys) = &member.object else { return };
        let (Some("keys"), Some(Argument::Identifier(source))) =
            (called(&keys.callee), keys.arguments.first())
        else {
            return;
        };
        let Some(specifier) = self.required.get(source.name.as_str()) else { return };
        let mut copies = CopiesExports(false);
        call.arguments.iter().for_each(|argument| copies.visit_argument(argument));
        if copies.0 {
            self.found.from.push(specifier.clone());
        }
    }
}

/// Finds a write to a computed member of `exports`.
struct CopiesExports(bool);

impl<'a> VisitJs<'a> for CopiesExports {
    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.0 |= matches!(&it.left, AssignmentTarget::ComputedMemberExpression(member) if is_exports(&member.object));
        walk::walk_assignment_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let target = it.arguments.first().and_then(Argument::as_expression);
        self.0 |= called(&it.callee) == Some("defineProperty") && target.is_some_and(is_exports);
        walk::walk_call_expression(self, it);
    }
}

/// Returns the specifier of `require("…")`, also inside a helper such as `__importStar(require("…"))`.
fn required(expression: &Expression<'_>) -> Option<String> {
    let Expression::CallExpression(call) = expression else { return None };
    match (called(&call.callee)?, call.arguments.first()?) {
        ("require", Argument::StringLiteral(specifier)) => Some(specifier.value.to_string()),
        ("__importStar" | "_interopRequireWildcard" | "__importDefault" | "__toESM", argument) => {
            required(argument.as_expression()?)
        }
        _ => None,
    }
}

/// Returns the name of a called function or method.
fn called<'s>(callee: &'s Expression<'_>) -> Option<&'s str> {
    match callee {
        Expression::Identifier(id) => Some(id.name.as_str()),
        Expression::StaticMemberExpression(member) => Some(member.property.name.as_str()),
        Expression::SequenceExpression(sequence) => called(sequence.expressions.last()?),
        _ => None,
    }
}

/// Returns true for `exports` and `module.exports`.
fn is_exports(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::Identifier(id) => id.name == "exports",
        Expression::StaticMemberExpression(member) => is_module_exports_member(member),
        _ => false,
    }
}

fn is_module_exports_member(member: &oxc_ast::ast::StaticMemberExpression<'_>) -> bool {
    member.property.name == "exports"
        && matches!(&member.object, Expression::Identifier(id) if id.name == "module")
}

/// Returns true if the text of an expression starts with a name or a word of the language.
fn starts_with_name(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::Identifier(_)
        | Expression::FunctionExpression(_)
        | Expression::ClassExpression(_)
        | Expression::ThisExpression(_)
        | Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::NewExpression(_) => true,
        Expression::StaticMemberExpression(member) => starts_with_name(&member.object),
        Expression::ComputedMemberExpression(member) => starts_with_name(&member.object),
        Expression::CallExpression(call) => starts_with_name(&call.callee),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> (String, String) {
        let allocator = oxc_allocator::Allocator::default();
        let parser = oxc_parser::Parser::new(&allocator, text, oxc_span::SourceType::cjs());
        let found = exported_names(&parser.parse().program);
        (found.names.into_iter().collect::<Vec<_>>().join(" "), found.from.join(" "))
    }

    #[test]
    fn names_are_found_as_node_finds_them() {
        let cases = [
            ("exports.a = 1; module.exports.b = 2; exports['c-d'] = 3; other.e = 4;", "a b c-d", ""),
            ("(function (exports) { exports.inner = 1; })(exports);", "inner", ""),
            ("module.exports = { a, 'b': c, d: e.f, g: 1, h };", "a b d", ""),
            ("module.exports = { a: 1, b };", "", ""),
            ("module.exports = { a, ...require('./b'), c };", "a c", "./b"),
            ("0 && (module.exports = { a, b });", "a b", ""),
            ("module.exports = require('./x');", "", "./x"),
            ("exports.a = 1; module.exports = exports = require('./y');", "a", "./y"),
            (
                "__exportStar(require('./a'), exports); tslib_1.__exportStar(require('./b'), exports);",
                "",
                "./a ./b",
            ),
            ("Object.defineProperty(exports, '__esModule', { value: true });", "__esModule", ""),
            (
                "Object.defineProperty(exports, 'a', { enumerable: true, get: function () { return x.y; } });",
                "a",
                "",
            ),
            ("Object.defineProperty(exports, 'a', { get: function () { return x.y; } });", "", ""),
            (
                "var _x = require('./x'); Object.keys(_x).forEach(function (key) { if (key === 'default') return; \
                 Object.defineProperty(exports, key, { enumerable: true, get: function () { return _x[key]; } }); });",
                "",
                "./x",
            ),
            (
                "var all = require('./all'); Object.keys(all).forEach(function (key) { other[key] = all[key]; });",
                "",
                "",
            ),
        ];
        for (text, expected, from) in cases {
            assert_eq!(names(text), (expected.to_owned(), from.to_owned()), "{text}");
        }
    }
}
