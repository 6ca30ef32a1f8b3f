//! `CreateResource`.

use stead_model::Map;

use super::{Answer, typed};
use crate::service::error::ServiceError;
use crate::service::identity::{at, identifier};
use crate::service::machine::{Call, Machine};
use crate::service::progress::Accepted;
use crate::service::state::{Operation, ResourceKey};
use crate::service::values;
use crate::service::wire::DESIRED_STATE;

pub(super) fn create(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let schema = typed(machine, call)?;
    if let Some(event) = machine.replayed(call, Operation::Create)? {
        return Ok(event);
    }
    if schema.handlers.create.is_none() {
        return Err(ServiceError::unsupported(&schema.type_name, "CREATE"));
    }
    call.parameters.required(&DESIRED_STATE)?;
    let desired: Map = call.parameters.object(&DESIRED_STATE)?.unwrap_or_default();
    crate::creatable(&schema, &desired)?;
    let model = values::make(&schema, &desired, call.place, &mut machine.state.ids, call.now);
    let key = ResourceKey {
        place: call.place.of_type(&schema.type_name),
        type_name: schema.type_name.clone(),
        identifier: identifier(&schema, &model),
    };
    let identifier_known = schema.primary_identifier.iter().all(|path| at(&desired, path).is_some());
    machine.accept(call, Accepted { operation: Operation::Create, key, identifier_known, model })
}
