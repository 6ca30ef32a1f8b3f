//! Declarations of config keys: type, default, limits, secrecy. Read from tables of `stead.toml` or from the program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stead_model::{Map, SourceRef, Value, nearest};

use super::Key;

/// Type of a config value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    String,
    Number,
    Integer,
    Boolean,
    List,
    Map,
}

const TYPES: &[(&str, ValueType)] = &[
    ("string", ValueType::String),
    ("number", ValueType::Number),
    ("integer", ValueType::Integer),
    ("boolean", ValueType::Boolean),
    ("list", ValueType::List),
    ("map", ValueType::Map),
];

impl ValueType {
    /// Returns the name with its article, such as "a number".
    pub(super) fn described(self) -> &'static str {
        match self {
            ValueType::String => "a string",
            ValueType::Number => "a number",
            ValueType::Integer => "an integer",
            ValueType::Boolean => "a boolean, `true` or `false`",
            ValueType::List => "a list",
            ValueType::Map => "a table",
        }
    }

    pub(super) fn of(value: &Value) -> Option<ValueType> {
        Some(match value {
            Value::Null | Value::Secret(_) => return None,
            Value::Bool(_) => ValueType::Boolean,
            Value::Number(_) => ValueType::Number,
            Value::String(_) => ValueType::String,
            Value::List(_) => ValueType::List,
            Value::Map(_) => ValueType::Map,
        })
    }

    pub(super) fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (ValueType::Integer, Value::Number(number)) => number.as_f64().fract() == 0.0,
            (wanted, value) => ValueType::of(value) == Some(wanted),
        }
    }
}

/// Whether a key must have a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    #[default]
    Optional,
    Required,
}

/// Whether the value of a key may be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secrecy {
    #[default]
    Open,
    Secret,
}

/// Declaration of one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    #[serde(rename = "type")]
    pub ty: ValueType,
    /// Type of the items of a list or the values of a map.
    pub items: Option<ValueType>,
    pub presence: Presence,
    pub default: Option<Value>,
    /// The only allowed values.
    pub one_of: Vec<Value>,
    /// Least number, length of a string, or length of a list.
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// Regular expression that a string must match somewhere.
    pub pattern: Option<String>,
    pub secrecy: Secrecy,
    pub description: Option<String>,
    pub place: Option<SourceRef>,
}

/// Declarations of all keys of a project or a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    #[serde(with = "as_pairs")]
    declarations: BTreeMap<Key, Declaration>,
}

/// Error in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    pub key: Key,
    pub message: String,
    pub place: Option<SourceRef>,
}

/// Keys of a declaration.
const WORDS: &[&str] =
    &["type", "items", "required", "default", "enum", "min", "max", "pattern", "secret", "description"];

impl Schema {
    /// Reads a table of declarations: a declaration is a table with `type`, or only the name of the type; any other table
    /// groups the keys inside it.
    pub fn read(
        table: &Map,
        place_of: &dyn Fn(&Key) -> Option<SourceRef>,
    ) -> Result<Schema, Vec<SchemaProblem>> {
        let mut reader = Reader { schema: Schema::default(), problems: Vec::new(), place_of };
        reader.group(None, table);
        if reader.problems.is_empty() { Ok(reader.schema) } else { Err(reader.problems) }
    }

    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.declarations.keys()
    }

    pub fn declarations(&self) -> impl Iterator<Item = (&Key, &Declaration)> {
        self.declarations.iter()
    }

    pub fn get(&self, key: &Key) -> Option<&Declaration> {
        self.declarations.get(key)
    }

    /// Returns the declared tables of any keys.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Key> {
        self.declarations.iter().filter(|(_, declared)| declared.ty == ValueType::Map).map(|(key, _)| key)
    }

    /// Returns true if the key is declared, is inside a declared table, or is a group of declared keys.
    pub fn declares(&self, key: &Key) -> bool {
        self.covers(key) || self.keys().any(|known| key.contains(known))
    }

    /// Returns true if the key is declared, or is inside a declared table.
    pub(super) fn covers(&self, key: &Key) -> bool {
        self.get(key).is_some() || self.tables().any(|table| table.contains(key))
    }

    /// Returns true if the value of the key, or of a key inside it, is secret.
    pub fn is_secret(&self, key: &Key) -> bool {
        let secret = |declared: &Declaration| declared.secrecy == Secrecy::Secret;
        self.declarations.iter().any(|(known, declared)| {
            secret(declared) && (known == key || known.contains(key) || key.contains(known))
        })
    }

    /// Returns true if the value of the key is a secret as a whole: the key or a table around it is declared secret.
    pub(crate) fn conceals(&self, key: &Key) -> bool {
        self.declarations.iter().any(|(known, declared)| {
            declared.secrecy == Secrecy::Secret && (known == key || known.contains(key))
        })
    }

    /// Returns the schema without the defaults of secret keys.
    pub(super) fn without_secrets(&self) -> Schema {
        let mut schema = self.clone();
        for declared in
            schema.declarations.values_mut().filter(|declared| declared.secrecy == Secrecy::Secret)
        {
            declared.default = None;
        }
        schema
    }

    /// Returns the declared key that a misspelt key probably means.
    pub fn nearest(&self, key: &Key) -> Option<String> {
        let known: Vec<String> = self.keys().map(Key::to_string).collect();
        nearest(&key.to_string(), known.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Adds the declarations of another schema, whose keys win.
    pub(crate) fn extend(&mut self, other: Schema) {
        self.declarations.extend(other.declarations);
    }
}

struct Reader<'a> {
    schema: Schema,
    problems: Vec<SchemaProblem>,
    place_of: &'a dyn Fn(&Key) -> Option<SourceRef>,
}

