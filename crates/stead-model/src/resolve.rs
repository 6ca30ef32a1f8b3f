//! Evaluates deferred expressions as far as their dependencies are known.
//!
//! Planning and applying use the same code: expressions with an unknown dependency stay deferred in a plan, and at apply there are
//! none.

use std::collections::HashMap;

use crate::{
    Argument, Builtin, Code, Diagnostic, Expr, ExprId, ExprTable, FunctionRef, Functions, Hint, Input,
    Inputs, Key, Map, Name, NextStep, NodeId, Number, Operand, SourceRef, TemplatePart, Text, Value,
};

/// Property values known so far, while planning or applying.
pub trait KnownOutputs {
    /// Returns the value of a property, or `None` while it is unknown.
    ///
    /// Fails with [`EvalError::NoOutput`] if the resource is settled and has no such value: a missing value
    /// is never passed on as `null`.
    fn property(&self, node: NodeId, property: &str) -> Result<Option<Value>, EvalError>;
}

/// The reason why an expression has no value, where JavaScript would throw.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    #[error("cannot read {key:?} of {of}")]
    NoSuchMember { key: String, of: String },
    /// No value of the property is recorded, because the provider did not return one.
    #[error("no value of `{property}` is recorded for {resource}")]
    NoOutput { resource: Name, property: String },
    #[error("the graph refers to an expression that is not in it")]
    Dangling,
    #[error("no interpreter is available to evaluate it")]
    NoInterpreter,
    /// An exception in JavaScript.
    #[error("{message}")]
    Threw { message: String, place: Option<SourceRef> },
}

impl EvalError {
    /// Reports that `what` has no value. `declared` is its place in the source, if it has one.
    pub fn diagnostic(&self, code: Code, what: &str, declared: Option<&SourceRef>) -> Diagnostic {
        let problem = Diagnostic::error(code, format!("{what} has no value: {self}"));
        let problem = match self {
            EvalError::Threw { place: Some(place), .. } => problem.at(place.clone(), 0, "thrown here"),
            EvalError::NoOutput { resource, .. } => problem
                .note("A value that its provider did not return is never passed on as `null`.")
                .help(Hint::from(NextStep::Refresh).and(format!(
                    " records it if the provider can read {resource}; otherwise replace that resource, or do \
                     not use the value"
                ))),
            _ => problem,
        };
        declared.into_iter().fold(problem, |problem, at| problem.at(at.clone(), 0, "declared here"))
    }
}

/// Evaluates every expression in the input whose dependencies are known.
pub fn resolve(
    input: &Input,
    exprs: &ExprTable,
    known: &dyn KnownOutputs,
    functions: &dyn Functions,
) -> Result<Input, EvalError> {
    Resolver { exprs, known, functions, memo: HashMap::new() }.input(input)
}

/// Evaluates all properties of a resource and each shared expression once.
pub fn resolve_map(
    inputs: &Inputs,
    exprs: &ExprTable,
    known: &dyn KnownOutputs,
    functions: &dyn Functions,
) -> Result<Inputs, EvalError> {
    if inputs.values().all(|input| matches!(input, Input::Known(_))) {
        return Ok(inputs.clone());
    }
    let mut resolver = Resolver { exprs, known, functions, memo: HashMap::new() };
    inputs.iter().map(|(key, input)| Ok((key.clone(), resolver.input(input)?))).collect()
}

/// Returns the plain values, or the name of the first property that is still deferred.
pub fn known(inputs: &Inputs) -> Result<Map, Text> {
    inputs
        .iter()
        .map(|(key, input)| match input {
            Input::Known(value) => Ok((key.clone(), value.clone())),
            _ => Err(key.clone()),
        })
        .collect()
}

struct Resolver<'a> {
    exprs: &'a ExprTable,
    known: &'a dyn KnownOutputs,
    functions: &'a dyn Functions,
    memo: HashMap<ExprId, Input>,
}

