//! Evaluates deferred expressions as far as their dependencies are known.
//!
//! Planning and applying use the same code: expressions with an unknown dependency stay deferred in a plan, and at apply there are
//! none. A value that is not there is never replaced by `null`: it is `undefined` as in JavaScript, or an error that names it.

mod describe;
mod error;
mod secrecy;

use std::cell::Cell;
use std::collections::HashMap;

use crate::expr::{expressions_in, operands};
use crate::javascript::{self, Trouble};
use crate::{
    Argument, Builtin, Computed, Expr, ExprId, ExprTable, FunctionRef, Functions, Input, Inputs, Kept, Key,
    Map, Name, NodeId, Operand, TemplatePart, Text, Value,
};

pub use error::{EvalError, PropertyError};

/// Maximum size of a value that a deferred expression gives, in bytes of text or JSON.
pub const MAX_DEFERRED_BYTES: usize = 16 << 20;

/// Property values known so far, while planning or applying.
pub trait KnownOutputs {
    /// Returns the value of a property, or `None` while it is unknown.
    ///
    /// Fails with [`EvalError::NoOutput`] if the resource is settled and has no such value: a missing value
    /// is never passed on as `null`.
    fn property(&self, node: NodeId, property: &str) -> Result<Option<Value>, EvalError>;

    /// Returns the name of a resource, for messages.
    fn name(&self, node: NodeId) -> Option<&Name>;
}

/// Evaluates every expression in the input whose dependencies are known. Returns `None` for a deliberate `undefined`.
pub fn resolve(
    input: &Input,
    exprs: &ExprTable,
    known: &dyn KnownOutputs,
    functions: &dyn Functions,
) -> Result<Option<Input>, EvalError> {
    Resolver::new(exprs, known, functions, Moment::Plan).stored(input)
}

/// Evaluates all properties of a resource and each shared expression once.
///
/// A property that is `undefined` is left out, as one that the program sets to `undefined`.
pub fn resolve_map(
    inputs: &Inputs,
    exprs: &ExprTable,
    known: &dyn KnownOutputs,
    functions: &dyn Functions,
) -> Result<Inputs, PropertyError> {
    resolve_at(Moment::Plan, inputs, exprs, known, functions)
}

/// When inputs are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// An ephemeral value stays open: no plan and no record contains it.
    Plan,
    /// The provider is called next, so ephemeral values are made.
    Call,
}

/// Evaluates as [`resolve_map`] does, at a moment.
pub fn resolve_at(
    moment: Moment,
    inputs: &Inputs,
    exprs: &ExprTable,
    known: &dyn KnownOutputs,
    functions: &dyn Functions,
) -> Result<Inputs, PropertyError> {
    if inputs.values().all(|input| matches!(input, Input::Known(_))) {
        return Ok(inputs.clone());
    }
    let mut resolver = Resolver::new(exprs, known, functions, moment);
    let mut resolved = Vec::with_capacity(inputs.len());
    for (key, input) in inputs {
        let value = resolver.stored(input);
        let value = value.map_err(|error| PropertyError { property: key.clone(), error })?;
        resolved.extend(value.map(|value| (key.clone(), value)));
    }
    Ok(resolved.into_iter().collect())
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

/// How far an input or an expression is evaluated.
#[derive(Clone)]
enum Progress {
    Done(Computed),
    /// A dependency is unknown.
    Waits(Input),
}

struct Resolver<'a> {
    exprs: &'a ExprTable,
    known: &'a dyn KnownOutputs,
    functions: &'a dyn Functions,
    moment: Moment,
    memo: HashMap<ExprId, Progress>,
    /// Expressions computed from a secret whose value cannot carry the mark: `undefined`, NaN and the infinities.
    unmarked: HashMap<ExprId, Kept>,
    /// How secret the expression is that is being evaluated, by the operands that it has used so far.
    secrecy: Cell<Option<Kept>>,
    /// Whether one of the secrets is looked for everywhere.
    shared: Cell<bool>,
}

