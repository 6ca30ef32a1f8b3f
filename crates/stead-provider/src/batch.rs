//! Batch reads: many resources of a type with fewer requests than one for each.

use async_trait::async_trait;
use stead_model::{Resource, TypeToken};

use crate::{LiveState, Refusal};

/// Reads many real resources at once.
#[async_trait]
pub trait BatchReads: Send + Sync {
    /// Returns true if a batch tells about resources of the type all that a read of each would.
    fn covers(&self, resource: &TypeToken) -> bool;

    /// Reads the real resources of records of one type, in their order.
    ///
    /// `None` tells nothing: that resource is to be read by itself, also if it may not exist any more.
    async fn read_all(&self, resources: &[&Resource]) -> Result<Vec<Option<LiveState>>, Refusal>;
}
