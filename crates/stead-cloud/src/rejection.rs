//! Why the service turned a request down, in its words.

/// A request that changed nothing. The texts are the service's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// An operation of the patch document that cannot be carried out.
    #[error("ValidationException: {0}")]
    Patch(String),
    /// The model that would result is not one of this type.
    #[error("ValidationException: Model validation failed ({0})")]
    Model(String),
    #[error("ValidationException: Invalid patch update: readOnlyProperties [{}] cannot be updated", .0.join(", "))]
    ReadOnly(Vec<String>),
    /// A value for a read-only property, in a request to create.
    #[error("ValidationException: Encountered unsupported property {0}")]
    Unsupported(String),
    #[error("NotUpdatableException: Invalid patch update: createOnlyProperties [{}] cannot be updated", .0.join(", "))]
    CreateOnly(Vec<String>),
    #[error("UnsupportedActionException: Resource type {type_name} does not support {action} action")]
    Action { type_name: String, action: &'static str },
}
