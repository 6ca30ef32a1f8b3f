//! `Computed`: a value while deferred expressions are evaluated.
//!
//! JavaScript computes with more than data: `undefined`, NaN, the infinities, negative zero, and lists and objects that contain
//! them. A `Computed` is never stored; `Value` is.

use std::collections::BTreeMap;

use crate::{Constant, ExprId, Kept, List, Number, Secret, Text, Unopened, Value};

/// A value of the language: data, or a value that data cannot hold.
///
/// A container without such a value inside is always one `Data`.
#[derive(Clone, Debug, PartialEq)]
pub enum Computed {
    Data(Value),
    /// Nothing. Holds the expression that found no member, if the value is not a deliberate `undefined` of the program.
    Undefined(Option<ExprId>),
    /// NaN, an infinity or negative zero.
    Number(f64),
    List(Vec<Computed>),
    Map(BTreeMap<Text, Computed>),
}

impl Computed {
    pub fn number(value: f64) -> Computed {
        match Number::from_f64(value) {
            Some(number) if value != 0.0 || value.is_sign_positive() => Computed::Data(Value::Number(number)),
            _ => Computed::Number(value),
        }
    }

    pub fn constant(constant: Constant) -> Computed {
        Computed::Number(match constant {
            Constant::Undefined => return Computed::Undefined(None),
            Constant::NaN => f64::NAN,
            Constant::Infinity => f64::INFINITY,
            Constant::NegativeInfinity => f64::NEG_INFINITY,
            Constant::NegativeZero => -0.0,
        })
    }

    /// Makes a list, which is one `Data` if all items are data.
    pub fn list(items: Vec<Computed>) -> Computed {
        if items.iter().any(|item| item.as_data().is_none()) {
            return Computed::List(items);
        }
        Computed::Data(Value::List(items.into_iter().filter_map(Computed::into_data).collect::<List>()))
    }

    /// Makes an object, which is one `Data` if all members are data.
    pub fn map(members: BTreeMap<Text, Computed>) -> Computed {
        if members.values().any(|member| member.as_data().is_none()) {
            return Computed::Map(members);
        }
        let data = members.into_iter().filter_map(|(key, member)| Some((key, member.into_data()?)));
        Computed::Data(Value::Map(data.collect()))
    }

    pub fn as_data(&self) -> Option<&Value> {
        match self {
            Computed::Data(value) => Some(value),
            _ => None,
        }
    }

    fn into_data(self) -> Option<Value> {
        match self {
            Computed::Data(value) => Some(value),
            _ => None,
        }
    }

    /// Returns true if the value is a secret or has one inside.
    pub fn has_secrets(&self) -> bool {
        match self {
            Computed::Data(value) => value.has_secrets(),
            Computed::Undefined(_) | Computed::Number(_) => false,
            Computed::List(items) => items.iter().any(Computed::has_secrets),
            Computed::Map(members) => members.values().any(Computed::has_secrets),
        }
    }

    /// Returns true if a secret in the value is recorded nowhere.
    pub fn is_ephemeral(&self) -> bool {
        match self {
            Computed::Data(value) => value.is_ephemeral(),
            Computed::Undefined(_) | Computed::Number(_) => false,
            Computed::List(items) => items.iter().any(Computed::is_ephemeral),
            Computed::Map(members) => members.values().any(Computed::is_ephemeral),
        }
    }

    /// Returns the value with every secret in it revealed.
    pub fn revealed(&self) -> Result<Computed, Unopened> {
        Ok(match self {
            Computed::Data(value) => Computed::Data(value.revealed()?),
            Computed::Undefined(_) | Computed::Number(_) => self.clone(),
            Computed::List(items) => {
                Computed::List(items.iter().map(Computed::revealed).collect::<Result<_, _>>()?)
            }
            Computed::Map(members) => {
                let member = |(key, member): (&Text, &Computed)| Ok((key.clone(), member.revealed()?));
                Computed::Map(members.iter().map(member).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Makes every piece of data in the value a secret, of which `kept` is recorded. A local secret stays local.
    #[must_use]
    pub fn concealed(self, kept: Kept) -> Computed {
        self.marked(&|value| match value {
            Value::Secret(secret) => secret.keeping(kept),
            value => Secret::kept(value, kept),
        })
    }

    /// Makes every piece of data in the value a local secret, of which `kept` is recorded.
    #[must_use]
    pub fn concealed_locally(self, kept: Kept) -> Computed {
        self.marked(&|value| Secret::local(value, kept))
    }

    fn marked(self, mark: &dyn Fn(Value) -> Secret) -> Computed {
        match self {
            Computed::Data(value) => Computed::Data(Value::Secret(mark(value))),
            // Stored as zero: the sign cannot be stored, and the value may not be shown.
            Computed::Number(0.0) => Computed::Data(Value::Secret(mark(Value::from(0)))),
            Computed::Undefined(_) | Computed::Number(_) => self,
            Computed::List(items) => {
                Computed::List(items.into_iter().map(|item| item.marked(mark)).collect())
            }
            Computed::Map(members) => {
                Computed::Map(members.into_iter().map(|(key, member)| (key, member.marked(mark))).collect())
            }
        }
    }

    /// Returns true if a secret in the value is looked for everywhere, or has such a secret inside.
    pub fn has_shared_secrets(&self) -> bool {
        match self {
            Computed::Data(value) => {
                let mut found = false;
                value.each_shared(&mut |_| found = true);
                found
            }
            Computed::Undefined(_) | Computed::Number(_) => false,
            Computed::List(items) => items.iter().any(Computed::has_shared_secrets),
            Computed::Map(members) => members.values().any(Computed::has_shared_secrets),
        }
    }

    pub fn is_undefined(&self) -> bool {
        matches!(self, Computed::Undefined(_))
    }

    /// Returns the kind of the value with an article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Computed::Data(value) => value.kind(),
            Computed::Undefined(_) => "undefined",
            Computed::Number(_) => "a number",
            Computed::List(_) => "a list",
            Computed::Map(_) => "an object",
        }
    }
}

impl From<Value> for Computed {
    fn from(value: Value) -> Self {
        Computed::Data(value)
    }
}
