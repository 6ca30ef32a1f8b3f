//! Limits of the providers on parallel calls.

use std::collections::HashMap;

use stead_provider::Providers;
use tokio::sync::{Semaphore, SemaphorePermit};

/// A semaphore for each provider that limits its parallel calls.
pub(crate) struct ProviderLimits {
    semaphores: HashMap<String, Semaphore>,
}

impl ProviderLimits {
    pub(crate) fn of(providers: &Providers) -> ProviderLimits {
        let limited = providers.limits().map(|(name, limit)| (name.to_owned(), Semaphore::new(limit.max(1))));
        ProviderLimits { semaphores: limited.collect() }
    }

    /// Waits until the provider takes another call, and holds the place until the permit is dropped.
    ///
    /// Returns `None` at once for a provider without a limit.
    pub(crate) async fn wait(&self, provider: &str) -> Option<SemaphorePermit<'_>> {
        // An error would mean that the semaphore was closed, which never happens.
        self.semaphores.get(provider)?.acquire().await.ok()
    }
}
