//! Listing: the real resources of a type, whether or not a stack records them.

use async_trait::async_trait;
use stead_model::{Map, PhysicalId, TypeToken};

use crate::Refusal;

/// Which resources are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListScope {
    All,
    /// Resources without the mark of a stack.
    Unowned,
}

/// A real resource of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    pub id: PhysicalId,
    /// Why its mark cannot be read. A stack may own such a resource.
    pub unread: Option<String>,
}

impl Listed {
    pub fn new(id: PhysicalId) -> Listed {
        Listed { id, unread: None }
    }
}

/// The resource within which a type is listed, such as the cluster of node groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListParent {
    /// Properties that a list needs. Empty for a type that is listed by itself.
    pub keys: Vec<String>,
    /// Type of the parent, and its properties that have the values of the keys, in their order. `None` if it is not known.
    pub of: Option<(TypeToken, Vec<String>)>,
}

/// Lists real resources.
#[async_trait]
pub trait Listing: Send + Sync {
    /// Returns the parent that a list of the type needs.
    fn parent(&self, resource: &TypeToken) -> ListParent;

    /// Returns the resources of a type, sorted by id. `parent` has the properties that [`parent`](Listing::parent) names.
    async fn list(
        &self,
        resource: &TypeToken,
        scope: ListScope,
        parent: &Map,
    ) -> Result<Vec<Listed>, Refusal>;
}
