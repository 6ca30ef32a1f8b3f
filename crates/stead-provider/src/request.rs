//! Arguments of provider calls.

use stead_model::{Map, Name, Resource, SourceRef, TypeToken};
use stead_schema::{Change, Problem, ReplaceOrder};

use crate::OwnerMark;

pub struct CreateRequest<'a> {
    pub name: &'a Name,
    pub resource: &'a TypeToken,
    pub source: &'a SourceRef,
    pub inputs: &'a Map,
    /// The owner to write on the resource, for a provider whose marks are part of the resource. `None`: nobody claims it.
    pub owner: Option<&'a OwnerMark>,
}

pub struct UpdateRequest<'a> {
    /// The record with the new inputs and the old outputs.
    pub resource: &'a Resource,
    pub old_inputs: &'a Map,
    /// The owner to write on the resource, as in [`CreateRequest`].
    pub owner: Option<&'a OwnerMark>,
}

pub struct DeleteRequest<'a> {
    pub resource: &'a Resource,
}

/// Difference between a record and the new inputs. Without changes no operation is needed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    pub changes: Vec<Change>,
    /// Whether a replacement creates or deletes first.
    pub order: ReplaceOrder,
    /// Changes that the provider has no way to make in place. `changes` has them too, because an option may replace the resource
    /// for them. The plan is refused unless it replaces the resource.
    pub problems: Vec<Problem>,
}
