//! What a provider is told.

use stead_model::{Map, Name, Resource, SourceRef, TypeToken};
use stead_schema::{Change, ReplaceOrder};

pub struct CreateRequest<'a> {
    pub name: &'a Name,
    pub resource: &'a TypeToken,
    pub source: &'a SourceRef,
    pub inputs: &'a Map,
}

pub struct UpdateRequest<'a> {
    /// The record as it will be, with the old outputs.
    pub resource: &'a Resource,
    pub old_inputs: &'a Map,
}

pub struct DeleteRequest<'a> {
    pub resource: &'a Resource,
}

/// The difference between a record and what is wanted. No changes: nothing to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    pub changes: Vec<Change>,
    /// Which half comes first, if a change replaces.
    pub order: ReplaceOrder,
}
