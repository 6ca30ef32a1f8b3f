//! Facts about deferred expressions that are known while planning: the shape of the value, its least size, and whether it may be
//! `undefined`.
//!
//! **Invariant:** a fact holds for every value that a provider may return. Where nothing is known, it says so.

use stead_model::{Builtin, Constant, Expr, ExprId, Input, Key, Operand, TemplatePart, Value, ValueKind};
use stead_schema::{Member, Shape};

/// Facts about one expression.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub(crate) shape: Shape,
    /// Least size of the value as text or JSON, if each value of a provider takes at least one byte.
    pub(crate) least: u64,
    pub(crate) may_be_undefined: bool,
}

impl Fact {
    /// Facts about a value of which nothing is known.
    pub(crate) fn nothing() -> Fact {
        Fact { shape: Shape::Any, least: 1, may_be_undefined: true }
    }

    fn of_shape(shape: Shape) -> Fact {
        Fact { shape, least: 1, may_be_undefined: false }
    }
}

/// Returns the facts about an expression. `property` gives the shape of a property of a resource.
pub(crate) fn about(facts: &[Fact], expr: &Expr, property: impl FnOnce() -> Shape) -> Fact {
    let known = Known(facts);
    match expr {
        // A provider returns every property; a missing one is an error.
        Expr::Property { .. } => Fact::of_shape(property()),
        Expr::Get { of, key } => known.member(*of, key),
        Expr::Constant(Constant::Undefined) => Fact::nothing(),
        Expr::Constant(_) => Fact::of_shape(Shape::Number),
        Expr::Template(parts) => {
            let part = |part: &TemplatePart| match part {
                TemplatePart::Text(text) => text.len() as u64,
                TemplatePart::Hole(input) | TemplatePart::Item(input) => known.least(input),
            };
            Fact { least: total(parts.iter().map(part)), ..Fact::of_shape(Shape::String) }
        }
        Expr::Add(left, right) => known.sum(left, right),
        Expr::Json { of, .. } => Fact {
            shape: Shape::String,
            least: known.least(of),
            may_be_undefined: known.may_be_undefined(of),
        },
        Expr::Builtin { builtin, operands } => known.builtin(builtin, operands),
        Expr::Choose { then, otherwise, .. } => known.either(then, otherwise),
        Expr::Default { of, otherwise } => Fact {
            may_be_undefined: known.may_be_undefined(otherwise),
            ..known.either(&Input::Deferred(*of), otherwise)
        },
        Expr::Apply { .. } | Expr::Secret { .. } | Expr::Ephemeral { .. } => Fact::nothing(),
    }
}

/// Returns the facts about a secret. Of a secret that the program makes from data, only the size is known.
pub(crate) fn of_secret(facts: &[Fact], value: &Input) -> Fact {
    let known = Known(facts);
    match value {
        Input::Deferred(id) => known.fact(*id),
        value => Fact { least: known.least(value), ..Fact::nothing() },
    }
}

struct Known<'a>(&'a [Fact]);

