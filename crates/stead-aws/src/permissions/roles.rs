//! Roles that a resource gets, which `iam:PassRole` is needed for.

use std::collections::BTreeSet;

use stead_model::{PropertyPath, Value};
use stead_schema::cfn::{Class, Schema};

use super::{MoreProperties, TypeUse};

/// Roles that a handler passes on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// These ones. None, if the resource gets no role.
    Roles(BTreeSet<String>),
    /// A role that is not known.
    Unknown,
}

/// Returns the roles in the properties that a program can set.
pub(super) fn passed(used: &TypeUse, schema: Option<&Schema>, partition: &str) -> Passed {
    let is_own = |name: &str| {
        let path = PropertyPath::of(name);
        schema.is_some_and(|schema| {
            schema.classes.of(Class::ReadOnly).covers(&path) || schema.primary_identifier.contains(&path)
        })
    };
    let mut found = Roles { partition, roles: BTreeSet::new(), is_known: used.more == MoreProperties::None };
    for (name, value) in used.known.iter().filter(|(name, _)| !is_own(name)) {
        found.add(name, value);
    }
    if found.is_known { Passed::Roles(found.roles) } else { Passed::Unknown }
}

struct Roles<'a> {
    partition: &'a str,
    roles: BTreeSet<String>,
    is_known: bool,
}

impl Roles<'_> {
    fn add(&mut self, name: &str, value: &Value) {
        // The roles of a policy may do something; the resource does not get them.
        if name.ends_with("PolicyDocument") {
            return;
        }
        match value {
            Value::String(text) => self.add_text(name, text),
            Value::List(items) => items.iter().for_each(|item| self.add(name, item)),
            Value::Map(map) => map.iter().for_each(|(name, item)| self.add(name, item)),
            Value::Secret(_) if mentions(name, "role") || mentions(name, "profile") => self.is_known = false,
            Value::Secret(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn add_text(&mut self, name: &str, text: &str) {
        if text.starts_with("arn:") && text.contains(":role/") {
            self.roles.insert(text.to_owned());
        } else if mentions(name, "role") && is_role_name(text) {
            self.roles.insert(format!("arn:{}:iam::*:role/{text}", self.partition));
        } else if mentions(name, "role") || mentions(name, "profile") {
            // A profile does not tell the role that is in it.
            self.is_known &= text.is_empty();
        }
    }
}

fn mentions(name: &str, word: &str) -> bool {
    name.to_ascii_lowercase().contains(word)
}

fn is_role_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_+=,.@-".contains(c);
    !text.is_empty() && text.chars().all(allowed)
}
