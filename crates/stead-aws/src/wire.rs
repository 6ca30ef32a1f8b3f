//! Requests and answers of Cloud Control, in its JSON.
//!
//! **Invariant:** no type here has debug output, because models and patches contain values.

use serde::{Deserialize, Serialize};

/// Name of the service in signatures and host names.
pub(crate) const SERVICE: &str = "cloudcontrolapi";

/// Prefix of the header `X-Amz-Target`.
pub(crate) const TARGET: &str = "CloudApiService";

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct CreateResource<'a> {
    pub(crate) type_name: &'a str,
    pub(crate) desired_state: &'a str,
    pub(crate) client_token: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct UpdateResource<'a> {
    pub(crate) type_name: &'a str,
    pub(crate) identifier: &'a str,
    pub(crate) patch_document: &'a str,
    pub(crate) client_token: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct DeleteResource<'a> {
    pub(crate) type_name: &'a str,
    pub(crate) identifier: &'a str,
    pub(crate) client_token: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct GetResource<'a> {
    pub(crate) type_name: &'a str,
    pub(crate) identifier: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ListResources<'a> {
    pub(crate) type_name: &'a str,
    pub(crate) max_results: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_token: Option<&'a str>,
    /// Identifiers of the parent, for types that are listed under one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_model: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct GetResourceRequestStatus<'a> {
    pub(crate) request_token: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Started {
    pub(crate) progress_event: ProgressEvent,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Status {
    pub(crate) progress_event: ProgressEvent,
    #[serde(default)]
    pub(crate) hooks_progress_event: Vec<HookEvent>,
}

/// Progress of an operation.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ProgressEvent {
    #[serde(default)]
    pub(crate) identifier: Option<String>,
    #[serde(default)]
    pub(crate) request_token: String,
    /// Set if the account has hooks for the operation.
    #[serde(default)]
    pub(crate) hooks_request_token: Option<String>,
    pub(crate) operation_status: OperationStatus,
    #[serde(default)]
    pub(crate) status_message: Option<String>,
    #[serde(default)]
    pub(crate) error_code: Option<String>,
    /// Time at which the service wants to be asked again, in seconds since 1970.
    #[serde(default)]
    pub(crate) retry_after: Option<f64>,
    /// The model as JSON; often only a part of it.
    #[serde(default)]
    pub(crate) resource_model: Option<String>,
}

impl ProgressEvent {
    pub(crate) fn has_ended(&self) -> bool {
        use OperationStatus::{CancelComplete, Failed, Success};
        matches!(self.operation_status, Success | Failed | CancelComplete)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum OperationStatus {
    Pending,
    InProgress,
    Success,
    Failed,
    CancelInProgress,
    CancelComplete,
}

/// Result of a hook that an account runs before or after operations.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct HookEvent {
    #[serde(default)]
    pub(crate) hook_type_name: String,
    #[serde(default)]
    pub(crate) hook_status: String,
    #[serde(default)]
    pub(crate) hook_status_message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Described {
    pub(crate) resource_description: ResourceDescription,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Listed {
    #[serde(default)]
    pub(crate) resource_descriptions: Vec<ResourceDescription>,
    #[serde(default)]
    pub(crate) next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ResourceDescription {
    #[serde(default)]
    pub(crate) identifier: String,
    /// The model as JSON.
    #[serde(default)]
    pub(crate) properties: String,
}
