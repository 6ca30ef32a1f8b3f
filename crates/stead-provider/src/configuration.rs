//! Provider resources: a program declares a provider with settings of its own, and an instance serves with them.

use std::sync::Arc;

use stead_model::{Map, TypeToken};

use crate::{Provider, Refusal};

/// Settings of a provider resource, from its record or from its declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The inputs of the provider resource that are known.
    pub settings: Map,
    /// The outputs of its record, which tell where its resources are. Empty before it is created.
    pub outputs: Map,
    pub completeness: Completeness,
}

/// Whether all settings are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completeness {
    #[default]
    Whole,
    /// A setting has no value before the run. The instance checks and compares, and makes no request.
    Partial,
}

/// Makes instances of a provider with settings of their own.
pub trait Configurable: Send + Sync {
    /// Returns the type of the provider resources.
    fn settings_type(&self) -> TypeToken;

    /// Returns an instance with these settings. Opens no connection.
    ///
    /// An instance whose configuration has outputs serves only the place that they name.
    fn configured(&self, configuration: &Configuration) -> Result<Arc<dyn Provider>, Refusal>;
}
