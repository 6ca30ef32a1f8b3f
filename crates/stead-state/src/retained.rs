//! The real things that a stack let go of, and that still exist: so that somebody can find them again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stead_model::{MarkSource, Name, PhysicalId, RunId, TypeToken};

/// Why the real thing stays when its record goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The run that let go of it.
    pub run: RunId,
    /// The deletion policy that says so; `None`: somebody asked for it with `state rm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Arc<MarkSource>>,
}

/// Something real that is not managed any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retained {
    pub name: Name,
    #[serde(rename = "type")]
    pub resource: TypeToken,
    pub id: PhysicalId,
    #[serde(flatten)]
    pub kept: Kept,
}
