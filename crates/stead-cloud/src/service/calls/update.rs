//! `UpdateResource`: reads the model, applies the patch, and validates the whole result before anything happens.

use super::{Answer, identify, typed};
use crate::service::error::{ErrorKind, ServiceError};
use crate::service::machine::{Call, Machine};
use crate::service::progress::Accepted;
use crate::service::state::Operation;
use crate::service::wire::PATCH_DOCUMENT;

pub(super) fn update(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let schema = typed(machine, call)?;
    if let Some(event) = machine.replayed(call, Operation::Update)? {
        return Ok(event);
    }
    if schema.handlers.update.is_none() {
        return Err(ServiceError::unsupported(&schema.type_name, "UPDATE"));
    }
    let key = identify::key(machine, call, &schema)?;
    let patch = call.parameters.required(&PATCH_DOCUMENT)?;
    let patch = serde_json::from_str(patch).map_err(|_| {
        ServiceError::new(ErrorKind::InvalidRequest, "PatchDocument is not a valid JSON Patch document")
    })?;
    machine.idle(&key)?;
    let Some(stored) = machine.state.resource(&key).cloned() else {
        let token = machine.state.ids.uuid();
        return Err(ServiceError::not_found(&key.type_name, &key.identifier, &token));
    };
    let model = crate::update(&schema, &stored.model, &patch)?;
    machine.accept(call, Accepted { operation: Operation::Update, key, identifier_known: true, model })
}
