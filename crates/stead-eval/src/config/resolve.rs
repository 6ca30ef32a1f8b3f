//! Decides which setting holds for each key, and reports all problems together.
//!
//! Settings are taken from the weakest to the strongest. A stronger setting replaces a weaker one of the same key; tables merge
//! key by key. A value replaces a weaker table of the same key, and a key in a table replaces a weaker value of the table's key.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde::Serialize;
use stead_model::{Code, Diagnostic, Map, Value};

use super::check::{Members, mismatch};
use super::key::{in_table, set};
use super::schema::{Presence, Secrecy};
use super::text::typed;
use super::variables::{self, Claim};
use super::{BLINDED, Config, Declaration, Given, Key, Origin, Schema, Setting, ValueType};

/// Config of a program after resolution.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// The values that hold, as nested tables.
    pub values: Map,
    pub problems: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
    /// Keys whose value is a text without a declared type.
    pub(crate) untyped: BTreeSet<Key>,
    /// Keys whose secret value a saved plan does not hold.
    pub(crate) withheld: BTreeSet<Key>,
    chains: BTreeMap<Key, Vec<Effective>>,
}

/// One key with all its settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    #[serde(serialize_with = "as_text")]
    pub key: Key,
    /// The value that holds, `[secret]` for a secret; missing if the key is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<ValueType>,
    pub required: bool,
    pub secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The settings, strongest first.
    pub settings: Vec<Standing>,
}

/// One setting of a key, and whether it holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    #[serde(serialize_with = "as_text")]
    pub key: Key,
    pub value: Value,
    pub origin: Origin,
    pub holds: bool,
}

fn as_text<S: serde::Serializer>(key: &Key, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(key)
}

/// Setting with its typed value.
#[derive(Clone, Debug)]
struct Effective {
    key: Key,
    value: Value,
    origin: Origin,
    untyped: bool,
    withheld: bool,
}

impl Config {
    /// Resolves the config with the schema of the project.
    pub fn resolve(&self) -> Resolution {
        self.resolve_with(self.schema.as_ref(), Coverage::AllKeys)
    }

    /// Resolves the config with another schema.
    pub(crate) fn resolve_with(&self, schema: Option<&Schema>, coverage: Coverage) -> Resolution {
        let mut resolver = Resolver { schema, coverage, resolution: Resolution::default() };
        resolver.defaults();
        self.project.iter().for_each(|setting| resolver.add(setting));
        for claim in variables::claim(self, schema) {
            resolver.variable(&claim);
        }
        self.call.iter().for_each(|setting| resolver.add(setting));
        resolver.finish(self)
    }
}

impl Resolution {
    /// Returns the value of a key, or the table of the keys inside it.
    pub fn value(&self, key: &Key) -> Option<Value> {
        value_at(&self.values, key.parts())
    }

    /// Returns each key with its settings, in order; declared keys without a value too.
    pub fn explain(&self, schema: Option<&Schema>) -> Vec<Explained> {
        // A declared table appears as the keys in it.
        let is_shown = |key: &&Key| !self.chains.keys().any(|inner| key.contains(inner));
        let declared = schema.into_iter().flat_map(Schema::keys).filter(is_shown);
        let keys: BTreeSet<&Key> = self.chains.keys().chain(declared).collect();
        keys.into_iter().map(|key| self.explained(key, schema)).collect()
    }

    fn explained(&self, key: &Key, schema: Option<&Schema>) -> Explained {
        let declaration = schema.and_then(|schema| schema.get(key));
        let declared_secret = schema.is_some_and(|schema| schema.is_secret(key));
        let shown = |value: &Value| if declared_secret { Value::from(BLINDED) } else { value.blinded() };
        let chain = self.chains.get(key).map(Vec::as_slice).unwrap_or_default();
        let secret = declared_secret || chain.iter().any(|effective| effective.value.has_secrets());
        let settings: Vec<Standing> = chain
            .iter()
            .rev()
            .enumerate()
            .map(|(at, effective)| Standing {
                key: effective.key.clone(),
                value: shown(&effective.value),
                origin: effective.origin.clone(),
                holds: at == 0,
            })
            .collect();
        Explained {
            key: key.clone(),
            value: chain.last().map(|effective| shown(&effective.value)),
            ty: declaration.map(|declared| declared.ty),
            required: declaration.is_some_and(|declared| declared.presence == Presence::Required),
            secret,
            description: declaration.and_then(|declared| declared.description.clone()),
            settings,
        }
    }
}

