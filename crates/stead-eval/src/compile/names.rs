//! Tells which names of a file are variables, which generated code may read twice.
//!
//! A name that the file does not declare may be a getter of the global object, and a name inside `with` one of any object.

use std::collections::HashSet;

use oxc_ast::ast::{BindingIdentifier, Program, WithStatement};
use oxc_ast_visit::{VisitJs, walk_js as walk};
use oxc_semantic::Scoping;

/// Names that no file declares, and that are plain members of the global object or parameters of the wrapper of a file.
const PLAIN: &[&str] = &[
    "Array",
    "BigInt",
    "Boolean",
    "Error",
    "Function",
    "Infinity",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "TypeError",
    "__dirname",
    "__filename",
    "arguments",
    "console",
    "exports",
    "globalThis",
    "isNaN",
    "module",
    "parseFloat",
    "parseInt",
    "require",
    "undefined",
];

/// Global names that a file uses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Globals {
    /// Globals that most programs use.
    Common,
    Rare,
}

/// Names of a file.
pub(super) struct Names<'a> {
    declared: HashSet<&'a str>,
    /// Names that a part of the file uses without a declaration.
    undeclared: HashSet<String>,
    /// The file contains `with`.
    pub(super) has_with: bool,
}

/// Returns the names that a file uses without a declaration.
pub(super) fn undeclared(scoping: &Scoping) -> HashSet<String> {
    scoping.root_unresolved_references().keys().map(|name| name.to_string()).collect()
}

impl<'a> Names<'a> {
    /// Collects the names of a file whose types are removed: a `declare` declares no variable.
    pub(super) fn of(program: &Program<'a>, undeclared: HashSet<String>) -> Names<'a> {
        let mut names = Names { declared: HashSet::new(), undeclared, has_with: false };
        names.visit_program(program);
        names
    }

    /// Returns the kind of global names that the file uses. `globalThis` may lead to any, and `RegExp` has rare members.
    pub(super) fn globals(&self) -> Globals {
        let rare = |name: &String| {
            matches!(name.as_str(), "RegExp" | "globalThis") || PLAIN.binary_search(&name.as_str()).is_err()
        };
        if self.undeclared.iter().any(rare) { Globals::Rare } else { Globals::Common }
    }

    /// Returns true if reading the name twice is the same as reading it once.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        if name.starts_with("__stead") {
            return true;
        }
        let plain = || PLAIN.binary_search(&name).is_ok();
        !self.has_with && (plain() || self.declared.contains(name) && !self.undeclared.contains(name))
    }
}

impl<'a> VisitJs<'a> for Names<'a> {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.declared.insert(it.name.as_str());
    }

    fn visit_with_statement(&mut self, it: &WithStatement<'a>) {
        self.has_with = true;
        walk::walk_with_statement(self, it);
    }
}
