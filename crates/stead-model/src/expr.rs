//! Deferred expressions: values that a program computes from values known only after apply.
//!
//! Expressions are data in one table per graph and refer to each other by index, so that shared parts
//! stay shared. An expression refers to earlier ones only; the table is acyclic by construction.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::secret::tell_watcher;
use crate::{NodeId, SortedMap, SourceRef, Text, Unopened, Value};

/// Position of an expression in the table of its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExprId(pub u32);

/// The inputs of a resource by the names of their properties.
pub type Inputs = SortedMap<Text, Input>;

/// A declared value: known, deferred, or a container with a deferred value inside.
///
/// A container without a deferred value inside is always one `Known`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    Known(Value),
    Deferred(ExprId),
    List(Vec<Input>),
    Map(Inputs),
}

/// A member or element access.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Key {
    Index(usize),
    Name(String),
}

/// A piece of a template literal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplatePart {
    Text(String),
    Hole(Input),
    /// An item of a list that is joined: `null` and `undefined` are empty.
    Item(Input),
}

/// An operation of the language itself, on plain values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Builtin {
    /// A method of a built-in object; the first operand is the receiver: `split`, `toUpperCase`.
    Method(String),
    /// A unary, binary or comparison operator: `-`, `*`, `<`, `!`.
    Operator(String),
    /// A function of the language: `encodeURIComponent`, `Math.max`.
    Global(String),
}

/// An operand of a built-in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operand {
    Input(Input),
    /// A regular expression, which cannot be a `Value`.
    Regex {
        source: String,
        flags: String,
    },
}

/// A function that the program passed to `stead.apply`, numbered in the order of evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FunctionRef {
    pub ordinal: u32,
    pub source: SourceRef,
}

/// A value of the language that data cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Constant {
    #[serde(rename = "undefined")]
    Undefined,
    #[serde(rename = "NaN")]
    NaN,
    #[serde(rename = "Infinity")]
    Infinity,
    #[serde(rename = "-Infinity")]
    NegativeInfinity,
    #[serde(rename = "-0")]
    NegativeZero,
}

impl std::fmt::Display for Constant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Constant::Undefined => "undefined",
            Constant::NaN => "NaN",
            Constant::Infinity => "Infinity",
            Constant::NegativeInfinity => "-Infinity",
            Constant::NegativeZero => "-0",
        })
    }
}

/// A computation that runs once the resources it depends on exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// A property of a resource: an output of its provider, or an input.
    Property { node: NodeId, property: String },
    /// `of.key` or `of[key]`.
    Get { of: ExprId, key: Key },
    /// A value that only the language has, as an operand.
    Constant(Constant),
    /// The default of a parameter or of a destructured member: `otherwise` if `of` is `undefined`.
    Default { of: ExprId, otherwise: Box<Input> },
    /// A template literal: every part as a string, joined.
    Template(Vec<TemplatePart>),
    /// `left + right`, with JavaScript's rules.
    Add(Box<Input>, Box<Input>),
    /// `JSON.stringify(of, null, indent)`.
    Json { of: Box<Input>, indent: u8 },
    /// An operation that the interpreter evaluates without the program.
    Builtin { builtin: Builtin, operands: Vec<Operand> },
    /// A function of the program, called when its arguments are known.
    Apply { function: FunctionRef, arguments: Vec<Input> },
    /// `condition ? then : otherwise`.
    Choose { condition: Box<Input>, then: Box<Input>, otherwise: Box<Input> },
    /// A secret. A graph that is printed or saved does not contain its value.
    Secret {
        /// Origin of the secret, for messages: "config `password`".
        from: String,
        source: SourceRef,
        /// Expressions inside the secret, which its resource waits for.
        needs: Vec<ExprId>,
        #[serde(skip)]
        value: SecretInput,
    },
    /// A function of the program whose result reaches the provider and is recorded nowhere. It is called right before the provider
    /// is.
    Ephemeral { function: FunctionRef },
}

/// The value of a secret in a graph. It cannot be printed or serialised; `None` in a graph that was read from a file.
#[derive(Clone, Default, PartialEq)]
pub struct SecretInput {
    value: Option<Box<Input>>,
    is_local: bool,
}

impl SecretInput {
    pub fn new(value: Input) -> SecretInput {
        each_known(&value, &mut tell_watcher);
        SecretInput { value: Some(Box::new(value)), is_local: false }
    }

    /// Returns the value of a [local](crate::Secret::local) secret.
    pub fn local(value: Input) -> SecretInput {
        SecretInput { value: Some(Box::new(value)), is_local: true }
    }

    pub(crate) fn get(&self) -> Option<&Input> {
        self.value.as_deref()
    }

    /// Returns true for the value of a local secret.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// Returns why the value does not open; `None` if it does, or is known only later.
    pub fn unopened(&self) -> Option<Unopened> {
        match self.get()? {
            Input::Known(value) => value.revealed().err().filter(|why| *why != Unopened::NotKept),
            _ => None,
        }
    }
}

fn each_known(input: &Input, see: &mut dyn FnMut(&Value)) {
    match input {
        Input::Known(value) => see(value),
        Input::Deferred(_) => {}
        Input::List(items) => items.iter().for_each(|item| each_known(item, see)),
        Input::Map(map) => map.values().for_each(|item| each_known(item, see)),
    }
}

impl std::fmt::Debug for SecretInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(crate::BLINDED)
    }
}

