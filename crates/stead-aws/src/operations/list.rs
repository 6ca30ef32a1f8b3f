//! Lists of the resources of a type.

use async_trait::async_trait;
use stead_model::{Map, PhysicalId, TypeToken, Value};
use stead_provider::{ListParent, ListScope, Listing, Refusal};
use stead_schema::cfn::list_parent_keys;
use stead_schema::{list_parent_of, token_of};

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
    ) -> Result<Vec<PhysicalId>, Refusal> {
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
        let mut kept = Vec::with_capacity(ids.len());
        for id in ids {
            if scope == ListScope::All || self.is_unowned(&served, &id).await? {
                kept.push(PhysicalId(id));
            }
        }
        Ok(kept)
    }
}

impl AwsProvider {
    /// Returns true for a resource that exists and has no mark. A list has identifiers only, so that each is read.
    async fn is_unowned(&self, served: &ServedType<'_>, id: &str) -> Result<bool, Refusal> {
        let Some(tags) = &served.tags else { return Ok(true) };
        let found = self.get(served, id).await.map_err(|fault| fault.refusal())?;
        Ok(found.is_some_and(|found| tags.uid(&found.model).is_none()))
    }
}
