//! `local.Data`: holds a value. Nothing outside the record exists, so nothing is ever waited for.

use async_trait::async_trait;
use stead_model::{Map, PhysicalId, Resource};
use stead_provider::{Created, Live, Receipt, Refusal, Updated};
use stead_schema::{Access, Property, Shape, TypeSchema};

use crate::failure::Attempt;
use crate::kind::Kind;
use crate::machine::Machine;

pub(crate) struct Data;

#[async_trait]
impl Kind for Data {
    fn schema(&self) -> TypeSchema {
        TypeSchema::new(
            "local.Data",
            "Holds a value. It changes nothing and costs nothing.",
            vec![
                Property::new("value", Shape::Any, Access::Required, "What it holds."),
                Property::new("output", Shape::Any, Access::ReadOnly, "The same value, known after apply."),
            ],
        )
    }

    async fn read(&self, _machine: &Machine, recorded: &Live) -> Result<Option<Live>, Refusal> {
        Ok(Some(recorded.clone()))
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