/// All expressions of one graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExprTable {
    exprs: Vec<Expr>,
}

impl ExprTable {
    pub fn get(&self, id: ExprId) -> Option<&Expr> {
        self.exprs.get(id.0 as usize)
    }

    /// Adds an expression. All expressions that it refers to must be in the table already.
    pub fn push(&mut self, expr: Expr) -> ExprId {
        let id = ExprId(self.exprs.len() as u32);
        self.exprs.push(expr);
        id
    }

    pub fn len(&self) -> usize {
        self.exprs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.exprs.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Expr> {
        self.exprs.iter()
    }

    /// Returns all expressions that the input depends on, dependencies first.
    pub fn needed_by(&self, input: &Input) -> BTreeSet<ExprId> {
        let mut needed = BTreeSet::new();
        let mut todo = Vec::new();
        expressions_in(input, &mut |id| todo.push(id));
        while let Some(id) = todo.pop() {
            if needed.insert(id)
                && let Some(expr) = self.get(id)
            {
                operands(expr, &mut |id| todo.push(id));
            }
        }
        needed
    }

    /// Returns the first ephemeral value that the input contains or depends on.
    pub fn ephemeral_in(&self, input: &Input) -> Option<ExprId> {
        let is_ephemeral = |id: &ExprId| matches!(self.get(*id), Some(Expr::Ephemeral { .. }));
        self.needed_by(input).into_iter().find(is_ephemeral)
    }

    /// Returns true if any expression is a secret.
    pub fn has_secrets(&self) -> bool {
        self.exprs.iter().any(|expr| matches!(expr, Expr::Secret { .. } | Expr::Ephemeral { .. }))
    }

    /// Returns the first secret that the input contains or depends on.
    pub fn secret_in(&self, input: &Input) -> Option<ExprId> {
        let is_secret = |id: &ExprId| matches!(self.get(*id), Some(Expr::Secret { .. }));
        self.needed_by(input).into_iter().find(is_secret)
    }

    /// Returns all nodes that the input depends on, in order.
    pub fn nodes_of(&self, input: &Input) -> BTreeSet<NodeId> {
        let property = |id: ExprId| match self.get(id) {
            Some(Expr::Property { node, .. }) => Some(*node),
            _ => None,
        };
        self.needed_by(input).into_iter().filter_map(property).collect()
    }
}

/// Passes on each expression that an expression refers to.
pub(crate) fn operands(expr: &Expr, found: &mut dyn FnMut(ExprId)) {
    match expr {
        Expr::Property { .. } | Expr::Constant(_) | Expr::Ephemeral { .. } => {}
        Expr::Get { of, .. } => found(*of),
        Expr::Default { of, otherwise } => {
            found(*of);
            expressions_in(otherwise, found);
        }
        Expr::Template(parts) => {
            for part in parts {
                if let TemplatePart::Hole(input) | TemplatePart::Item(input) = part {
                    expressions_in(input, found);
                }
            }
        }
        Expr::Add(left, right) => {
            expressions_in(left, found);
            expressions_in(right, found);
        }
        Expr::Json { of, .. } => expressions_in(of, found),
        Expr::Builtin { operands, .. } => {
            for operand in operands {
                if let Operand::Input(input) = operand {
                    expressions_in(input, found);
                }
            }
        }
        Expr::Apply { arguments, .. } => arguments.iter().for_each(|input| expressions_in(input, found)),
        Expr::Choose { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|input| expressions_in(input, found));
        }
        Expr::Secret { needs, .. } => needs.iter().copied().for_each(found),
    }
}

/// Passes on each expression that an input refers to directly.
pub(crate) fn expressions_in(input: &Input, found: &mut dyn FnMut(ExprId)) {
    match input {
        Input::Known(_) => {}
        Input::Deferred(id) => found(*id),
        Input::List(items) => items.iter().for_each(|item| expressions_in(item, found)),
        Input::Map(map) => map.values().for_each(|item| expressions_in(item, found)),
    }
}

impl Input {
    /// Makes a list, which is one `Known` if all items are known.
    pub fn list(items: Vec<Input>) -> Input {
        if items.iter().all(|item| matches!(item, Input::Known(_))) {
            return Input::Known(items.into_iter().filter_map(Input::into_known).collect());
        }
        Input::List(items)
    }

    /// Makes a map, which is one `Known` if all values are known.
    pub fn map(entries: Inputs) -> Input {
        if entries.values().all(|item| matches!(item, Input::Known(_))) {
            let known = entries.into_iter().filter_map(|(key, item)| Some((key, item.into_known()?)));
            return Input::Known(Value::Map(known.collect()));
        }
        Input::Map(entries)
    }

    /// Returns true if a known part of the input is a secret or has one inside.
    pub fn has_secrets(&self) -> bool {
        match self {
            Input::Known(value) => value.has_secrets(),
            Input::Deferred(_) => false,
            Input::List(items) => items.iter().any(Input::has_secrets),
            Input::Map(map) => map.values().any(Input::has_secrets),
        }
    }

    pub fn as_known(&self) -> Option<&Value> {
        match self {
            Input::Known(value) => Some(value),
            _ => None,
        }
    }

    pub fn into_known(self) -> Option<Value> {
        match self {
            Input::Known(value) => Some(value),
            _ => None,
        }
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        Input::Known(value)
    }
}
