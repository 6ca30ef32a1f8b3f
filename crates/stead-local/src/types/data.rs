//! `local.Data`: a value that exists only in state.

use async_trait::async_trait;
use stead_model::{Map, PhysicalId, Resource};
use stead_provider::{Created, Reads, Receipt, Updated};
use stead_schema::{Access, Property, Shape, TypeSchema};

use crate::failure::Attempt;
use crate::machine::Machine;
use crate::types::ResourceType;

pub(crate) struct Data;

#[async_trait]
impl ResourceType for Data {
    fn schema(&self) -> TypeSchema {
        TypeSchema::new(
            "local.Data",
            "A value that is recorded in state. It has no counterpart outside.",
            vec![
                Property::new("value", Shape::Any, Access::Required, "The value."),
                Property::new("output", Shape::Any, Access::ReadOnly, "The same value, known after apply."),
            ],
        )
    }

    fn reads(&self) -> Reads {
        Reads::StateOnly
    }

    async fn create(&self, _machine: &Machine, receipt: &Receipt, inputs: &Map) -> Attempt<Created> {
        let id = PhysicalId(receipt.idempotency_key().to_owned());
        Ok(Created { id, outputs: outputs(inputs) })
    }

    async fn update(
        &self,
        _machine: &Machine,
        _receipt: &Receipt,
        resource: &Resource,
        _old_inputs: &Map,
    ) -> Attempt<Updated> {
        Ok(Updated { outputs: outputs(&resource.inputs) })
    }

    async fn delete(&self, _machine: &Machine, _receipt: &Receipt, _resource: &Resource) -> Attempt<()> {
        Ok(())
    }
}

fn outputs(inputs: &Map) -> Map {
    inputs.get("value").map(|value| ("output".to_owned(), value.clone())).into_iter().collect()
}