impl<'a> Resolver<'a> {
    fn new(
        exprs: &'a ExprTable,
        known: &'a dyn KnownOutputs,
        functions: &'a dyn Functions,
        moment: Moment,
    ) -> Resolver<'a> {
        let (memo, unmarked) = (HashMap::new(), HashMap::new());
        Resolver {
            exprs,
            known,
            functions,
            moment,
            memo,
            unmarked,
            secrecy: Cell::new(None),
            shared: Cell::new(false),
        }
    }
}

impl Resolver<'_> {
    /// Evaluates an input to a value that can be stored.
    fn stored(&mut self, input: &Input) -> Result<Option<Input>, EvalError> {
        if let Input::Known(_) = input {
            return Ok(Some(input.clone()));
        }
        let mut needed = Vec::new();
        expressions_in(input, &mut |id| needed.push(id));
        for id in needed {
            self.evaluate_with_operands(id)?;
        }
        match self.input(input)? {
            Progress::Waits(input) => Ok(Some(input)),
            Progress::Done(value) => self.data(input, value).map(|value| value.map(Input::Known)),
        }
    }

    /// Returns the data of a value; `None` for a deliberate `undefined`.
    fn data(&self, input: &Input, value: Computed) -> Result<Option<Value>, EvalError> {
        Ok(Some(match value {
            Computed::Data(value) => value,
            Computed::Undefined(None) => return Ok(None),
            Computed::Undefined(Some(id)) => {
                return Err(EvalError::Undefined { what: self.describe(id), used_by: String::new() });
            }
            Computed::Number(number) => match javascript::unstorable(number) {
                Some(name) => {
                    let why = format!("is {name}, which cannot be stored");
                    return Err(EvalError::NotData { what: self.describe_input(input), why });
                }
                None => javascript::zero(),
            },
            Computed::List(items) => {
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    all.push(self.data(input, item)?.ok_or_else(|| EvalError::Undefined {
                        what: format!("an item of {}", self.describe_input(input)),
                        used_by: String::new(),
                    })?);
                }
                Value::from(all)
            }
            Computed::Map(members) => {
                let mut all = Vec::with_capacity(members.len());
                for (key, member) in members {
                    all.extend(self.data(input, member)?.map(|member| (key, member)));
                }
                Value::Map(all.into_iter().collect())
            }
        }))
    }

    /// Evaluates an expression after the expressions that its value needs, so that depth costs no stack.
    ///
    /// The arm that a choice does not take is not evaluated, as in JavaScript.
    fn evaluate_with_operands(&mut self, id: ExprId) -> Result<(), EvalError> {
        let mut todo = vec![id];
        while let Some(&at) = todo.last() {
            if self.memo.contains_key(&at) {
                todo.pop();
                continue;
            }
            let expr = self.exprs.get(at).ok_or(EvalError::Dangling)?;
            let before = todo.len();
            self.unevaluated_operands(expr, &mut todo)?;
            if todo.len() > before {
                if todo[before..].iter().any(|operand| *operand >= at) {
                    return Err(EvalError::Dangling);
                }
                todo[before..].reverse();
                continue;
            }
            let progress = match self.evaluate_secretly(at, expr)? {
                Some(value) => value,
                None => Progress::Waits(Input::Deferred(at)),
            };
            if let (Some(kept), Progress::Done(value)) = (self.secrecy.get(), &progress)
                && value.as_data().is_none()
            {
                self.unmarked.insert(at, kept);
            }
            self.memo.insert(at, progress);
            todo.pop();
        }
        Ok(())
    }

    /// Adds the operands that must be evaluated next. None is added once the expression itself can be evaluated.
    fn unevaluated_operands(&mut self, expr: &Expr, todo: &mut Vec<ExprId>) -> Result<(), EvalError> {
        let memo = &self.memo;
        let mut add = |id: ExprId| {
            if !memo.contains_key(&id) {
                todo.push(id);
            }
        };
        match expr {
            Expr::Choose { condition, then, otherwise } => {
                let mut pending = false;
                expressions_in(condition, &mut |id| {
                    pending |= !memo.contains_key(&id);
                    add(id);
                });
                if !pending && let Ok(Progress::Done(value)) = self.operand(condition) {
                    let arm = if javascript::is_truthy(&value) { then } else { otherwise };
                    let memo = &self.memo;
                    expressions_in(arm, &mut |id| {
                        if !memo.contains_key(&id) {
                            todo.push(id);
                        }
                    });
                }
            }
            Expr::Default { of, otherwise } => match memo.get(of) {
                None => add(*of),
                Some(Progress::Done(value)) if value.is_undefined() => expressions_in(otherwise, &mut add),
                Some(_) => {}
            },
            expr => operands(expr, &mut add),
        }
        Ok(())
    }

    /// Returns an input whose expressions are evaluated.
    fn input(&self, input: &Input) -> Result<Progress, EvalError> {
        Ok(match input {
            Input::Known(value) => Progress::Done(Computed::Data(value.clone())),
            Input::Deferred(id) => self.memo.get(id).cloned().ok_or(EvalError::Dangling)?,
            Input::List(items) => {
                let all = items.iter().map(|item| self.input(item)).collect::<Result<Vec<_>, _>>()?;
                match all.iter().all(|item| matches!(item, Progress::Done(_))) {
                    true => Progress::Done(Computed::list(all.into_iter().filter_map(done).collect())),
                    false => {
                        let partial = items.iter().zip(all).map(|(item, progress)| so_far(item, progress));
                        Progress::Waits(Input::list(partial.collect()))
                    }
                }
            }
            Input::Map(map) => {
                let all = map.values().map(|item| self.input(item)).collect::<Result<Vec<_>, _>>()?;
                let keys = map.keys().cloned();
                match all.iter().all(|item| matches!(item, Progress::Done(_))) {
                    true => {
                        let members = keys.zip(all.into_iter().filter_map(done));
                        Progress::Done(Computed::map(members.collect()))
                    }
                    false => {
                        let partial = map.values().zip(all).map(|(item, progress)| so_far(item, progress));
                        Progress::Waits(Input::map(keys.zip(partial).collect()))
                    }
                }
            }
        })
    }

    /// Evaluates one expression whose operands are evaluated. Returns `None` if an operand is unknown.
    fn evaluate(&self, id: ExprId, expr: &Expr) -> Result<Option<Progress>, EvalError> {
        let value = match expr {
            Expr::Property { node, property } => self.known.property(*node, property)?.map(Computed::Data),
            Expr::Get { of, key } => return self.member(id, *of, key),
            Expr::Constant(constant) => Some(Computed::constant(*constant)),
            Expr::Default { of, otherwise } => {
                self.use_unmarked(&Input::Deferred(*of));
                return match self.memo.get(of) {
                    Some(Progress::Done(value)) if value.is_undefined() => self.taken(otherwise).map(Some),
                    Some(done @ Progress::Done(_)) => Ok(Some(done.clone())),
                    _ => Ok(None),
                };
            }
            Expr::Template(parts) => self.template(id, parts)?.map(|text| Computed::Data(Value::from(text))),
            Expr::Add(left, right) => match (self.operand(left)?, self.operand(right)?) {
                (Progress::Done(a), Progress::Done(b)) => Some(self.sum(id, (left, &a), (right, &b))?),
                _ => None,
            },
            Expr::Json { of, indent } => match self.operand(of)? {
                Progress::Done(value) => Some(match self.check(id, javascript::json(&value, *indent))? {
                    Some(text) => Computed::Data(Value::from(text)),
                    // `JSON.stringify(undefined)` is undefined.
                    None => value,
                }),
                Progress::Waits(_) => None,
            },
            Expr::Builtin { builtin, operands } => self.builtin(id, builtin, operands)?,
            Expr::Apply { function, arguments } => self.apply(function, arguments)?,
            Expr::Choose { condition, then, otherwise } => match self.operand(condition)? {
                Progress::Done(value) => {
                    let arm = if javascript::is_truthy(&value) { then } else { otherwise };
                    return self.taken(arm).map(Some);
                }
                Progress::Waits(_) => None,
            },
            Expr::Secret { value, .. } => match value.get() {
                Some(given) if value.is_local() => return self.local_secret(given),
                Some(value) => {
                    self.use_shared_secret(Kept::Value);
                    match self.operand(value)? {
                        Progress::Done(value) => Some(value),
                        Progress::Waits(_) => None,
                    }
                }
                None => None,
            },
            Expr::Ephemeral { function } => match self.moment {
                Moment::Plan => return Err(EvalError::Ephemeral),
                Moment::Call => {
                    self.use_shared_secret(Kept::Nothing);
                    Some(self.functions.ephemeral(function)?)
                }
            },
        };
        Ok(value.map(Progress::Done))
    }

    fn member(&self, id: ExprId, of: ExprId, key: &Key) -> Result<Option<Progress>, EvalError> {
        self.use_unmarked(&Input::Deferred(of));
        match self.memo.get(&of) {
            Some(Progress::Done(value)) => {
                let of_secret = matches!(value, Computed::Data(Value::Secret(_)));
                let value = &if of_secret { self.reveal(value)? } else { value.clone() };
                let found = javascript::member(value, key).map_err(|trouble| self.trouble(id, trouble))?;
                let found = if found.is_undefined() { Computed::Undefined(Some(id)) } else { found };
                Ok(Some(Progress::Done(found)))
            }
            // A value that is known in part, such as an arm of a choice.
            Some(Progress::Waits(Input::Map(map))) => Ok(part(map.get(key_text(key).as_str()))),
            Some(Progress::Waits(Input::List(items))) => match key {
                Key::Index(index) => Ok(part(items.get(*index))),
                Key::Name(_) => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn sum(
        &self,
        id: ExprId,
        (left, a): (&Input, &Computed),
        (right, b): (&Input, &Computed),
    ) -> Result<Computed, EvalError> {
        if let Some(sum) = javascript::sum(a, b) {
            return Ok(sum);
        }
        let mut text = String::new();
        for (input, value) in [(left, a), (right, b)] {
            self.push_text(id, &mut text, input, value, ", and `+` needs it as text")?;
        }
        Ok(Computed::Data(Value::from(text)))
    }

    /// Appends a value as text. A missing value is an error, not the text "undefined".
    fn push_text(
        &self,
        id: ExprId,
        out: &mut String,
        input: &Input,
        value: &Computed,
        used_by: &str,
    ) -> Result<(), EvalError> {
        if let Computed::Undefined(origin) = value {
            let what = origin.map_or_else(|| self.describe_input(input), |origin| self.describe(origin));
            return Err(EvalError::Undefined { what, used_by: used_by.to_owned() });
        }
        self.check(id, javascript::push_text(out, value))
    }

    fn template(&self, id: ExprId, parts: &[TemplatePart]) -> Result<Option<String>, EvalError> {
        let mut text = String::new();
        for part in parts {
            match part {
                TemplatePart::Text(literal) => self.check(id, javascript::push(&mut text, literal))?,
                TemplatePart::Item(input) => match self.operand(input)? {
                    Progress::Done(Computed::Data(Value::Null) | Computed::Undefined(_)) => {}
                    Progress::Done(value) => self.check(id, javascript::push_text(&mut text, &value))?,
                    Progress::Waits(_) => return Ok(None),
                },
                TemplatePart::Hole(input) => match self.operand(input)? {
                    Progress::Done(value) => {
                        self.push_text(id, &mut text, input, &value, ", and it is part of a text")?;
                    }
                    Progress::Waits(_) => return Ok(None),
                },
            }
        }
        Ok(Some(text))
    }

    fn builtin(
        &self,
        id: ExprId,
        builtin: &Builtin,
        operands: &[Operand],
    ) -> Result<Option<Computed>, EvalError> {
        let mut arguments = Vec::with_capacity(operands.len());
        for operand in operands {
            arguments.push(match operand {
                Operand::Regex { source, flags } => {
                    Argument::Regex { source: source.clone(), flags: flags.clone() }
                }
                Operand::Input(input) => match self.operand(input)? {
                    Progress::Done(value) => {
                        self.refuse_undefined_text(builtin, input, &value)?;
                        Argument::Value(value)
                    }
                    Progress::Waits(_) => return Ok(None),
                },
            });
        }
        let result = self.functions.builtin(builtin, &arguments)?;
        Ok(Some(if result.is_undefined() { Computed::Undefined(Some(id)) } else { result }))
    }

    /// Refuses the conversion of a missing value to text.
    fn refuse_undefined_text(
        &self,
        builtin: &Builtin,
        input: &Input,
        value: &Computed,
    ) -> Result<(), EvalError> {
        let converts = match builtin {
            Builtin::Global(name) => name == "String",
            Builtin::Method(name) => name == "concat" && !matches!(input, Input::List(_)),
            Builtin::Operator(_) => false,
        };
        match value {
            Computed::Undefined(Some(origin)) if converts => Err(EvalError::Undefined {
                what: self.describe(*origin),
                used_by: ", and it is converted to text".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    fn apply(&self, function: &FunctionRef, arguments: &[Input]) -> Result<Option<Computed>, EvalError> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            self.use_unmarked(argument);
            match self.input(argument)? {
                Progress::Done(value) => {
                    // The function gets the values of secrets. They must open, and the result is secret.
                    if value.has_secrets() {
                        self.reveal(&value)?;
                    }
                    values.push(value);
                }
                Progress::Waits(_) => return Ok(None),
            }
        }
        self.functions.apply(function, &values).map(Some)
    }

    fn check<T>(&self, id: ExprId, result: Result<T, Trouble>) -> Result<T, EvalError> {
        result.map_err(|trouble| self.trouble(id, trouble))
    }

    fn trouble(&self, id: ExprId, trouble: Trouble) -> EvalError {
        match trouble {
            Trouble::TooLarge => EvalError::TooLarge { what: self.describe(id) },
            Trouble::IsMethod => EvalError::NotData {
                what: self.describe(id),
                why: "is a method of the language, which is not data; call it".to_owned(),
            },
            Trouble::HalfCharacter => EvalError::NotData {
                what: self.describe(id),
                why: "is half of a character, which cannot be stored".to_owned(),
            },
            Trouble::NoReceiver(is) => {
                let (of, key) = match self.exprs.get(id) {
                    Some(Expr::Get { of, key }) => (self.describe(*of), key_text(key)),
                    _ => (self.describe(id), String::new()),
                };
                EvalError::NoSuchMember { key, of, is: is.to_owned() }
            }
        }
    }
}

fn key_text(key: &Key) -> String {
    match key {
        Key::Index(index) => index.to_string(),
        Key::Name(name) => name.clone(),
    }
}

/// Returns a part of a value that is known in part, unless it is missing or deferred itself.
fn part(part: Option<&Input>) -> Option<Progress> {
    match part? {
        Input::Known(value) => Some(Progress::Done(Computed::Data(value.clone()))),
        part @ (Input::List(_) | Input::Map(_)) => Some(Progress::Waits(part.clone())),
        Input::Deferred(_) => None,
    }
}

fn done(progress: Progress) -> Option<Computed> {
    match progress {
        Progress::Done(value) => Some(value),
        Progress::Waits(_) => None,
    }
}

/// Returns the part of an input that is known so far. A value that is not data stays deferred until the whole is known.
fn so_far(input: &Input, progress: Progress) -> Input {
    match progress {
        Progress::Done(Computed::Data(value)) => Input::Known(value),
        Progress::Done(_) => input.clone(),
        Progress::Waits(input) => input,
    }
}

#[cfg(test)]
mod tests;
