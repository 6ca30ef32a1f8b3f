//! What state remembers of a resource.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{CopyRef, Generation, Map, Name, PhysicalId, SourceRef, TypeToken, Uid};

/// Where a copy of a resource is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    #[default]
    Live,
    /// Replaced by a newer generation; the real thing still has to be deleted.
    Condemned,
    /// Deleted so that its replacement can be made; the name is still taken.
    Replacing,
}

/// One copy of a resource, as it was last known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    pub uid: Uid,
    pub generation: Generation,
    pub name: Name,
    #[serde(rename = "type")]
    pub resource: TypeToken,
    #[serde(default, skip_serializing_if = "is_live")]
    pub lifecycle: Lifecycle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PhysicalId>,
    /// What was last asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: Map,
    /// What the provider answered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: Map,
    /// The copies that it was made with, sorted. One that is gone stands for the live copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<CopyRef>,
    /// Which of them each property's value came from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub property_dependencies: BTreeMap<String, Vec<Uid>>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub prevent_delete: bool,
    pub source: SourceRef,
}

impl Resource {
    pub fn copy(&self) -> CopyRef {
        CopyRef { uid: self.uid.clone(), generation: self.generation }
    }

    /// Where it stands in every sorted list.
    pub fn place(&self) -> (&Name, &Uid, Generation) {
        (&self.name, &self.uid, self.generation)
    }

    /// A property as a program reads it: what the provider answered, else what was asked for.
    pub fn property(&self, name: &str) -> Option<&crate::Value> {
        self.outputs.get(name).or_else(|| self.inputs.get(name))
    }
}

fn is_live(lifecycle: &Lifecycle) -> bool {
    *lifecycle == Lifecycle::Live
}

fn is_false(flag: &bool) -> bool {
    !*flag
}
