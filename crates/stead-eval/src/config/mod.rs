//! Config of a program: settings from several sources, their declared types, and the values that hold.
//!
//! A [`Config`] is the list of all settings, weakest first, with the origin of each. [`Config::resolve`] decides which setting
//! holds for each key, gives texts their declared type, and reports every problem at once.
//!
//! A value may be a secret itself, decrypted or still locked. It stays one: nothing shows it, and a program gets it as a secret.
//!
//! **Invariants:** resolution is pure, and the value of a secret appears in no message.

mod check;
mod key;
mod resolve;
mod schema;
mod text;
mod variables;

use std::fmt;

use serde::{Deserialize, Serialize};
use stead_model::{Map, SourceRef, Value};

pub use key::Key;
pub(crate) use key::look_up;
pub(crate) use resolve::Coverage;
pub use resolve::{Explained, Resolution, Standing};
pub use schema::{Declaration, Schema, SchemaProblem, ValueType};
pub(crate) use text::typed;

pub use stead_model::BLINDED;

/// All settings of a program, weakest first, and the declarations of their keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub schema: Option<Schema>,
    /// Settings in the files of the project.
    pub project: Vec<Setting>,
    /// Environment variables, which override the files of the project.
    pub variables: Vec<Variable>,
    /// Settings given for this call, which override the variables.
    pub call: Vec<Setting>,
}

/// One value for one key, from one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub key: Key,
    pub given: Given,
    pub origin: Origin,
}

/// Value of a setting. A text may be a secret, which only the declared type of its key tells, so debug output does not show it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    /// A typed value or a secret; no table except an empty one.
    Value(Value),
    /// A text that takes the declared type of its key.
    Text(String),
    /// A secret that a saved plan does not hold.
    Withheld,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Value(value) => f.debug_tuple("Value").field(value).finish(),
            Given::Text(_) => f.write_str("Text(..)"),
            Given::Withheld => f.write_str("Withheld"),
        }
    }
}

/// Place of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The default in the schema.
    Default,
    File(SourceRef),
    Variable(String),
    /// An argument of this call, in the words of the caller.
    Argument(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("the default of the schema"),
            Origin::File(place) => write!(f, "{}:{}", place.file, place.line),
            Origin::Variable(name) => write!(f, "the environment variable {name}"),
            Origin::Argument(name) => f.write_str(name),
        }
    }
}

/// Environment variable whose name starts with [`PREFIX`]. Its text may be a secret, so debug output has only its name.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    pub name: String,
    pub text: String,
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Start of the names of environment variables that set config.
pub const PREFIX: &str = "STEAD_CONFIG_";

impl From<Map> for Config {
    /// Returns a config without a schema whose values are all set by the caller.
    fn from(values: Map) -> Config {
        let mut project = Vec::new();
        for (key, value) in &values {
            leaves(&Key::of([key.as_str()]), value, &mut |key, value| {
                let origin = Origin::Argument("the caller".to_owned());
                project.push(Setting { key, given: Given::Value(value.clone()), origin });
            });
        }
        Config { project, ..Config::default() }
    }
}

/// Calls `each` with every value in a table and the tables inside it; an empty table is a value.
fn leaves(key: &Key, value: &Value, each: &mut dyn FnMut(Key, &Value)) {
    match value.as_map().filter(|map| !map.is_empty()) {
        Some(map) => map.iter().for_each(|(name, value)| leaves(&key.child(name.as_str()), value, each)),
        None => each(key.clone(), value),
    }
}

impl Config {
    /// Returns the config with every secret as data in the clear, for the inside of an encrypted file.
    #[must_use]
    pub fn exposed(&self) -> Config {
        let mut config = self.clone();
        for setting in config.project.iter_mut().chain(&mut config.call) {
            if let Given::Value(value) = &mut setting.given {
                *value = value.exposed();
            }
        }
        config
    }

    /// Returns true if the value of the key, or of a key inside it, is secret: by the schema, or by a setting.
    pub fn is_secret(&self, key: &Key) -> bool {
        let related = |other: &Key| other == key || other.contains(key) || key.contains(other);
        let secret = |setting: &Setting| setting.given.has_secrets() && related(&setting.key);
        self.schema.as_ref().is_some_and(|schema| schema.is_secret(key))
            || self.project.iter().chain(&self.call).any(secret)
    }

    /// Returns the config without secret values, and without variables that no declared key uses, for a file.
    #[must_use]
    pub fn without_secrets(&self) -> Config {
        let mut config = self.clone();
        let claimed = variables::claim(self, self.schema.as_ref());
        let is_open = |claim: &&variables::Claim| {
            !claim.keys.is_empty() && !claim.keys.iter().any(|key| self.is_secret(key))
        };
        let open: Vec<&str> = claimed.iter().filter(is_open).map(|claim| claim.name.as_str()).collect();
        config.variables.retain(|variable| open.contains(&variable.name.as_str()));
        config.schema = self.schema.as_ref().map(Schema::without_secrets);
        for setting in config.project.iter_mut().chain(&mut config.call) {
            if self.is_secret(&setting.key) {
                setting.given = Given::Withheld;
            }
        }
        let lost = claimed.iter().filter_map(|claim| match claim.keys.as_slice() {
            [key] if self.is_secret(key) => Some((key.clone(), claim.name.clone())),
            _ => None,
        });
        let withheld =
            lost.map(|(key, name)| Setting { key, given: Given::Withheld, origin: Origin::Variable(name) });
        config.call.splice(0..0, withheld.collect::<Vec<_>>());
        config
    }
}

impl Given {
    fn has_secrets(&self) -> bool {
        match self {
            Given::Value(value) => value.has_secrets(),
            Given::Withheld => true,
            Given::Text(_) => false,
        }
    }
}
