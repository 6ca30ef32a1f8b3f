//! The providers of a run, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use stead_model::TypeToken;
use stead_schema::Catalog;

use crate::Provider;
use crate::veil::Veil;

/// The registered providers.
#[derive(Clone, Default)]
pub struct Providers {
    by_name: BTreeMap<String, Arc<dyn Provider>>,
}

impl Providers {
    /// Adds a provider. From here on it gets plain values, and its answers have their secrets marked.
    #[must_use]
    pub fn with(mut self, provider: Arc<dyn Provider>) -> Providers {
        self.by_name.insert(provider.name().to_owned(), Arc::new(Veil::new(provider)));
        self
    }

    /// Returns the provider that serves a type.
    pub fn of(&self, resource: &TypeToken) -> Option<&Arc<dyn Provider>> {
        self.by_name.get(resource.provider())
    }

    /// Returns the provider with this name.
    pub fn named(&self, name: &str) -> Option<&Arc<dyn Provider>> {
        self.by_name.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns each provider's name and version.
    pub fn versions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_name.iter().map(|(name, provider)| (name.as_str(), provider.version()))
    }

    /// Returns the names of the providers that limit parallel calls, each with its limit.
    pub fn limits(&self) -> impl Iterator<Item = (&str, usize)> {
        self.by_name
            .iter()
            .filter_map(|(name, provider)| Some((name.as_str(), provider.max_parallel_calls()?)))
    }

    /// Returns all types that the providers serve.
    pub fn catalog(&self) -> Catalog {
        self.by_name.values().map(|provider| provider.catalog()).fold(Catalog::default(), Catalog::and)
    }
}
