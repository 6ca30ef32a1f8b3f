//! ProviderLimits at the providers that take only so many questions at once.

use std::collections::HashMap;

use stead_provider::Providers;
use tokio::sync::{Semaphore, SemaphorePermit};

/// For each provider with a limit, as many turns as it has room for.
pub(crate) struct ProviderLimits {
    of: HashMap<String, Semaphore>,
}

impl ProviderLimits {
    pub(crate) fn at(providers: &Providers) -> ProviderLimits {
        let limited = providers.limits().map(|(name, limit)| (name.to_owned(), Semaphore::new(limit.max(1))));
        ProviderLimits { of: limited.collect() }
    }

    /// Waits for a turn, which lasts as long as what is returned. Who has no limit needs none.
    pub(crate) async fn wait(&self, provider: &str) -> Option<SemaphorePermit<'_>> {
        // Nobody closes them.
        self.of.get(provider)?.acquire().await.ok()
    }
}
