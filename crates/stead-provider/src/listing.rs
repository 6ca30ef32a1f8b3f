//! Listing: the real resources of a type, whether or not a stack records them.

use async_trait::async_trait;
use stead_model::{PhysicalId, TypeToken};

use crate::Refusal;

/// Which resources are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListScope {
    All,
    /// Resources without the mark of a stack.
    Unowned,
}

/// Lists real resources.
#[async_trait]
pub trait Listing: Send + Sync {
    /// Returns the ids of the resources of a type, sorted.
    async fn list(&self, resource: &TypeToken, scope: ListScope) -> Result<Vec<PhysicalId>, Refusal>;
}
