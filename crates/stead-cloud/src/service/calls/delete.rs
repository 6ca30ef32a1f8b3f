//! `DeleteResource`. A resource that does not exist is found out by the handler, so the operation fails later.

use stead_model::Map;

use super::{Answer, identify, typed};
use crate::service::error::ServiceError;
use crate::service::machine::{Call, Machine};
use crate::service::progress::Accepted;
use crate::service::state::Operation;

pub(super) fn delete(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let schema = typed(machine, call)?;
    if let Some(event) = machine.replayed(call, Operation::Delete)? {
        return Ok(event);
    }
    if schema.handlers.delete.is_none() {
        return Err(ServiceError::unsupported(&schema.type_name, "DELETE"));
    }
    let key = identify::key(machine, call, &schema)?;
    machine.idle(&key)?;
    let accepted = Accepted { operation: Operation::Delete, key, identifier_known: true, model: Map::new() };
    machine.accept(call, accepted)
}
