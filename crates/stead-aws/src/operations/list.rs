//! Lists of the resources of a type.

use async_trait::async_trait;
use futures_util::StreamExt as _;
use stead_model::{Map, PhysicalId, TypeToken, Value};
use stead_provider::{ListParent, ListScope, Listed, Listing, Refusal};
use stead_schema::cfn::list_parent_keys;
use stead_schema::{list_parent_of, token_of};

use crate::operations::PARALLEL_READS;
use crate::{AwsProvider, ServedType};

#[async_trait]
impl Listing for AwsProvider {
    fn parent(&self, resource: &TypeToken) -> ListParent {
        let Ok(served) = self.served(resource) else { return ListParent::default() };
        let keys = list_parent_keys(served.name()).iter().map(|key| (*key).to_owned()).collect();
        let of = list_parent_of(served.name());
        let of = of.and_then(|parent| Some((token_of(parent.type_name)?, parent.properties)));
        ListParent { keys, of }
    }

    async fn list(
        &self,
        resource: &TypeToken,
        scope: ListScope,
        parent: &Map,
    ) -> Result<Vec<Listed>, Refusal> {
        let served = self.served(resource)?;
        if served.schema.handlers.list.is_none() {
            return Err(Refusal::new(format!("{} cannot be listed through Cloud Control", served.name()))
                .help("look the id up in the console of AWS, and import the resource by it"));
        }
        let model = (!parent.is_empty()).then(|| Value::Map(parent.clone()).to_json());
        let listed =
            self.client.list(served.name(), model.as_deref()).await.map_err(|fault| fault.refusal())?;
        let mut ids: Vec<String> = listed.into_iter().map(|one| one.identifier).collect();
        ids.sort();
        ids.dedup();
        if scope == ListScope::All {
            return Ok(ids.into_iter().map(|id| Listed::new(PhysicalId(id))).collect());
        }
        let looks = futures_util::stream::iter(ids).map(async |id| self.unowned(&served, id).await);
        let looked: Vec<Option<Listed>> = looks.buffered(PARALLEL_READS).collect().await;
        Ok(looked.into_iter().flatten().collect())
    }
}

impl AwsProvider {
    /// Returns a resource unless it is gone or has a mark. A list has identifiers only, so that each is read.
    async fn unowned(&self, served: &ServedType<'_>, id: String) -> Option<Listed> {
        let listed = |unread| Listed { id: PhysicalId(id.clone()), unread };
        let Some(tags) = &served.tags else { return Some(listed(None)) };
        match self.get(served, &id).await {
            Ok(found) => tags.uid(&found?.model).is_none().then(|| listed(None)),
            Err(fault) => Some(listed(Some(fault.message))),
        }
    }
}
