//! Parts of a Kubernetes object that a decision needs: name, namespace, annotations. The rest is not parsed.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Annotations. Their values should be text; other values are kept, so that they can be refused.
pub(crate) type Annotations = BTreeMap<String, Value>;

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Object {
    /// Absent in lists.
    #[serde(default)]
    pub(crate) kind: Option<String>,
    pub(crate) metadata: Metadata,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) namespace: Option<String>,
    #[serde(default)]
    annotations: Option<Annotations>,
}

impl Object {
    pub(crate) fn annotations(&self) -> Annotations {
        self.metadata.annotations.clone().unwrap_or_default()
    }
}

/// A `CustomResourceDefinition`.
#[derive(Debug, Deserialize)]
pub(crate) struct Definition {
    pub(crate) spec: DefinitionSpec,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DefinitionSpec {
    pub(crate) group: String,
    pub(crate) names: Names,
    pub(crate) versions: Vec<Version>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Names {
    pub(crate) plural: String,
    pub(crate) kind: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Version {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) served: bool,
}
