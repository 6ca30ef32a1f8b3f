//! The providers of a run, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use stead_model::TypeToken;
use stead_schema::Catalog;

use crate::Provider;

#[derive(Clone, Default)]
pub struct Providers {
    by_name: BTreeMap<String, Arc<dyn Provider>>,
}

impl Providers {
    #[must_use]
    pub fn with(mut self, provider: Arc<dyn Provider>) -> Providers {
        self.by_name.insert(provider.name().to_owned(), provider);
        self
    }

    /// The provider that serves a type.
    pub fn of(&self, resource: &TypeToken) -> Option<&Arc<dyn Provider>> {
        self.by_name.get(resource.provider())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// What each of them is, with its version.
    pub fn versions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_name.iter().map(|(name, provider)| (name.as_str(), provider.version()))
    }

    /// How many questions each of those takes at once that say so.
    pub fn limits(&self) -> impl Iterator<Item = (&str, usize)> {
        self.by_name.iter().filter_map(|(name, provider)| Some((name.as_str(), provider.parallel()?)))
    }

    /// Every type that any of them serves.
    pub fn catalog(&self) -> Catalog {
        self.by_name.values().flat_map(|provider| provider.types()).collect()
    }
}
