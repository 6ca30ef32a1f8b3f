//! Resources by identifier: the text of the primary identifier, or a JSON object of identifying properties.

use stead_model::{Map, Value};
use stead_schema::cfn::Schema;

use crate::service::error::ServiceError;
use crate::service::identity::{at, joined, part_name};
use crate::service::machine::{Call, Machine};
use crate::service::state::ResourceKey;
use crate::service::wire::IDENTIFIER;

/// Returns the key of the resource that a call names, whether or not the resource exists.
pub(super) fn key(machine: &Machine, call: &Call<'_>, schema: &Schema) -> Result<ResourceKey, ServiceError> {
    let text = call.parameters.required(&IDENTIFIER)?;
    let key = |identifier: String| ResourceKey {
        place: call.place.of_type(&schema.type_name),
        type_name: schema.type_name.clone(),
        identifier,
    };
    if machine.state.resource(&key(text.to_owned())).is_some() {
        return Ok(key(text.to_owned()));
    }
    let Ok(Value::Map(parts)) = serde_json::from_str::<Value>(text) else { return Ok(key(text.to_owned())) };
    let primary: Option<Vec<String>> =
        schema.primary_identifier.iter().map(|path| plain(parts.get(part_name(path).as_str())?)).collect();
    if let Some(primary) = primary {
        return Ok(key(joined(&primary)));
    }
    let found = machine
        .state
        .of_type(call.place, &schema.type_name)
        .find(|(_, stored)| is_additional(schema, &stored.model, &parts));
    Ok(found.map_or_else(|| key(text.to_owned()), |(found, _)| found.clone()))
}

/// Returns true if the parts are one of the additional identifiers of a resource.
fn is_additional(schema: &Schema, model: &Map, parts: &Map) -> bool {
    let matches = |paths: &Vec<stead_model::PropertyPath>| {
        paths.len() == parts.len()
            && paths.iter().all(|path| {
                let given = parts.get(part_name(path).as_str());
                given.is_some() && given == at(model, path)
            })
    };
    schema.additional_identifiers.iter().any(matches)
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
