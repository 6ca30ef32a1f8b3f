//! Listing behind the veil: a list has ids only, which are no secrets, and no refusal shows a known secret.

use async_trait::async_trait;
use stead_model::{PhysicalId, TypeToken};

use super::Veil;
use crate::{ListScope, Listing, Provider, Refusal};

#[async_trait]
impl Listing for Veil {
    async fn list(&self, resource: &TypeToken, scope: ListScope) -> Result<Vec<PhysicalId>, Refusal> {
        let Some(inner) = self.inner.listing() else {
            return Err(Refusal::new(format!("the provider `{}` lists no resources", self.name())));
        };
        inner.list(resource, scope).await.map_err(|refusal| self.known.refusal(refusal))
    }
}
