//! Batches of a refresh: many resources of one type that a provider reads at once.
//!
//! **Invariant:** a batch never says that a resource does not exist. One that it does not tell about, or a batch that is
//! refused, leaves the resources to reads of their own.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::StreamExt as _;
use stead_model::{CopyRef, Resource, TypeToken};
use stead_provider::{LiveState, Provider, Reads};
use stead_state::State;

use crate::Engine;
use crate::gather::provider_limits::ProviderLimits;
use crate::gather::read::recordable;
use crate::secrets::locked_record;

/// Resources of a type and a provider from which on they are read in a batch.
const BATCH: usize = 10;

/// Resources that one call reads.
struct Batch<'a> {
    provider: Arc<dyn Provider>,
    resources: Vec<&'a Resource>,
}

impl Engine {
    /// Reads the resources that providers can read in batches. Returns the values that the batches have.
    pub(super) async fn read_in_batches(
        &self,
        live: &[&Resource],
        state: &State,
        limits: &ProviderLimits,
    ) -> HashMap<CopyRef, LiveState> {
        let reads = futures_util::stream::iter(self.batches(live, state)).map(|batch| async move {
            let Batch { provider, resources } = batch;
            let (Some(first), Some(batches)) = (resources.first(), provider.batch_reads()) else {
                return Vec::new();
            };
            let _permit = limits.wait(first.ty.provider()).await;
            let timeout = self.read_timeout(None, &provider, &first.ty);
            let answers = self.with_retries(timeout, || batches.read_all(&resources)).await;
            let told = resources.iter().zip(answers.unwrap_or_default());
            told.filter_map(|(resource, live)| Some((resource.copy(), recordable(resource, live?)))).collect()
        });
        reads.buffered(self.parallel).collect::<Vec<Vec<_>>>().await.into_iter().flatten().collect()
    }

    fn batches<'a>(&self, live: &[&'a Resource], state: &State) -> Vec<Batch<'a>> {
        let mut by_type: BTreeMap<&TypeToken, Vec<Batch<'a>>> = BTreeMap::new();
        let covered = |ty: &TypeToken| {
            let batches = self.providers.of(ty).and_then(|provider| provider.batch_reads());
            batches.is_some_and(|batches| batches.covers(ty))
        };
        for resource in live.iter().filter(|resource| covered(&resource.ty)) {
            let Ok(provider) = self.serving(resource, state) else { continue };
            let is_read = provider.reads(&resource.ty) == Reads::RealResource
                && resource.id.is_some()
                && locked_record(resource).is_none();
            if !is_read {
                continue;
            }
            let batches = by_type.entry(&resource.ty).or_default();
            match batches.iter_mut().find(|batch| Arc::ptr_eq(&batch.provider, &provider)) {
                Some(batch) => batch.resources.push(resource),
                None => batches.push(Batch { provider, resources: vec![resource] }),
            }
        }
        by_type.into_values().flatten().filter(|batch| batch.resources.len() >= BATCH).collect()
    }
}
