//! Canonical identities of real resources.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Canonical identity of a real resource. Two descriptions of one real resource have the same one, however they are
/// spelled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PhysicalIdentity(String);

impl PhysicalIdentity {
    pub fn new(text: impl Into<String>) -> PhysicalIdentity {
        PhysicalIdentity(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PhysicalIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
