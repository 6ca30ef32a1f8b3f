//! Deferred expressions as text, and the properties that they come from.

use std::collections::BTreeSet;

use stead_model::{Builtin, Expr, ExprId, Graph, Input, Key, Operand, TemplatePart, Value};

use super::view::shown;

/// Depth at which a text is cut.
const MAX_DEPTH: usize = 8;

/// Returns the properties that a value depends on, such as `main:aws.s3.Bucket.Arn`.
pub(super) fn sources(graph: &Graph, input: &Input) -> BTreeSet<String> {
    let property = |id: ExprId| match graph.exprs.get(id) {
        Some(Expr::Property { node, property }) => {
            graph.node(*node).map(|node| format!("{}.{property}", shown(&node.name)))
        }
        _ => None,
    };
    graph.exprs.needed_by(input).into_iter().filter_map(property).collect()
}

/// Returns the origin of the first secret that a value contains or depends on.
pub(super) fn secret(graph: &Graph, input: &Input) -> Option<String> {
    let exprs = &graph.exprs;
    match exprs.get(exprs.secret_in(input).or_else(|| exprs.ephemeral_in(input))?) {
        Some(Expr::Secret { from, .. }) => Some(from.clone()),
        Some(Expr::Ephemeral { .. }) => Some("ephemeral".to_owned()),
        _ => None,
    }
}

/// Returns a value as an expression of the program: `jobs-${main:aws.s3.Bucket.BucketName}`.
pub(super) fn text(graph: &Graph, input: &Input) -> String {
    Writer { graph }.input(input, 0)
}

struct Writer<'a> {
    graph: &'a Graph,
}

impl Writer<'_> {
    fn input(&self, input: &Input, depth: usize) -> String {
        match input {
            Input::Known(value) => value.to_json(),
            Input::Deferred(id) => self.expression(*id, depth),
            Input::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.input(item, depth + 1)).collect();
                format!("[{}]", items.join(", "))
            }
            Input::Map(map) => {
                let member = |(key, item): (&stead_model::Text, &Input)| {
                    format!("{}: {}", key.as_str(), self.input(item, depth + 1))
                };
                format!("{{ {} }}", map.iter().map(member).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn expression(&self, id: ExprId, depth: usize) -> String {
        let Some(expr) = self.graph.exprs.get(id).filter(|_| depth < MAX_DEPTH) else {
            return "…".to_owned();
        };
        let of = |input: &Input| self.input(input, depth + 1);
        match expr {
            Expr::Property { node, property } => {
                let name = self.graph.node(*node).map(|node| shown(&node.name)).unwrap_or_default();
                format!("{name}.{property}")
            }
            Expr::Get { of, key: Key::Index(index) } => {
                format!("{}[{index}]", self.expression(*of, depth + 1))
            }
            Expr::Get { of, key: Key::Name(name) } => format!("{}.{name}", self.expression(*of, depth + 1)),
            Expr::Constant(constant) => constant.to_string(),
            Expr::Default { of: inside, otherwise } => {
                format!("{} (default {})", self.expression(*inside, depth + 1), of(otherwise))
            }
            Expr::Template(parts) => parts.iter().map(|part| self.part(part, depth)).collect(),
            Expr::Add(left, right) => format!("{} + {}", of(left), of(right)),
            Expr::Json { of: inside, .. } => format!("JSON.stringify({})", of(inside)),
            Expr::Builtin { builtin, operands } => self.builtin(builtin, operands, depth),
            Expr::Apply { arguments, .. } => {
                format!("apply({})", arguments.iter().map(of).collect::<Vec<_>>().join(", "))
            }
            Expr::Choose { condition, then, otherwise } => {
                format!("{} ? {} : {}", of(condition), of(then), of(otherwise))
            }
            Expr::Secret { from, .. } => format!("secret {from}"),
            Expr::Ephemeral { .. } => "ephemeral".to_owned(),
        }
    }

    fn part(&self, part: &TemplatePart, depth: usize) -> String {
        match part {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Hole(Input::Known(Value::String(text)))
            | TemplatePart::Item(Input::Known(Value::String(text))) => text.to_string(),
            TemplatePart::Hole(input) | TemplatePart::Item(input) => {
                format!("${{{}}}", self.input(input, depth + 1))
            }
        }
    }

    fn builtin(&self, builtin: &Builtin, operands: &[Operand], depth: usize) -> String {
        let operand = |operand: &Operand| match operand {
            Operand::Input(input) => self.input(input, depth + 1),
            Operand::Regex { source, flags } => format!("/{source}/{flags}"),
        };
        let all: Vec<String> = operands.iter().map(operand).collect();
        match (builtin, all.as_slice()) {
            (Builtin::Method(name), [receiver, rest @ ..]) => {
                format!("{receiver}.{name}({})", rest.join(", "))
            }
            (Builtin::Method(name), []) => format!("{name}()"),
            (Builtin::Operator(sign), [one]) => format!("{sign}{one}"),
            (Builtin::Operator(sign), all) => all.join(&format!(" {sign} ")),
            (Builtin::Global(name), all) => format!("{name}({})", all.join(", ")),
        }
    }
}
