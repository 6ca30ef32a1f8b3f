//! Where a provider keeps its resources.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The parts of a place by name: for AWS the account, the region, and the endpoint of a cloud that is not AWS.
///
/// A physical id means something only in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProviderPlace(pub BTreeMap<String, String>);

/// The places where the default providers of a stack keep its resources, by provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProviderPlaces(pub BTreeMap<String, ProviderPlace>);

impl ProviderPlaces {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn of(&self, provider: &str) -> Option<&ProviderPlace> {
        self.0.get(provider)
    }
}

impl ProviderPlace {
    pub fn of<'a>(parts: impl IntoIterator<Item = (&'a str, String)>) -> ProviderPlace {
        ProviderPlace(parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Returns the names of the parts in which two places differ.
    pub fn differences<'a>(&'a self, other: &'a ProviderPlace) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.0.keys().chain(other.0.keys()).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| self.0.get(*name) != other.0.get(*name));
        names
    }
}

impl fmt::Display for ProviderPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|(name, value)| format!("{name} {value}")).collect();
        f.write_str(&parts.join(", "))
    }
}
