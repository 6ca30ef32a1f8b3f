//! CloudFormation resource types, from the schemas that AWS publishes.
//!
//! `parse` reads a schema, `bundle` holds all of them, `patch` computes an update from desired inputs. Published schemas
//! contain mistakes; `parse` tolerates them.

pub mod bundle;
mod check;
mod classes;
mod declarations;
mod drift;
mod equivalence;
mod facts;
mod form;
mod keyed;
mod known;
mod last_applied;
mod limits;
mod lists;
mod merge;
mod pairing;
mod parents;
mod parse;
mod patch;
pub mod permissions;
mod pointer;
mod position;
mod repair;
mod send;
mod settable;
mod settled;
mod transform;
mod unions;
mod update;
mod violations;

pub(crate) use check::{deprecations, mistakes};
pub use classes::{Class, Classes, Cursor, PathSet};
pub(crate) use declarations::{interfaces, typescript};
pub use drift::{Drift, differences, drift};
pub use facts::facts;
pub use form::{Form, FormId, Kinds, Order, Rest};
pub(crate) use known::{SecretOutputs, stable};
pub use last_applied::{DigestKey, LastApplied};
pub use limits::{Limits, Pattern, Span};
pub(crate) use parents::list_parent;
pub use parents::{ListParent, list_parent_keys};
pub use parse::{SchemaError, parse};
pub use patch::{UpdateInputs, patch};
pub use permissions::{HandlerKind, permissions};
pub use settable::settable;
pub use settled::Settled;
pub use transform::transform_allows;
pub use update::{Edit, Operation, Reason, Update, patch_document, pointer};

use stead_model::{PathPattern, PropertyPath, Value};

use crate::ReplaceOrder;

/// One published resource type.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// Type name, such as `AWS::S3::Bucket`.
    pub type_name: String,
    pub(crate) forms: Vec<Form>,
    pub classes: Classes,
    /// Parts of the primary identifier, in order.
    pub primary_identifier: Vec<PropertyPath>,
    pub additional_identifiers: Vec<Vec<PropertyPath>>,
    pub handlers: Handlers,
    pub tagging: Tagging,
    /// Order of a replacement, if the type defines it.
    pub replacement: Option<ReplaceOrder>,
    /// Transformations that the service applies to values: a path and a JSONata expression.
    pub transforms: Vec<(PathPattern, String)>,
    /// Pointers in the schema that resolve to no property.
    pub dangling: Vec<String>,
}

/// Operations that the service supports for a type.
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

/// Timeout of a handler if the schema does not give one.
pub const DEFAULT_TIMEOUT_MINUTES: u32 = 120;

/// Support of a type for tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagging {
    pub taggable: bool,
    pub on_create: bool,
    pub updatable: bool,
    pub property: Option<PropertyPath>,
}

impl Schema {
    /// Form of the whole resource.
    pub const ROOT: FormId = FormId(0);

    pub fn form(&self, id: FormId) -> &Form {
        &self.forms[id.0 as usize]
    }

    /// Returns a cursor over the secret properties: all write-only properties, except for known public ones.
    pub fn secrets(&self) -> Cursor<'_> {
        self.classes.of(Class::WriteOnly).cursor_without(known::public_write_only(&self.type_name))
    }

    /// Returns the secrets that the service makes and returns.
    pub(crate) fn secret_outputs(&self) -> Option<&'static SecretOutputs> {
        known::secret_outputs(&self.type_name)
    }

    /// Returns the form of a member of an object, declared in the form itself or in one of its parts.
    pub fn member(&self, of: FormId, key: &str) -> Option<FormId> {
        self.find(of, &mut Vec::new(), &|form| form.properties.get(key).copied()).or_else(|| {
            self.find(of, &mut Vec::new(), &|form| match form.rest {
                Rest::Of(inner) => Some(inner),
                Rest::Open | Rest::Closed => None,
            })
        })
    }

    /// Returns the form of the elements of a list.
    pub fn element(&self, of: FormId) -> Option<FormId> {
        self.find(of, &mut Vec::new(), &|form| form.items)
    }

    /// Returns the first result of `ask` among a form and its parts.
    pub fn find<T>(&self, id: FormId, seen: &mut Vec<FormId>, ask: &dyn Fn(&Form) -> Option<T>) -> Option<T> {
        if seen.contains(&id) {
            return None;
        }
        seen.push(id);
        let form = self.form(id);
        ask(form).or_else(|| form.parts().find_map(|part| self.find(part, seen, ask)))
    }

    /// Returns true if the order of a list's elements is not significant.
    pub fn is_unordered(&self, list: FormId) -> bool {
        self.find(list, &mut Vec::new(), &|form| form.items.map(|_| form.order == Order::Any))
            .unwrap_or(false)
    }

    /// Returns the top-level properties by name.
    pub fn properties(&self) -> impl Iterator<Item = (&str, FormId)> {
        self.form(Schema::ROOT).properties.iter().map(|(name, form)| (name.as_str(), *form))
    }

    /// Returns the schema's default for a property, used if the user gives no value.
    pub fn default_of(&self, form: FormId) -> Option<&Value> {
        self.form(form).default.as_ref()
    }

    /// Returns true if Cloud Control can create, read and delete the type.
    pub fn is_manageable(&self) -> bool {
        let Handlers { create, read, delete, .. } = self.handlers;
        create.is_some() && read.is_some() && delete.is_some()
    }
}
