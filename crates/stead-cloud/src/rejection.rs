//! Reasons why the service rejects a request, in the service's words.

/// Rejected request, which changed nothing. The messages are the service's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// An operation of the patch document failed.
    #[error("ValidationException: {0}")]
    Patch(String),
    /// The resulting model violates the schema of its type.
    #[error("ValidationException: Model validation failed ({0})")]
    Model(String),
    #[error("ValidationException: Invalid patch update: readOnlyProperties [{}] cannot be updated", .0.join(", "))]
    ReadOnly(Vec<String>),
    /// A create request sets a read-only property.
    #[error("ValidationException: Encountered unsupported property {0}")]
    Unsupported(String),
    #[error("NotUpdatableException: Invalid patch update: createOnlyProperties [{}] cannot be updated", .0.join(", "))]
    CreateOnly(Vec<String>),
    #[error("UnsupportedActionException: Resource type {type_name} does not support {action} action")]
    Action { type_name: String, action: &'static str },
}
