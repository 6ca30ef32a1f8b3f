//! Forms: the nodes of a published JSON schema. They refer to each other by number, so that they may be recursive.

use std::collections::{BTreeMap, BTreeSet};

use stead_model::Value;

use super::limits::Limits;

/// Number of a form in its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormId(pub u32);

/// Set of JSON kinds that a form accepts. The empty set accepts all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    pub const STRING: Kinds = Kinds(1);
    pub const NUMBER: Kinds = Kinds(2);
    pub const INTEGER: Kinds = Kinds(4);
    pub const BOOLEAN: Kinds = Kinds(8);
    pub const OBJECT: Kinds = Kinds(16);
    pub const ARRAY: Kinds = Kinds(32);
    pub const NULL: Kinds = Kinds(64);

    pub fn of(name: &str) -> Kinds {
        match name {
            "string" => Kinds::STRING,
            "number" => Kinds::NUMBER,
            "integer" => Kinds::INTEGER,
            "boolean" => Kinds::BOOLEAN,
            "object" => Kinds::OBJECT,
            "array" => Kinds::ARRAY,
            "null" => Kinds::NULL,
            _ => Kinds(0),
        }
    }

    #[must_use]
    pub fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub fn is_any(self) -> bool {
        self.0 == 0
    }

    pub fn has(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the kinds for a message: "a string or a list".
    pub fn words(self) -> String {
        let names = [
            (Kinds::STRING, "a string"),
            (Kinds::NUMBER, "a number"),
            (Kinds::INTEGER, "a whole number"),
            (Kinds::BOOLEAN, "true or false"),
            (Kinds::OBJECT, "an object"),
            (Kinds::ARRAY, "a list"),
            (Kinds::NULL, "null"),
        ];
        let found: Vec<&str> =
            names.iter().filter(|(kind, _)| self.has(*kind)).map(|(_, name)| *name).collect();
        found.join(" or ")
    }

    pub fn fits(self, value: &Value) -> bool {
        let kind = match value {
            Value::Null => Kinds::NULL,
            Value::Bool(_) => Kinds::BOOLEAN,
            Value::Number(number) if number.as_i64().is_some() => Kinds::NUMBER.and(Kinds::INTEGER),
            Value::Number(_) => Kinds::NUMBER,
            Value::String(_) => Kinds::STRING,
            Value::List(_) => Kinds::ARRAY,
            Value::Map(_) => Kinds::OBJECT,
            // The value is revealed only for the provider, which checks it.
            Value::Secret(_) => return true,
        };
        self.is_any() || self.0 & kind.0 != 0
    }
}

/// Significance of the order of a list's elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    AsGiven,
    Any,
}

/// Additional members of an object, besides its named properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    #[default]
    Closed,
    /// Members of any form.
    Open,
    /// Members of this form.
    Of(FormId),
}

/// Constraints on one value: a node of a JSON schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Form {
    /// Name of the form in the schema's definitions, if it has one.
    pub name: Option<String>,
    pub kinds: Kinds,
    pub properties: BTreeMap<String, FormId>,
    pub rest: Rest,
    pub required: BTreeSet<String>,
    pub items: Option<FormId>,
    pub order: Order,
    pub unique: bool,
    pub min_items: u32,
    pub limits: Limits,
    /// Elements are owned one by one, by their key: the service returns also unset ones.
    pub attributes: bool,
    /// Allowed values; empty if all are allowed.
    pub choices: Vec<Value>,
    pub default: Option<Value>,
    /// Alternatives of which exactly one must match as published; services are less strict.
    pub one_of: Vec<FormId>,
    pub any_of: Vec<FormId>,
    pub all_of: Vec<FormId>,
}

impl Form {
    /// Returns the forms that this form is composed of.
    pub fn parts(&self) -> impl Iterator<Item = FormId> {
        self.all_of.iter().chain(&self.one_of).chain(&self.any_of).copied()
    }
}
