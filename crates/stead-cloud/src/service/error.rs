//! Errors of the service, with the names, status codes and words of the wire protocol.

use crate::Rejection;

/// Error that ends a call. The call changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", kind.name())]
pub struct ServiceError {
    pub kind: ErrorKind,
    pub message: String,
}

macro_rules! kinds {
    ($($kind:ident $name:literal $status:literal,)*) => {
        /// Kind of a service error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorKind { $($kind,)* }

        impl ErrorKind {
            /// Returns the name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(ErrorKind::$kind => $name,)* }
            }

            /// Returns the HTTP status.
            pub fn status(self) -> u16 {
                match self { $(ErrorKind::$kind => $status,)* }
            }

            /// Returns the kind with this name.
            pub fn named(name: &str) -> Option<ErrorKind> {
                match name { $($name => Some(ErrorKind::$kind),)* _ => None }
            }
        }
    };
}

kinds! {
    AlreadyExists "AlreadyExistsException" 400,
    ClientTokenConflict "ClientTokenConflictException" 400,
    ConcurrentModification "ConcurrentModificationException" 500,
    ConcurrentOperation "ConcurrentOperationException" 400,
    InvalidRequest "InvalidRequestException" 400,
    NotUpdatable "NotUpdatableException" 400,
    RequestTokenNotFound "RequestTokenNotFoundException" 400,
    ResourceNotFound "ResourceNotFoundException" 400,
    ServiceInternalError "ServiceInternalErrorException" 500,
    Throttling "ThrottlingException" 400,
    TypeNotFound "TypeNotFoundException" 400,
    UnsupportedAction "UnsupportedActionException" 400,
    Validation "ValidationException" 400,
    AccessDenied "AccessDeniedException" 400,
    ExpiredToken "ExpiredTokenException" 400,
    IncompleteSignature "IncompleteSignatureException" 400,
    MissingAuthenticationToken "MissingAuthenticationTokenException" 403,
    InternalFailure "InternalFailure" 500,
    ServiceUnavailable "ServiceUnavailableException" 503,
    UnknownOperation "UnknownOperationException" 404,
    Serialization "SerializationException" 400,
    ResourceAlreadyExists "ResourceAlreadyExistsException" 400,
    InvalidParameter "InvalidParameterException" 400,
    InvalidParameterValue "InvalidParameterValueException" 400,
}

impl ServiceError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> ServiceError {
        ServiceError { kind, message: message.into() }
    }

    /// Returns the error of a resource that does not exist.
    pub(crate) fn not_found(type_name: &str, identifier: &str, token: &str) -> ServiceError {
        let what = format!("Resource of type '{type_name}' with identifier '{identifier}' was not found.");
        ServiceError::new(
            ErrorKind::ResourceNotFound,
            format!(
                "{type_name} Handler returned status FAILED: {what} (HandlerErrorCode: NotFound, RequestToken: {token})"
            ),
        )
    }

    /// Returns the error of a type without a handler.
    pub(crate) fn unsupported(type_name: &str, action: &str) -> ServiceError {
        let message = format!("Resource type {type_name} does not support {action} action");
        ServiceError::new(ErrorKind::UnsupportedAction, message)
    }
}

impl From<Rejection> for ServiceError {
    /// The text of a rejection starts with the name of its error.
    fn from(rejection: Rejection) -> ServiceError {
        let text = rejection.to_string();
        let named =
            text.split_once(": ").and_then(|(name, rest)| Some((ErrorKind::named(name)?, rest.to_owned())));
        let (kind, message) = named.unwrap_or((ErrorKind::Validation, text));
        ServiceError { kind, message }
    }
}

/// Code of a failed operation, in its progress event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum HandlerError {
    NotUpdatable,
    InvalidRequest,
    AccessDenied,
    UnauthorizedTaggingOperation,
    InvalidCredentials,
    AlreadyExists,
    NotFound,
    ResourceConflict,
    Throttling,
    ServiceLimitExceeded,
    NotStabilized,
    GeneralServiceException,
    ServiceInternalError,
    ServiceTimeout,
    NetworkFailure,
    InternalFailure,
}

impl HandlerError {
    /// Returns the name on the wire.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}