impl Resolver<'_> {
    fn input(&mut self, input: &Input) -> Result<Input, EvalError> {
        Ok(match input {
            Input::Known(_) => input.clone(),
            Input::Deferred(id) => self.deferred(*id)?,
            Input::List(items) => {
                Input::list(items.iter().map(|item| self.input(item)).collect::<Result<_, _>>()?)
            }
            Input::Map(map) => Input::map(
                map.iter()
                    .map(|(key, item)| Ok((key.clone(), self.input(item)?)))
                    .collect::<Result<_, EvalError>>()?,
            ),
        })
    }

    /// Evaluates the dependencies of the expression first, so that depth costs no stack.
    fn deferred(&mut self, id: ExprId) -> Result<Input, EvalError> {
        if !self.memo.contains_key(&id) {
            for needed in self.exprs.needed_by(&Input::Deferred(id)) {
                self.expr(needed)?;
            }
        }
        self.expr(id)
    }

    fn expr(&mut self, id: ExprId) -> Result<Input, EvalError> {
        if let Some(done) = self.memo.get(&id) {
            return Ok(done.clone());
        }
        let value = match self.exprs.get(id).ok_or(EvalError::Dangling)? {
            Expr::Property { node, property } => self.known.property(*node, property)?.map(Input::Known),
            Expr::Get { of, key } => self.member(*of, key)?,
            Expr::Template(parts) => self.template(parts)?.map(|text| Input::Known(Value::from(text))),
            Expr::Add(left, right) => match (self.input(left)?, self.input(right)?) {
                (Input::Known(left), Input::Known(right)) => Some(Input::Known(add(&left, &right))),
                _ => None,
            },
            Expr::Json { of, indent } => {
                self.input(of)?.as_known().map(|value| Input::Known(Value::from(json(value, *indent))))
            }
            Expr::Builtin { builtin, operands } => self.builtin(builtin, operands)?.map(Input::Known),
            Expr::Apply { function, arguments } => self.apply(function, arguments)?.map(Input::Known),
            Expr::Choose { condition, then, otherwise } => match self.input(condition)? {
                Input::Known(value) => Some(self.input(if is_truthy(&value) { then } else { otherwise })?),
                _ => None,
            },
            // A secret stays deferred, so that its value is never written down.
            Expr::Secret { .. } => None,
        };
        let value = value.unwrap_or(Input::Deferred(id));
        self.memo.insert(id, value.clone());
        Ok(value)
    }

    fn member(&mut self, of: ExprId, key: &Key) -> Result<Option<Input>, EvalError> {
        let found = match self.expr(of)? {
            Input::Deferred(_) => return Ok(None),
            Input::Known(value) => Input::Known(member(&value, key)?),
            Input::List(items) => match key {
                Key::Index(index) => items.get(*index).cloned().unwrap_or(Input::Known(Value::Null)),
                Key::Name(_) => return Err(no_such_member(key, "a list")),
            },
            Input::Map(map) => match key {
                Key::Name(name) => map.get(name.as_str()).cloned().unwrap_or(Input::Known(Value::Null)),
                Key::Index(index) => {
                    map.get(index.to_string().as_str()).cloned().unwrap_or(Input::Known(Value::Null))
                }
            },
        };
        Ok(Some(found))
    }

    fn builtin(&mut self, builtin: &Builtin, operands: &[Operand]) -> Result<Option<Value>, EvalError> {
        let mut arguments = Vec::with_capacity(operands.len());
        for operand in operands {
            arguments.push(match operand {
                Operand::Regex { source, flags } => {
                    Argument::Regex { source: source.clone(), flags: flags.clone() }
                }
                Operand::Input(input) => match self.input(input)? {
                    Input::Known(value) => Argument::Value(value),
                    _ => return Ok(None),
                },
            });
        }
        self.functions.builtin(builtin, &arguments).map(Some)
    }

    fn apply(&mut self, function: &FunctionRef, arguments: &[Input]) -> Result<Option<Value>, EvalError> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match self.input(argument)? {
                Input::Known(value) => values.push(value),
                _ => return Ok(None),
            }
        }
        self.functions.apply(function, &values).map(Some)
    }

    fn template(&mut self, parts: &[TemplatePart]) -> Result<Option<String>, EvalError> {
        let mut text = String::new();
        for part in parts {
            match part {
                TemplatePart::Text(literal) => text.push_str(literal),
                TemplatePart::Hole(input) => match self.input(input)? {
                    Input::Known(value) => text.push_str(&javascript_string(&value)),
                    _ => return Ok(None),
                },
            }
        }
        Ok(Some(text))
    }
}

fn member(value: &Value, key: &Key) -> Result<Value, EvalError> {
    let found = match (value, key) {
        (Value::Map(map), Key::Name(name)) => map.get(name.as_str()).cloned(),
        (Value::Map(map), Key::Index(index)) => map.get(index.to_string().as_str()).cloned(),
        (Value::List(items), Key::Index(index)) => items.get(*index).cloned(),
        (Value::List(items), Key::Name(name)) if name == "length" => Some(Value::from(items.len() as i64)),
        (Value::String(text), Key::Name(name)) if name == "length" => {
            Some(Value::from(text.encode_utf16().count() as i64))
        }
        (value, key) => return Err(no_such_member(key, value.kind())),
    };
    Ok(found.unwrap_or(Value::Null))
}

fn no_such_member(key: &Key, of: &str) -> EvalError {
    let key = match key {
        Key::Index(index) => index.to_string(),
        Key::Name(name) => name.clone(),
    };
    EvalError::NoSuchMember { key, of: of.to_owned() }
}

/// Returns true if JavaScript treats the value as true.
fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != 0.0,
        Value::String(text) => !text.is_empty(),
        Value::List(_) | Value::Map(_) => true,
    }
}