/// Keys that a schema speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// A key that is not in it is an error.
    AllKeys,
    /// Other parts of the program may use other keys.
    SomeKeys,
}

struct Resolver<'a> {
    schema: Option<&'a Schema>,
    coverage: Coverage,
    resolution: Resolution,
}

impl Resolver<'_> {
    fn defaults(&mut self) {
        for (key, declared) in self.schema.into_iter().flat_map(Schema::declarations) {
            let Some(default) = &declared.default else { continue };
            super::leaves(key, default, &mut |key, value| {
                let given = Given::Value(value.clone());
                self.add(&Setting { key, given, origin: Origin::Default });
            });
        }
    }

    fn variable(&mut self, claim: &Claim) {
        let Claim { name, text, keys } = claim;
        match keys.as_slice() {
            [key] => {
                let origin = Origin::Variable(name.clone());
                self.add(&Setting { key: key.clone(), given: Given::Text(text.clone()), origin });
            }
            [] if self.coverage == Coverage::SomeKeys => {}
            [] => {
                let message =
                    format!("the environment variable {name} matches no declared config key, and is ignored");
                let problem = Diagnostic::warning(Code::CONFIG_VALUE, message);
                let spelt = self.schema.into_iter().flat_map(Schema::keys).map(variables::name_of);
                let spelt: Vec<String> = spelt.collect();
                let meant = stead_model::nearest(name, spelt.iter().map(String::as_str));
                self.resolution.warnings.push(match meant {
                    Some(meant) => problem.help(format!("did you mean {meant}?")),
                    None => problem,
                });
            }
            several => {
                let message = format!("the environment variable {name} can mean several config keys");
                let problem = Diagnostic::error(Code::CONFIG_VALUE, message);
                let listed: Vec<String> = several.iter().map(|key| format!("`{key}`")).collect();
                let problem = problem.note(format!("It matches {}.", listed.join(" and ")));
                let unique = several.iter().find(|key| key.parts().len() > 1);
                let help = match unique {
                    Some(key) => format!(
                        "write {} for `{key}`, or set the other key in a file",
                        variables::name_of(key)
                    ),
                    None => "set the keys in a file instead".to_owned(),
                };
                self.resolution.problems.push(problem.help(help));
            }
        }
    }

    fn add(&mut self, setting: &Setting) {
        let Setting { key, given, origin } = setting;
        let (value, untyped, withheld) = match given {
            Given::Value(value) => (self.typed_secret(key, value), false, false),
            Given::Withheld => (Value::from(BLINDED), false, true),
            Given::Text(text) => match self.type_of(key) {
                None => (Value::from(text.as_str()), true, false),
                Some((ty, from)) => match typed(text, ty) {
                    Ok(value) => (value, false, false),
                    Err(help) => return self.wrong_text(setting, text, ty, (from, help)),
                },
            },
        };
        super::leaves(key, &value, &mut |key, value| {
            self.insert(Effective { key, value: value.clone(), origin: origin.clone(), untyped, withheld });
        });
    }

    /// Returns a secret text as the declared type of its key: an encrypted value is entered as text.
    fn typed_secret(&self, key: &Key, value: &Value) -> Value {
        let Value::Secret(secret) = value else { return value.clone() };
        let declared = self.schema.and_then(|schema| schema.get(key));
        match (declared, secret.reveal()) {
            (Some(declared), Ok(Value::String(text))) => match typed(text, declared.ty) {
                Ok(Value::String(_)) | Err(_) => value.clone(),
                Ok(typed) => Value::secret(typed),
            },
            _ => value.clone(),
        }
    }

    /// Returns the type that a text for this key takes, and the place that decides it: the declaration, or a weaker typed value.
    fn type_of(&self, key: &Key) -> Option<(ValueType, Option<Origin>)> {
        if let Some(declared) = self.schema.and_then(|schema| schema.get(key)) {
            return Some((declared.ty, None));
        }
        let weaker = self.resolution.chains.get(key)?.last()?;
        let ty = ValueType::of(&weaker.value).filter(|_| !weaker.untyped)?;
        Some((ty, Some(weaker.origin.clone())))
    }

    fn wrong_text(
        &mut self,
        setting: &Setting,
        text: &str,
        ty: ValueType,
        (from, help): (Option<Origin>, &'static str),
    ) {
        let shown = if self.is_secret(&setting.key) { BLINDED.to_owned() } else { format!("{text:?}") };
        let message = format!("config `{}` must be {}, not {shown}", setting.key, ty.described());
        let problem = located(Diagnostic::error(Code::CONFIG_VALUE, message), &setting.origin);
        let problem = match from {
            Some(origin) => problem.note(format!("It has this type at {origin}.")),
            None => self.declared_at(problem, &setting.key),
        };
        self.resolution.problems.push(problem.help(help));
    }

    /// Returns true if the schema, or another setting of the key, makes its value a secret.
    fn is_secret(&self, key: &Key) -> bool {
        let chain = self.resolution.chains.get(key).into_iter().flatten();
        self.schema.is_some_and(|schema| schema.is_secret(key))
            || chain.into_iter().any(|effective| effective.value.has_secrets())
    }

    fn declared_at(&self, problem: Diagnostic, key: &Key) -> Diagnostic {
        match self.schema.and_then(|schema| schema.get(key)).and_then(|declared| declared.place.clone()) {
            Some(place) => problem.at(place, 0, "declared here"),
            None => problem,
        }
    }

    fn insert(&mut self, mut new: Effective) {
        let chains = &mut self.resolution.chains;
        // Keys inside a table follow the key of the table.
        let after = chains.range((Bound::Excluded(&new.key), Bound::Unbounded));
        let inside: Vec<Key> =
            after.map(|(key, _)| key).take_while(|key| new.key.contains(key)).cloned().collect();
        // An empty table adds nothing to a table with keys.
        if !inside.is_empty() && new.value.as_map().is_some_and(Map::is_empty) {
            return;
        }
        let around = new.key.tables().filter(|table| chains.contains_key(table)).collect::<Vec<_>>();
        let mut chain = Vec::new();
        for replaced in around.into_iter().chain(inside) {
            chain.extend(chains.remove(&replaced).unwrap_or_default());
        }
        chain.extend(chains.remove(&new.key).unwrap_or_default());
        // A key whose value is a secret in one place is a secret in every stronger place.
        if chain.iter().any(|weaker| weaker.value.has_secrets()) && !new.withheld {
            new.value = Value::secret(new.value);
        }
        let key = new.key.clone();
        chain.push(new);
        chains.insert(key, chain);
    }

    fn finish(mut self, config: &Config) -> Resolution {
        for (key, chain) in &self.resolution.chains {
            let Some(effective) = chain.last() else { continue };
            set(&mut self.resolution.values, key.parts(), effective.value.clone());
            if effective.untyped {
                self.resolution.untyped.insert(key.clone());
            }
            if effective.withheld {
                self.resolution.withheld.insert(key.clone());
            }
        }
        if let Some(schema) = self.schema {
            if self.coverage == Coverage::AllKeys {
                self.undeclared(schema);
            }
            for (key, declared) in schema.declarations() {
                self.declared(key, declared, config);
            }
        }
        self.resolution
    }

    /// Reports every setting whose key the schema does not have.
    fn undeclared(&mut self, schema: &Schema) {
        let mut problems = Vec::new();
        for effective in
            self.resolution.chains.values().flatten().filter(|effective| !schema.covers(&effective.key))
        {
            let key = &effective.key;
            let within: Vec<String> =
                schema.keys().filter(|known| key.contains(known)).map(|known| format!("`{known}`")).collect();
            let message = match within.is_empty() {
                true => format!("config `{key}` is not declared in the schema"),
                false => {
                    format!("config `{key}` is a table with {}, and has no value itself", within.join(", "))
                }
            };
            let problem = located(Diagnostic::error(Code::CONFIG_VALUE, message), &effective.origin);
            problems.push(match schema.nearest(key).filter(|_| within.is_empty()) {
                Some(meant) => problem.help(format!("did you mean `{meant}`?")),
                None if within.is_empty() => problem.help("declare it in the schema, or remove it"),
                None => problem,
            });
        }
        self.resolution.problems.extend(problems);
    }

    /// Checks the value of a declared key.
    fn declared(&mut self, key: &Key, declared: &Declaration, config: &Config) {
        let found = self.resolution.value(key);
        let chain = |key: &Key| self.resolution.chains.get(key).and_then(|chain| chain.last());
        let Some(value) = found else {
            if declared.presence == Presence::Required && !self.refused(key) {
                let problem = self.missing(key, declared, config);
                self.resolution.problems.push(problem);
            }
            return;
        };
        let inner = || {
            self.resolution
                .chains
                .iter()
                .find(|(inner, _)| key.contains(inner))
                .and_then(|(_, all)| all.last())
        };
        let Some(effective) = chain(key).or_else(inner) else { return };
        if effective.withheld {
            return;
        }
        // A secret without its key cannot be checked.
        let Ok(revealed) = value.revealed() else { return };
        let secret = declared.secrecy == Secrecy::Secret || value.has_secrets();
        let members = if secret { Members::Hidden } else { Members::Named };
        if let Some(wrong) = mismatch(declared, &revealed, members) {
            let shown = match &revealed {
                _ if wrong.contains(", not ") => String::new(),
                _ if secret => format!(", not {BLINDED}"),
                Value::String(_) | Value::Number(_) | Value::Bool(_) => format!(", not {}", value.to_json()),
                _ => String::new(),
            };
            let message = format!("config `{key}` {wrong}{shown}");
            let problem = located(Diagnostic::error(Code::CONFIG_VALUE, message), &effective.origin);
            let problem = self.declared_at(problem, key);
            self.resolution.problems.push(problem);
        }
    }

    /// Returns true if a setting of the key was already refused.
    fn refused(&self, key: &Key) -> bool {
        let start = format!("config `{key}` must be");
        self.resolution.problems.iter().any(|problem| problem.message.starts_with(&start))
    }

    fn missing(&self, key: &Key, declared: &Declaration, config: &Config) -> Diagnostic {
        let message =
            format!("config `{key}` is required, and has no value; it must be {}", declared.ty.described());
        let problem = Diagnostic::error(Code::CONFIG_VALUE, message);
        let problem = self.declared_at(problem, key);
        let problem = match &declared.description {
            Some(text) => problem.note(format!("`{key}`: {text}")),
            None => problem,
        };
        let set: Vec<(String, &Origin)> = config
            .project
            .iter()
            .chain(&config.call)
            .filter(|setting| self.schema.is_none_or(|schema| !schema.covers(&setting.key)))
            .map(|setting| (setting.key.to_string(), &setting.origin))
            .collect();
        let near = stead_model::nearest(&key.to_string(), set.iter().map(|(key, _)| key.as_str()));
        let near = near.and_then(|near| set.iter().find(|(key, _)| key == near));
        match near {
            Some((near, origin)) => {
                problem.help(format!("`{near}` is set at {origin}; did you mean `{key}`?"))
            }
            None => problem.help(format!(
                "set it in `[config]` of stead.toml, for this call, or by {}",
                variables::name_of(key)
            )),
        }
    }
}

/// Adds the place of a setting to a problem.
fn located(problem: Diagnostic, origin: &Origin) -> Diagnostic {
    match origin {
        Origin::File(place) => problem.at(place.clone(), 0, "set here"),
        other => problem.note(format!("It is set by {other}.")),
    }
}

fn value_at(values: &Map, parts: &[String]) -> Option<Value> {
    match parts {
        [] => None,
        [last] => values.get(last.as_str()).cloned(),
        [table, rest @ ..] => in_table(values.get(table.as_str())?, |table| value_at(table, rest)),
    }
}

#[cfg(test)]
mod tests;
