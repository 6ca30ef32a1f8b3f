//! Listing behind the veil: ids are no secrets, and no refusal and no reason shows a known secret.

use async_trait::async_trait;
use stead_model::{Map, TypeToken};

use super::Veil;
use crate::{ListParent, ListScope, Listed, Listing, Provider, Refusal};

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
    ) -> Result<Vec<Listed>, Refusal> {
        let Some(inner) = self.inner.listing() else {
            return Err(Refusal::new(format!("the provider `{}` lists no resources", self.name())));
        };
        let _under_way = self.reads.begin(1);
        let listed = inner.list(resource, scope, parent).await;
        let listed = listed.map_err(|refusal| self.known.refusal(refusal))?;
        let shown = |one: Listed| Listed {
            unread: one.unread.map(|reason| self.known.text(&reason).into_owned()),
            ..one
        };
        Ok(listed.into_iter().map(shown).collect())
    }
}
