//! The eight calls of Cloud Control.

mod create;
mod delete;
mod get;
mod identify;
mod list;
mod requests;
mod update;

use std::sync::Arc;

use stead_model::Value;
use stead_schema::cfn::Schema;

use super::error::{ErrorKind, ServiceError};
use super::machine::{Call, Machine};
use super::wire::TYPE_NAME;

/// Result of a call: the body of the answer.
pub(crate) type Answer = Result<Value, ServiceError>;
pub(crate) type Function = fn(&mut Machine, &Call<'_>) -> Answer;

/// Returns the call with this name.
pub(crate) fn named(name: &str) -> Option<Function> {
    Some(match name {
        "CreateResource" => create::create,
        "GetResource" => get::get,
        "UpdateResource" => update::update,
        "DeleteResource" => delete::delete,
        "ListResources" => list::list,
        "GetResourceRequestStatus" => requests::status,
        "ListResourceRequests" => requests::list,
        "CancelResourceRequest" => requests::cancel,
        _ => return None,
    })
}

/// Returns the type that a call names.
fn typed(machine: &mut Machine, call: &Call<'_>) -> Result<Arc<Schema>, ServiceError> {
    let type_name = call.parameters.required(&TYPE_NAME)?;
    machine.schema(type_name).ok_or_else(|| {
        ServiceError::new(ErrorKind::TypeNotFound, format!("The type '{type_name}' cannot be found."))
    })
}
