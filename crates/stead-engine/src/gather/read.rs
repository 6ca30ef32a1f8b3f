//! Looks at real things. A busy provider is asked again, one that says nothing is not waited for.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use stead_model::{Code, Diagnostic, PhysicalId, Resource, Timeouts, TypeToken};
use stead_provider::{LiveState, Provider, Refusal, RefusalClass};

use crate::Engine;
use crate::gather::retry::{ATTEMPTS, pause};

impl Engine {
    /// How long a look may take, all attempts together: what the option says, else the schema, else the provider.
    pub(crate) fn look_patience(
        &self,
        options: Option<&Timeouts>,
        provider: &Arc<dyn Provider>,
        resource: &TypeToken,
    ) -> Duration {
        let option = options.and_then(Timeouts::of_reads);
        let schema = || self.catalog.get(resource).and_then(|schema| schema.timeouts.of_reads());
        option.or_else(schema).unwrap_or_else(|| provider.read_timeout(resource))
    }

    /// Asks until there is an answer that lasts, or until nobody wants to wait any more.
    pub(crate) async fn patiently<T, F>(&self, patience: Duration, ask: impl Fn() -> F) -> Result<T, Refusal>
    where
        F: Future<Output = Result<T, Refusal>>,
    {
        let answer = async {
            let mut attempts = 1;
            loop {
                match ask().await {
                    Err(refusal) if refusal.class == RefusalClass::Transient && attempts < ATTEMPTS => {
                        self.world.clock.sleep(pause(&self.world, attempts)).await;
                        attempts += 1;
                    }
                    answer => return answer,
                }
            }
        };
        tokio::select! {
            biased;
            answer = answer => answer,
            () = self.world.clock.sleep(patience) => Err(silent(patience)),
        }
    }

    /// What is really there of a recorded resource.
    pub(crate) async fn read(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        let Some(provider) = self.providers.of(&resource.ty) else {
            return Err(Refusal::new(format!("no provider serves {}", resource.ty)));
        };
        let patience = self.look_patience(None, provider, &resource.ty);
        self.patiently(patience, || provider.read(resource)).await
    }

    /// What is really there under an id, of which nothing is on record.
    pub async fn find(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Refusal> {
        let Some(provider) = self.providers.of(resource) else {
            return Err(Refusal::new("no provider serves this type"));
        };
        let patience = self.look_patience(None, provider, resource);
        self.patiently(patience, || provider.find(resource, id)).await
    }

    /// The same, with what to say about it.
    pub async fn look(&self, resource: &TypeToken, id: &PhysicalId) -> Result<Option<LiveState>, Diagnostic> {
        if self.providers.of(resource).is_none() {
            return Err(Diagnostic::error(Code::NO_PROVIDER, format!("no provider serves {resource}")));
        }
        self.find(resource, id).await.map_err(|refusal| {
            let message = format!("cannot read {resource} {id}: {}", refusal.message);
            refusal.help.into_iter().fold(Diagnostic::error(Code::CANNOT_READ, message), Diagnostic::help)
        })
    }
}

/// The provider says nothing.
pub(crate) fn silent(patience: Duration) -> Refusal {
    Refusal::new(format!("the provider did not answer within {} s", patience.as_secs()))
}

/// A recorded resource that nobody can look at.
pub(crate) fn unreadable(resource: &Resource, refusal: Refusal) -> Diagnostic {
    let message = format!("cannot read {}: {}", resource.name, refusal.message);
    let problem =
        Diagnostic::error(Code::CANNOT_READ, message).at(resource.source.clone(), 0, "declared here");
    refusal.help.into_iter().fold(problem, Diagnostic::help)
}
