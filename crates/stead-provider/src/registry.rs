//! The providers of a run, by name, and the instances that provider resources configure.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use stead_model::{Map, Resource, TypeToken};
use stead_schema::Catalog;

use crate::veil::{RunSecrets, Veil};
use crate::{Configuration, Provider, ReadCount, Refusal};

/// The registered providers. Clones share the configured instances and the known secrets.
#[derive(Clone, Default)]
pub struct Providers {
    by_name: BTreeMap<String, Arc<dyn Provider>>,
    /// Secrets that no answer of a provider may show.
    known: RunSecrets,
    reads: ReadCount,
    configured: Arc<Mutex<Vec<Configured>>>,
}

/// An instance of a provider with the settings of a provider resource.
struct Configured {
    provider: String,
    configuration: Configuration,
    instance: Arc<dyn Provider>,
}

impl Providers {
    /// Adds a provider. From here on it gets plain values, and its answers have their secrets marked.
    #[must_use]
    pub fn with(mut self, provider: Arc<dyn Provider>) -> Providers {
        let veil = Veil::new(provider, self.known.clone(), self.reads.clone());
        self.by_name.insert(veil.name().to_owned(), Arc::new(veil));
        self
    }

    /// Learns the secrets in values, such as the outputs of an opened stack. Later answers of all providers are searched for them.
    pub fn learn_secrets(&self, values: &Map) {
        self.known.learn(values);
    }

    /// Marks the texts and numbers of values that contain a secret that the run knows.
    #[must_use]
    pub fn mark_known(&self, values: Map) -> Map {
        self.known.mark(values)
    }

    /// Learns the secrets of a record of the opened state.
    pub fn learn_record(&self, resource: &Resource) {
        let catalog = self.of(&resource.ty).map(|provider| provider.catalog());
        let schema = catalog.as_ref().and_then(|catalog| catalog.get(&resource.ty));
        self.known.learn_record(resource, schema);
    }

    /// Returns the count of the reads of all providers.
    pub fn reads(&self) -> &ReadCount {
        &self.reads
    }

    /// Returns the default provider of a type: the one that serves a resource without a provider resource.
    pub fn of(&self, resource: &TypeToken) -> Option<&Arc<dyn Provider>> {
        self.by_name.get(resource.provider())
    }

    /// Returns the instance of a provider with these settings: the same one for the same settings.
    ///
    /// A provider without settings serves all its resources itself.
    pub fn configured(
        &self,
        provider: &Arc<dyn Provider>,
        configuration: Configuration,
    ) -> Result<Arc<dyn Provider>, Refusal> {
        let Some(configurable) = provider.configurable() else { return Ok(provider.clone()) };
        let mut known = self.configured.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |one: &&Configured| one.provider == provider.name() && one.configuration == configuration;
        if let Some(found) = known.iter().find(same) {
            return Ok(found.instance.clone());
        }
        let instance = configurable.configured(&configuration)?;
        let provider = provider.name().to_owned();
        known.push(Configured { provider, configuration, instance: instance.clone() });
        Ok(instance)
    }

    /// Returns true for the type of a provider resource.
    pub fn is_settings_type(&self, ty: &TypeToken) -> bool {
        let configurable = self.of(ty).and_then(|provider| provider.configurable());
        configurable.is_some_and(|configurable| configurable.settings_type() == *ty)
    }

    /// Returns the provider with this name.
    pub fn named(&self, name: &str) -> Option<&Arc<dyn Provider>> {
        self.by_name.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns the names of the providers that keep resources in more than one place: another setting leads elsewhere.
    pub fn with_places(&self) -> impl Iterator<Item = &str> {
        let placed = |(_, provider): &(&String, &Arc<dyn Provider>)| provider.configurable().is_some();
        self.by_name.iter().filter(placed).map(|(name, _)| name.as_str())
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
