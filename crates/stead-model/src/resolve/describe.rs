//! Describes deferred expressions in messages, by the property that they come from.

use super::Resolver;
use crate::expr::{expressions_in, operands};
use crate::{Builtin, Expr, ExprId, Input, Key};

impl Resolver<'_> {
    pub(super) fn describe_input(&self, input: &Input) -> String {
        let mut first = None;
        expressions_in(input, &mut |id| first = first.or(Some(id)));
        match (input, first) {
            (Input::Deferred(id), _) => self.describe(*id),
            (_, Some(id)) => format!("a value with {}", self.describe(id)),
            _ => "a value".to_owned(),
        }
    }

    /// Describes an expression: "`output.port` of dev:main:local.Data#d".
    pub(super) fn describe(&self, id: ExprId) -> String {
        let (mut at, mut path, mut made) = (id, String::new(), String::new());
        loop {
            let Some(expr) = self.exprs.get(at) else { return "a value".to_owned() };
            let source = match expr {
                Expr::Get { of, key } => {
                    path = match key {
                        Key::Index(index) => format!("[{index}]{path}"),
                        Key::Name(name) => format!(".{name}{path}"),
                    };
                    at = *of;
                    continue;
                }
                Expr::Property { node, property } => {
                    let of = self.known.name(*node).map_or_else(String::new, |name| format!(" of {name}"));
                    return format!("{made}`{property}{path}`{of}");
                }
                Expr::Apply { function, .. } => {
                    format!("the result of the function given to `stead.apply` at {}", function.source)
                }
                Expr::Secret { from, .. } => format!("a secret ({from})"),
                expr => {
                    let mut first = None;
                    operands(expr, &mut |id| first = first.or(Some(id)));
                    let Some(first) = first else { return format!("{made}a value") };
                    if made.is_empty() {
                        made = with_path(&path, &made_by(expr));
                    }
                    (at, path) = (first, String::new());
                    continue;
                }
            };
            return format!("{made}{}", with_path(&path, &source));
        }
    }
}

fn made_by(expr: &Expr) -> String {
    match expr {
        Expr::Builtin {
            builtin: Builtin::Method(name) | Builtin::Operator(name) | Builtin::Global(name),
            ..
        } => {
            format!("the result of `{name}` on ")
        }
        _ => "a value made from ".to_owned(),
    }
}

fn with_path(path: &str, of: &str) -> String {
    match path.strip_prefix('.').unwrap_or(path) {
        "" => of.to_owned(),
        path => format!("`{path}` of {of}"),
    }
}
