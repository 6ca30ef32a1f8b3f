//! Batch reads: lists that tell as much as reads.
//!
//! Cloud Control promises only the identifiers of a list. They are all that there is to know about a type without other
//! properties. **Invariant:** a resource that a list lacks, or whose properties it leaves out, is not told about.

use std::collections::BTreeMap;

use async_trait::async_trait;
use stead_model::{Resource, TypeToken};
use stead_provider::{BatchReads, LiveState, Refusal};
use stead_schema::cfn::list_parent_keys;

use crate::comparison::inputs_of_live;
use crate::model::parse;
use crate::operations::Found;
use crate::{AwsProvider, ServedType};

#[async_trait]
impl BatchReads for AwsProvider {
    fn covers(&self, resource: &TypeToken) -> bool {
        self.served(resource).is_ok_and(|served| is_told_by_a_list(&served))
    }

    async fn read_all(&self, resources: &[&Resource]) -> Result<Vec<Option<LiveState>>, Refusal> {
        let Some(first) = resources.first() else { return Ok(Vec::new()) };
        let served = self.served(&first.ty)?;
        let listed = self.client.list(served.name(), None).await.map_err(|fault| fault.refusal())?;
        let mut found = BTreeMap::new();
        for one in listed {
            // A model that is no JSON tells nothing; the read of the resource says so.
            if let Ok(model) = parse(&one.properties) {
                found.insert(one.identifier, model);
            }
        }
        let live = |resource: &&Resource| {
            let identifier = resource.id.as_ref()?.as_str();
            let model = found.get(identifier)?;
            if !served.schema.properties().all(|(name, _)| model.contains_key(name)) {
                return None;
            }
            let outputs = Found { identifier: identifier.to_owned(), model: model.clone() }.outputs(&served);
            let inputs = inputs_of_live(served.schema, &resource.inputs, &resource.outputs, &outputs);
            Some(LiveState { inputs, outputs })
        };
        Ok(resources.iter().map(live).collect())
    }
}

/// Returns true for a type that has no properties besides its identifier, and is listed without a parent.
fn is_told_by_a_list(served: &ServedType<'_>) -> bool {
    let schema = served.schema;
    let is_part = |name: &str| schema.primary_identifier.iter().any(|path| path.root() == Some(name));
    schema.handlers.list.is_some()
        && list_parent_keys(served.name()).is_empty()
        && schema.primary_identifier.iter().all(|path| path.0.len() == 1)
        && schema.properties().all(|(name, _)| is_part(name))
}