/// JavaScript's `left + right`: numbers add, everything else joins as strings.
fn add(left: &Value, right: &Value) -> Value {
    if let (Some(a), Some(b)) = (addend(left), addend(right))
        && let Some(sum) = Number::from_f64(a + b)
    {
        return Value::Number(sum);
    }
    Value::from(javascript_string(left) + &javascript_string(right))
}

fn addend(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.as_f64()),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Null => Some(0.0),
        _ => None,
    }
}

/// JavaScript's `String(value)`.
fn javascript_string(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.to_string(),
        Value::List(items) => items
            .iter()
            .map(|item| if *item == Value::Null { String::new() } else { javascript_string(item) })
            .collect::<Vec<_>>()
            .join(","),
        Value::Map(_) => "[object Object]".to_owned(),
    }
}

fn json(value: &Value, indent: u8) -> String {
    if indent == 0 {
        return value.to_json();
    }
    let mut out = Vec::new();
    let spaces = " ".repeat(usize::from(indent));
    let formatter = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    match serde::Serialize::serialize(value, &mut serializer) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(_) => value.to_json(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoFunctions;

    struct Outputs(HashMap<(u32, &'static str), Value>);

    impl KnownOutputs for Outputs {
        fn property(&self, node: NodeId, property: &str) -> Result<Option<Value>, EvalError> {
            Ok(self.0.iter().find(|((n, p), _)| *n == node.0 && *p == property).map(|(_, v)| v.clone()))
        }
    }

    fn property(table: &mut ExprTable, node: u32, property: &str) -> ExprId {
        table.push(Expr::Property { node: NodeId(node), property: property.to_owned() })
    }

    #[test]
    fn template_stays_deferred_until_its_last_value_is_known() {
        let mut table = ExprTable::default();
        let id = property(&mut table, 0, "id");
        let port = property(&mut table, 1, "port");
        let url = table.push(Expr::Template(vec![
            TemplatePart::Text("http://".into()),
            TemplatePart::Hole(Input::Deferred(id)),
            TemplatePart::Text(":".into()),
            TemplatePart::Hole(Input::Deferred(port)),
        ]));
        let mut outputs = Outputs(HashMap::from([((0, "id"), Value::from("db"))]));
        let want = Input::Deferred(url);
        assert_eq!(resolve(&want, &table, &outputs, &NoFunctions).unwrap(), Input::Deferred(url));
        outputs.0.insert((1, "port"), Value::from(5432));
        assert_eq!(
            resolve(&want, &table, &outputs, &NoFunctions).unwrap(),
            Input::Known("http://db:5432".into())
        );
    }

    #[test]
    fn addition_and_members_follow_javascript() {
        let mut table = ExprTable::default();
        let list = property(&mut table, 0, "list");
        let first = table.push(Expr::Get { of: list, key: Key::Index(0) });
        let sum =
            table.push(Expr::Add(Box::new(Input::Deferred(first)), Box::new(Input::Known(Value::from(2)))));
        let text =
            table.push(Expr::Add(Box::new(Input::Deferred(sum)), Box::new(Input::Known(Value::from("!")))));
        let outputs = Outputs(HashMap::from([((0, "list"), Value::from(vec![Value::from(40)]))]));
        assert_eq!(
            resolve(&Input::Deferred(text), &table, &outputs, &NoFunctions).unwrap(),
            Input::Known("42!".into())
        );
        let bad = table.push(Expr::Get { of: first, key: Key::Name("x".into()) });
        assert!(resolve(&Input::Deferred(bad), &table, &outputs, &NoFunctions).is_err());
    }

    #[test]
    fn very_deep_expression_needs_no_stack() {
        let mut table = ExprTable::default();
        let mut sum = property(&mut table, 0, "n");
        for _ in 0..200_000 {
            sum = table.push(Expr::Add(Box::new(Input::Deferred(sum)), Box::new(Input::Known(1.into()))));
        }
        let outputs = Outputs(HashMap::from([((0, "n"), Value::from(0))]));
        assert_eq!(
            resolve(&Input::Deferred(sum), &table, &outputs, &NoFunctions).unwrap(),
            Input::Known(200_000.into())
        );
    }

    #[test]
    fn nodes_of_an_input_are_found_through_nested_expressions() {
        let mut table = ExprTable::default();
        let a = property(&mut table, 3, "a");
        let b = property(&mut table, 5, "b");
        let inner = table.push(Expr::Json { of: Box::new(Input::List(vec![Input::Deferred(b)])), indent: 2 });
        let both = table.push(Expr::Add(Box::new(Input::Deferred(a)), Box::new(Input::Deferred(inner))));
        let nodes: Vec<u32> = table.nodes_of(&Input::Deferred(both)).into_iter().map(|n| n.0).collect();
        assert_eq!(nodes, [3, 5]);
    }
}
