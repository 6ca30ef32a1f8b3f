//! Reads: of records, and of resources without one.

use stead_model::{PhysicalId, Resource, TypeToken};
use stead_provider::{LiveState, Refusal};
use stead_schema::cfn::settable;

use crate::AwsProvider;
use crate::comparison::inputs_of_live;

impl AwsProvider {
    pub(crate) async fn read_recorded(&self, resource: &Resource) -> Result<Option<LiveState>, Refusal> {
        let served = self.served(&resource.ty)?;
        let Some(id) = &resource.id else { return Ok(None) };
        let found = self.read_or_deleted(&served, id.as_str()).await.map_err(|fault| fault.refusal())?;
        Ok(found.map(|found| {
            let outputs = found.outputs(&served);
            let inputs = inputs_of_live(served.schema, &resource.inputs, &resource.outputs, &outputs);
            LiveState { inputs, outputs }
        }))
    }

    pub(crate) async fn find_by_id(
        &self,
        token: &TypeToken,
        id: &PhysicalId,
    ) -> Result<Option<LiveState>, Refusal> {
        let served = self.served(token)?;
        if let Some(reason) = served.unmanageable() {
            return Err(Refusal::new(reason));
        }
        let found = self.get(&served, id.as_str()).await.map_err(|fault| fault.refusal())?;
        Ok(found.map(|found| {
            let outputs = found.outputs(&served);
            LiveState { inputs: settable(served.schema, &outputs), outputs }
        }))
    }
}
