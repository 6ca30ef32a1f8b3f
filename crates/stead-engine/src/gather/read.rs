//! Reads of existing resources, with retries and a timeout.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use stead_model::{Code, Diagnostic, Map, PhysicalId, Resource, Timeouts, TypeToken, without_reserved};
use stead_provider::{LiveState, Provider, Reads, Refusal, RefusalClass, conceal_named, conceal_sent};
use stead_state::State;

use crate::Engine;
use crate::gather::retry::{MAX_ATTEMPTS, backoff};
use crate::secrets::locked_record;

/// Result of looking at a recorded resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Found(LiveState),
    /// The real resource does not exist.
    Gone,
    /// The resource exists only in state, so that its record is right.
    AsRecorded,
    /// The provider cannot look at resources of this type.
    CannotLook,
}

impl Engine {
    /// Returns how long a read may take, with all its attempts. The option of the resource comes before the schema, and the schema
    /// before the provider.
    pub(crate) fn read_timeout(
        &self,
        options: Option<&Timeouts>,
        provider: &Arc<dyn Provider>,
        ty: &TypeToken,
    ) -> Duration {
        let option = options.and_then(Timeouts::of_reads);
        let schema = || self.catalog.get(ty).and_then(|schema| schema.timeouts.of_reads());
        option.or_else(schema).unwrap_or_else(|| provider.read_timeout(ty))
    }

    /// Repeats a question as long as the provider refuses it for the moment.
    ///
    /// Fails after `timeout`, and after the last attempt.
    pub(crate) async fn with_retries<T, F>(
        &self,
        timeout: Duration,
        ask: impl Fn() -> F,
    ) -> Result<T, Refusal>
    where
        F: Future<Output = Result<T, Refusal>>,
    {
        let answer = async {
            let mut attempts = 1;
            loop {
                match ask().await {
                    Err(refusal) if refusal.class == RefusalClass::Transient && attempts < MAX_ATTEMPTS => {
                        self.world.clock.sleep(backoff(&self.world, attempts)).await;
                        attempts += 1;
                    }
                    answer => return answer,
                }
            }
        };
        tokio::select! {
            biased;
            answer = answer => answer,
            () = self.world.clock.sleep(timeout) => Err(no_answer(timeout)),
        }
    }

    /// Reads a recorded resource, if its provider can.
    pub(crate) async fn read(&self, resource: &Resource, state: &State) -> Result<Reading, Refusal> {
        let provider = &self.serving(resource, state)?;
        match provider.reads(&resource.ty) {
            Reads::RealResource => {}
            Reads::StateOnly => return Ok(Reading::AsRecorded),
            Reads::Nothing => return Ok(Reading::CannotLook),
        }
        let timeout = self.read_timeout(None, provider, &resource.ty);
        if let Some(locked) = locked_record(resource) {
            return Err(Refusal::new(locked));
        }
        let found = self.with_retries(timeout, || provider.read(resource)).await?;
        Ok(found.map(|live| recordable(resource, live)).map_or(Reading::Gone, Reading::Found))
    }

    /// Reads a recorded resource after an update that may have taken effect. Secrets of the update are marked, although the record
    /// has none of them yet.
    pub(crate) async fn read_after(
        &self,
        old: &Resource,
        sent: &Resource,
        state: &State,
    ) -> Result<Reading, Refusal> {
        // A secret that does not open could not be recognised.
        if let Some(locked) = locked_record(sent) {
            return Err(Refusal::new(locked));
        }
        Ok(match self.read(old, state).await? {
            Reading::Found(live) => {
                let LiveState { inputs, outputs } = conceal_sent(live, &sent.inputs);
                Reading::Found(LiveState { inputs, outputs: conceal_named(&sent.sensitive, outputs) })
            }
            other => other,
        })
    }

    /// Reads a resource by type and physical id, with no need for a record. Returns `None` if it does not exist.
    ///
    /// `settings` belong to a provider resource; without them the default provider reads.
    pub async fn find(
        &self,
        ty: &TypeToken,
        id: &PhysicalId,
        settings: Option<&Map>,
    ) -> Result<Option<LiveState>, Refusal> {
        let provider = &self.provider_with(ty, settings)?;
        let timeout = self.read_timeout(None, provider, ty);
        self.with_retries(timeout, || provider.find(ty, id)).await
    }

    /// Reads a resource like [`find`](Engine::find), and describes a refusal.
    pub async fn read_existing(
        &self,
        ty: &TypeToken,
        id: &PhysicalId,
    ) -> Result<Option<LiveState>, Diagnostic> {
        let Some(provider) = self.providers.of(ty) else {
            return Err(Diagnostic::error(Code::NO_PROVIDER, format!("no provider serves {ty}")));
        };
        self.read_existing_of(provider, ty, id).await
    }

    /// Reads a resource of a provider by type and physical id, and describes a refusal.
    pub(crate) async fn read_existing_of(
        &self,
        provider: &Arc<dyn Provider>,
        ty: &TypeToken,
        id: &PhysicalId,
    ) -> Result<Option<LiveState>, Diagnostic> {
        let timeout = self.read_timeout(None, provider, ty);
        self.with_retries(timeout, || provider.find(ty, id)).await.map_err(|refusal| {
            let message = format!("cannot read {ty} {id}: {}", refusal.message);
            refusal.help.into_iter().fold(Diagnostic::error(Code::CANNOT_READ, message), Diagnostic::help)
        })
    }
}

/// Marks the sensitive outputs of a resource that was read, and replaces objects that would be read as secrets by their text.
pub(super) fn recordable(resource: &Resource, live: LiveState) -> LiveState {
    let outputs = conceal_named(&resource.sensitive, live.outputs);
    LiveState { inputs: without_reserved(live.inputs), outputs: without_reserved(outputs) }
}

/// Refusal in place of an answer that did not come in time.
pub(crate) fn no_answer(timeout: Duration) -> Refusal {
    Refusal::new(format!("the provider did not answer within {} s", timeout.as_secs()))
}

/// Describes a recorded resource that cannot be read.
pub(crate) fn unreadable(resource: &Resource, refusal: Refusal) -> Diagnostic {
    let message = format!("cannot read {}: {}", resource.name, refusal.message);
    let problem =
        Diagnostic::error(Code::CANNOT_READ, message).at(resource.source.clone(), 0, "declared here");
    refusal.help.into_iter().fold(problem, Diagnostic::help)
}
