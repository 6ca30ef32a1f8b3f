//! Listing behind the veil: a list has ids only, which are no secrets, and no refusal shows a known secret.

use async_trait::async_trait;
use stead_model::{Map, PhysicalId, TypeToken};

use super::Veil;
use crate::{ListParent, ListScope, Listing, Provider, Refusal};

#[async_trait]
impl Listing for Veil {
    fn parent(&self, resource: &TypeToken) -> ListParent {
        self.inner.listing().map(|inner| inner.parent(resource)).unwrap_or_default()
    }

    async fn list(
        &self,
        resource: &TypeToken,
        scope: ListScope,
        parent: &Map,
    ) -> Result<Vec<PhysicalId>, Refusal> {
        let Some(inner) = self.inner.listing() else {
            return Err(Refusal::new(format!("the provider `{}` lists no resources", self.name())));
        };
        let _under_way = self.reads.begin(1);
        inner.list(resource, scope, parent).await.map_err(|refusal| self.known.refusal(refusal))
    }
}