impl Known<'_> {
    fn fact(&self, id: ExprId) -> Fact {
        self.0.get(id.0 as usize).cloned().unwrap_or_else(Fact::nothing)
    }

    fn shape(&self, input: &Input) -> Shape {
        match input {
            Input::Deferred(id) => self.fact(*id).shape,
            Input::List(_) => Shape::List(Box::new(Shape::Any)),
            Input::Map(_) => Shape::Map(Box::new(Shape::Any)),
            Input::Known(value) => match value {
                Value::Null | Value::Secret(_) => Shape::Any,
                Value::Bool(_) => Shape::Boolean,
                Value::Number(_) => Shape::Number,
                Value::String(_) => Shape::String,
                Value::List(_) => Shape::List(Box::new(Shape::Any)),
                Value::Map(_) => Shape::Map(Box::new(Shape::Any)),
            },
        }
    }

    /// Returns the least size of an input. A container counts its deferred parts only.
    fn least(&self, input: &Input) -> u64 {
        match input {
            Input::Known(Value::String(text)) => text.len() as u64,
            Input::Known(_) => 1,
            Input::Deferred(id) => self.0.get(id.0 as usize).map_or(1, |fact| fact.least),
            Input::List(items) => total(items.iter().map(|item| self.least(item))),
            Input::Map(map) => total(map.iter().map(|(key, item)| key.len() as u64 + self.least(item))),
        }
    }

    fn may_be_undefined(&self, input: &Input) -> bool {
        match input {
            Input::Deferred(id) => self.0.get(id.0 as usize).is_none_or(|fact| fact.may_be_undefined),
            _ => false,
        }
    }

    fn member(&self, of: ExprId, key: &Key) -> Fact {
        let shape = self.fact(of).shape;
        let is_length = matches!(key, Key::Name(name) if name == "length");
        let always = is_length && matches!(shape.kind(), Some(ValueKind::String | ValueKind::List));
        let shape = match shape.member(key) {
            Member::Is(shape) => shape,
            Member::Never(_) => Shape::Any,
        };
        Fact { may_be_undefined: !always, ..Fact::of_shape(shape) }
    }

    fn sum(&self, left: &Input, right: &Input) -> Fact {
        let kinds = [self.shape(left).kind(), self.shape(right).kind()];
        let adds = |kind: &Option<ValueKind>| matches!(kind, Some(ValueKind::Number | ValueKind::Boolean));
        let joins = |kind: &Option<ValueKind>| {
            matches!(kind, Some(ValueKind::String | ValueKind::List | ValueKind::Map))
        };
        if kinds.iter().all(adds) {
            return Fact::of_shape(Shape::Number);
        }
        let least = self.least(left).saturating_add(self.least(right));
        if kinds.iter().any(joins) {
            return Fact { least, ..Fact::of_shape(Shape::String) };
        }
        // Numbers stay small when they are added; text of the same operands does not.
        Fact { least, ..Fact::of_shape(Shape::Any) }
    }

    fn either(&self, one: &Input, other: &Input) -> Fact {
        let (a, b) = (self.shape(one), self.shape(other));
        let shape = match (a.kind(), b.kind()) {
            _ if a == b => a,
            (Some(a), Some(b)) if a == b => match a {
                ValueKind::String => Shape::String,
                ValueKind::Number => Shape::Number,
                ValueKind::Boolean => Shape::Boolean,
                ValueKind::List => Shape::List(Box::new(Shape::Any)),
                ValueKind::Map => Shape::Map(Box::new(Shape::Any)),
            },
            _ => Shape::Any,
        };
        Fact {
            shape,
            least: self.least(one).min(self.least(other)),
            may_be_undefined: self.may_be_undefined(one) || self.may_be_undefined(other),
        }
    }

    fn builtin(&self, builtin: &Builtin, operands: &[Operand]) -> Fact {
        let input = |at: usize| match operands.get(at) {
            Some(Operand::Input(input)) => Some(input),
            _ => None,
        };
        let shape = match builtin {
            Builtin::Method(name) => {
                let receiver = input(0).map_or(Shape::Any, |input| self.shape(input));
                let may_be_undefined = matches!(name.as_str(), "at" | "codePointAt" | "valueOf");
                let least = self.least_of_method(name, &input);
                return Fact { shape: method_result(name, &receiver), least, may_be_undefined };
            }
            Builtin::Operator(name) => match name.as_str() {
                "!" | "==" | "!=" | "===" | "!==" | "<" | "<=" | ">" | ">=" => Shape::Boolean,
                _ => Shape::Number,
            },
            Builtin::Global(name) => global_result(name),
        };
        let grows = shape == Shape::String;
        let least = if grows { input(0).map_or(1, |input| self.least(input)) } else { 1 };
        let shortens =
            matches!(builtin, Builtin::Global(name) if name.starts_with("decode") || name == "unescape");
        Fact { least: if shortens { 1 } else { least }, ..Fact::of_shape(shape) }
    }

    fn least_of_method<'i>(&self, name: &str, input: &dyn Fn(usize) -> Option<&'i Input>) -> u64 {
        let receiver = || input(0).map_or(1, |input| self.least(input));
        let count = || input(1).and_then(Input::as_known).and_then(Value::as_i64).unwrap_or(1).max(0) as u64;
        match name {
            "concat" => total((0..).map_while(input).map(|input| self.least(input))),
            "repeat" => receiver().saturating_mul(count()),
            "padStart" | "padEnd" => receiver().max(count()),
            "toUpperCase" | "toLowerCase" | "toString" | "valueOf" | "toReversed" | "toSorted" => receiver(),
            _ => 1,
        }
    }
}

fn total(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

/// Returns the shape of the result of a method.
fn method_result(name: &str, receiver: &Shape) -> Shape {
    match name {
        "split" => Shape::List(Box::new(Shape::String)),
        "includes"
        | "startsWith"
        | "endsWith"
        | "hasOwnProperty"
        | "propertyIsEnumerable"
        | "isWellFormed" => Shape::Boolean,
        "indexOf" | "lastIndexOf" | "search" | "charCodeAt" | "codePointAt" | "localeCompare" => {
            Shape::Number
        }
        "match" => Shape::Any,
        "flat" => Shape::List(Box::new(Shape::Any)),
        "at" => match receiver.kind() {
            Some(ValueKind::String) => Shape::String,
            Some(ValueKind::List) => receiver.element(),
            _ => Shape::Any,
        },
        "concat" | "slice" => match receiver.kind() {
            Some(ValueKind::String) => Shape::String,
            Some(ValueKind::List) if name == "slice" => receiver.clone(),
            Some(ValueKind::List) => Shape::List(Box::new(Shape::Any)),
            _ => Shape::Any,
        },
        "toReversed" | "toSorted" if receiver.kind() == Some(ValueKind::List) => receiver.clone(),
        "toReversed" | "toSorted" | "toSpliced" | "with" => Shape::List(Box::new(Shape::Any)),
        "valueOf" => receiver.clone(),
        _ => Shape::String,
    }
}

fn global_result(name: &str) -> Shape {
    match name {
        "isFinite" | "isNaN" | "Boolean" | "Array.isArray" => Shape::Boolean,
        "parseFloat" | "parseInt" | "Number" => Shape::Number,
        name if name.starts_with("Math.") => Shape::Number,
        name if name.starts_with("Number.is") => Shape::Boolean,
        name if name.starts_with("Object.") || name.starts_with(crate::library::PREFIX) => Shape::Any,
        _ => Shape::String,
    }
}
