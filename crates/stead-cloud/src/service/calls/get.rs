//! `GetResource`.

use stead_model::Value;

use super::{Answer, identify, typed};
use crate::service::error::ServiceError;
use crate::service::machine::{Call, Machine};
use crate::service::wire::{object, text};

pub(super) fn get(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let schema = typed(machine, call)?;
    if schema.handlers.read.is_none() {
        return Err(ServiceError::unsupported(&schema.type_name, "READ"));
    }
    let key = identify::key(machine, call, &schema)?;
    let Some(model) = machine.seen(&key, call.now) else {
        let token = machine.state.ids.uuid();
        return Err(ServiceError::not_found(&key.type_name, &key.identifier, &token));
    };
    let properties = Value::Map(crate::read(&schema, &model)).to_json();
    let description = object([("Identifier", text(key.identifier)), ("Properties", text(properties))]);
    Ok(object([("TypeName", text(key.type_name)), ("ResourceDescription", Some(description))]))
}
