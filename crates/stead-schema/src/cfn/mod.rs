//! CloudFormation resource types: the schemas that AWS publishes, junk included.
//!
//! `parse` takes any of them, `bundle` holds all of them, `patch` turns a wish into an update.

pub mod bundle;
mod check;
mod classes;
mod declarations;
mod facts;
mod form;
mod lists;
mod parse;
mod patch;
mod place;
mod pointer;
mod remembered;
mod same;
mod send;
mod transform;
mod update;

pub(crate) use check::{deprecations, mistakes};
pub use classes::{Class, Classes, Cursor, PathSet};
pub(crate) use declarations::{interfaces, typescript};
pub use facts::facts;
pub use form::{Form, FormId, Kinds, Order, Rest};
pub use parse::{SchemaError, parse};
pub use patch::{Wish, patch};
pub use remembered::{DigestKey, Remembered};
pub use update::{Edit, Operation, Reason, Update, patch_document, pointer};

use stead_model::{PathPattern, PropertyPath, Value};

use crate::ReplaceOrder;

/// One resource type, as published.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// `AWS::S3::Bucket`.
    pub type_name: String,
    pub(crate) forms: Vec<Form>,
    pub classes: Classes,
    /// The parts of its identifier, in order.
    pub primary_identifier: Vec<PropertyPath>,
    pub additional_identifiers: Vec<Vec<PropertyPath>>,
    pub handlers: Handlers,
    pub tagging: Tagging,
    /// Which half of a replacement comes first, where the type says so.
    pub replacement: Option<ReplaceOrder>,
    /// How a value changes on its way through the service: a path, and an expression in JSONata.
    pub transforms: Vec<(PathPattern, String)>,
    /// Pointers that lead to no property.
    pub dangling: Vec<String>,
}

/// What the service can do with resources of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handlers {
    pub create: Option<Handler>,
    pub read: Option<Handler>,
    pub update: Option<Handler>,
    pub delete: Option<Handler>,
    pub list: Option<Handler>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    pub timeout_minutes: u32,
}

/// How long a handler may take where the schema does not say.
pub const DEFAULT_TIMEOUT_MINUTES: u32 = 120;

/// Whether and how resources of a type carry tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagging {
    pub taggable: bool,
    pub on_create: bool,
    pub updatable: bool,
    pub property: Option<PropertyPath>,
}

impl Schema {
    /// The form of the resource as a whole.
    pub const ROOT: FormId = FormId(0);

    pub fn form(&self, id: FormId) -> &Form {
        &self.forms[id.0 as usize]
    }

    /// The form of a member of an object, wherever it is declared.
    pub fn member(&self, of: FormId, key: &str) -> Option<FormId> {
        self.find(of, &mut Vec::new(), &|form| form.properties.get(key).copied()).or_else(|| {
            self.find(of, &mut Vec::new(), &|form| match form.rest {
                Rest::Of(inner) => Some(inner),
                Rest::Open | Rest::Closed => None,
            })
        })
    }

    /// The form of the elements of a list.
    pub fn element(&self, of: FormId) -> Option<FormId> {
        self.find(of, &mut Vec::new(), &|form| form.items)
    }

    /// The first answer among a form and all that it is made of.
    pub fn find<T>(&self, id: FormId, seen: &mut Vec<FormId>, ask: &dyn Fn(&Form) -> Option<T>) -> Option<T> {
        if seen.contains(&id) {
            return None;
        }
        seen.push(id);
        let form = self.form(id);
        ask(form).or_else(|| form.parts().find_map(|part| self.find(part, seen, ask)))
    }

    /// Whether elements of a list mean the same in any order.
    pub fn is_unordered(&self, list: FormId) -> bool {
        self.find(list, &mut Vec::new(), &|form| form.items.map(|_| form.order == Order::Any))
            .unwrap_or(false)
    }

    /// Every top-level property, by name.
    pub fn properties(&self) -> impl Iterator<Item = (&str, FormId)> {
        self.form(Schema::ROOT).properties.iter().map(|(name, form)| (name.as_str(), *form))
    }

    /// The value of a property that the schema itself gives where the user gives none.
    pub fn default_of(&self, form: FormId) -> Option<&Value> {
        self.form(form).default.as_ref()
    }

    /// Cloud Control can create, read and delete it.
    pub fn is_manageable(&self) -> bool {
        let Handlers { create, read, delete, .. } = self.handlers;
        create.is_some() && read.is_some() && delete.is_some()
    }
}
