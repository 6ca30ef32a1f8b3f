//! `ListResources`: pages of identifiers. A resource model limits the list to resources with the same values.

use stead_model::{Map, Value};
use stead_schema::cfn::{Schema, list_parent_keys};

use super::{Answer, typed};
use crate::service::error::{ErrorKind, ServiceError};
use crate::service::identity::at;
use crate::service::machine::{Call, Machine};
use crate::service::settings::ListedModels;
use crate::service::state::ResourceKey;
use crate::service::wire::{NEXT_TOKEN, RESOURCE_MODEL, object, text};

/// Size of a page if the call does not give one.
const PAGE: usize = 100;

pub(super) fn list(machine: &mut Machine, call: &Call<'_>) -> Answer {
    let schema = typed(machine, call)?;
    if schema.handlers.list.is_none() {
        return Err(ServiceError::unsupported(&schema.type_name, "LIST"));
    }
    let size = call.parameters.max_results(PAGE)?;
    let wanted = call.parameters.object(&RESOURCE_MODEL)?.unwrap_or_default();
    for name in list_parent_keys(&schema.type_name) {
        if !wanted.contains_key(*name) {
            return Err(missing(&schema.type_name, name));
        }
    }
    let after = match call.parameters.optional(&NEXT_TOKEN)? {
        Some(token) => Some(
            decoded(token)
                .ok_or_else(|| ServiceError::new(ErrorKind::InvalidRequest, "The NextToken is not valid."))?,
        ),
        None => None,
    };
    let keys: Vec<ResourceKey> = machine
        .state
        .of_type(call.place, &schema.type_name)
        .filter(|(key, _)| after.as_ref().is_none_or(|after| key.identifier > *after))
        .map(|(key, _)| key.clone())
        .collect();
    let (mut found, mut next) = (Vec::new(), None);
    for key in keys {
        let Some(model) = machine.seen(&key, call.now) else { continue };
        if wanted.iter().any(|(name, value)| model.get(name.as_str()).is_some_and(|found| found != value)) {
            continue;
        }
        if found.len() == size {
            next = found.last().map(|(identifier, _): &(String, Map)| encoded(identifier));
            break;
        }
        found.push((key.identifier, model));
    }
    let whole = machine.settings.list;
    let described = found.into_iter().map(|(identifier, model)| {
        let properties = Value::Map(listed(&schema, &model, whole)).to_json();
        object([("Identifier", text(identifier)), ("Properties", text(properties))])
    });
    let described: Vec<Value> = described.collect();
    Ok(object([
        ("TypeName", text(&*schema.type_name)),
        ("ResourceDescriptions", Some(Value::from(described))),
        ("NextToken", next.and_then(text)),
    ]))
}

/// Returns the properties of a resource in a list.
fn listed(schema: &Schema, model: &Map, models: ListedModels) -> Map {
    match models {
        ListedModels::Whole => crate::read(schema, model),
        ListedModels::Identifiers => {
            let parts = schema.primary_identifier.iter().filter(|path| path.0.len() == 1);
            parts
                .filter_map(|path| {
                    let value = at(model, path)?.clone();
                    Some((crate::service::identity::part_name(path), value))
                })
                .collect()
        }
    }
}

fn missing(type_name: &str, name: &str) -> ServiceError {
    let message = format!(
        "Missing or invalid ResourceModel property in {type_name} list handler request input.Required property: \
         (#: required key [{name}] not found)"
    );
    ServiceError::new(ErrorKind::InvalidRequest, message)
}

/// A token of the next page is the last identifier in hexadecimal digits.
fn encoded(identifier: &str) -> String {
    stead_model::hex(identifier.as_bytes())
}

fn decoded(token: &str) -> Option<String> {
    String::from_utf8(stead_model::from_hex(token)?).ok()
}
