//! Real resources that the stack no longer manages but that still exist.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stead_model::{MarkSource, Name, PhysicalId, RunId, TypeToken};

/// Why the real resource was kept when its record was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetainReason {
    /// The run that removed the record.
    pub run: RunId,
    /// The deletion policy that retained the resource; `None` if a user removed the record from state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Arc<MarkSource>>,
}

/// A real resource that the stack no longer manages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Retained {
    pub name: Name,
    #[serde(rename = "type")]
    pub resource: TypeToken,
    pub id: PhysicalId,
    #[serde(flatten)]
    pub reason: RetainReason,
}

/// The fields of [`Retained`] as they are stored, all at one level. An unknown field is refused, which serde cannot do
/// for a flattened field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    name: Name,
    #[serde(rename = "type")]
    resource: TypeToken,
    id: PhysicalId,
    run: RunId,
    source: Option<Arc<MarkSource>>,
}

impl From<Stored> for Retained {
    fn from(Stored { name, resource, id, run, source }: Stored) -> Retained {
        Retained { name, resource, id, reason: RetainReason { run, source } }
    }
}