impl Reader<'_> {
    fn group(&mut self, group: Option<&Key>, table: &Map) {
        for (name, value) in table {
            // A quoted key with dots is the path that it spells.
            let parts = name.split('.').filter(|part| !part.is_empty());
            let key = parts.fold(group.cloned(), |key, part| {
                Some(key.map_or_else(|| Key::of([part]), |key| key.child(part)))
            });
            let Some(key) = key else { continue };
            match value {
                Value::String(ty) => {
                    let mut declared = Map::new();
                    declared.insert("type", Value::from(ty.clone()));
                    self.declaration(key, &declared);
                }
                Value::Map(map) if matches!(map.get("type"), Some(Value::String(_))) => {
                    self.declaration(key, map)
                }
                Value::Map(map)
                    if WORDS
                        .iter()
                        .skip(1)
                        .any(|word| map.get(*word).is_some_and(|v| v.as_map().is_none())) =>
                {
                    self.problem(&key, "the declaration has no `type`".to_owned());
                }
                Value::Map(map) => self.group(Some(&key), map),
                _ => self
                    .problem(&key, "a declaration is a table with `type`, or the name of a type".to_owned()),
            }
        }
    }

    fn problem(&mut self, key: &Key, message: String) {
        let place = (self.place_of)(key);
        self.problems.push(SchemaProblem { key: key.clone(), message, place });
    }

    fn declaration(&mut self, key: Key, table: &Map) {
        for word in table.keys().filter(|word| !WORDS.contains(&word.as_str())) {
            let meant = nearest(word, WORDS.iter().copied());
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            self.problem(&key, format!("a declaration has no key `{word}`{meant}"));
        }
        let Some(ty) = self.value_type(&key, table, "type") else { return };
        let items = self.value_type(&key, table, "items");
        let required = self.flag(&key, table, "required");
        let secret = self.flag(&key, table, "secret");
        let declared = Declaration {
            ty,
            items,
            presence: if required { Presence::Required } else { Presence::Optional },
            default: table.get("default").cloned(),
            one_of: table.get("enum").and_then(Value::as_list).map(<[Value]>::to_vec).unwrap_or_default(),
            min: self.number(&key, table, "min"),
            max: self.number(&key, table, "max"),
            pattern: self.text(&key, table, "pattern"),
            secrecy: if secret { Secrecy::Secret } else { Secrecy::Open },
            description: self.text(&key, table, "description"),
            place: (self.place_of)(&key),
        };
        if table.contains_key("enum") && declared.one_of.is_empty() {
            self.problem(&key, "`enum` must be a list of values".to_owned());
        }
        if let Some(pattern) = &declared.pattern
            && let Err(error) = regex_lite::Regex::new(pattern)
        {
            self.problem(&key, format!("`pattern` is not a regular expression: {error}"));
        } else if let Some(default) = &declared.default
            && let Some(wrong) = super::check::mismatch(&declared, default, super::check::Members::Named)
        {
            self.problem(&key, format!("the default {wrong}"));
        }
        if required && declared.default.is_some() {
            self.problem(&key, "a required key needs no default".to_owned());
        }
        self.schema.declarations.insert(key, declared);
    }

    fn value_type(&mut self, key: &Key, table: &Map, word: &str) -> Option<ValueType> {
        let name = self.text(key, table, word)?;
        let found = TYPES.iter().find(|(known, _)| *known == name).map(|(_, ty)| *ty);
        if found.is_none() {
            let names: Vec<&str> = TYPES.iter().map(|(known, _)| *known).collect();
            let meant = match nearest(&name, names.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the types are {}", names.join(", ")),
            };
            self.problem(key, format!("there is no type `{name}`; {meant}"));
        }
        found
    }

    fn text(&mut self, key: &Key, table: &Map, word: &str) -> Option<String> {
        let value = table.get(word)?;
        if value.as_str().is_none() {
            self.problem(key, format!("`{word}` must be a string"));
        }
        value.as_str().map(str::to_owned)
    }

    fn number(&mut self, key: &Key, table: &Map, word: &str) -> Option<f64> {
        match table.get(word)? {
            Value::Number(number) => Some(number.as_f64()),
            _ => {
                self.problem(key, format!("`{word}` must be a number"));
                None
            }
        }
    }

    fn flag(&mut self, key: &Key, table: &Map, word: &str) -> bool {
        let Some(value) = table.get(word) else { return false };
        if value.as_bool().is_none() {
            self.problem(key, format!("`{word}` must be `true` or `false`"));
        }
        value.as_bool().unwrap_or_default()
    }
}

/// Serialises the declarations as a list of pairs, because a key is no string.
mod as_pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Declaration, Key};

    pub(super) fn serialize<S: Serializer>(
        all: &BTreeMap<Key, Declaration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        all.iter().collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<Key, Declaration>, D::Error> {
        Vec::<(Key, Declaration)>::deserialize(deserializer).map(|all| all.into_iter().collect())
    }
}
