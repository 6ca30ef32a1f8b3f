//! Faults: reasons why a request or an operation did not succeed, in classes for the reaction of stead.

use stead_aws_auth::{CallError, CredentialsErrorClass, ServiceError, ServiceErrorClass};
use stead_provider::Refusal;
use stead_world::Effect;

/// Kind of a fault, which decides how a call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The resource does not exist.
    NotFound,
    AlreadyExists,
    /// The caller may not do this. It does not tell whether the resource exists.
    Denied,
    /// The service, or a service behind it, asks for patience.
    Throttled,
    /// Another operation on the same resource is under way, or the resource is in use.
    Conflict,
    /// The service failed for the moment.
    Unavailable,
    /// An operation with this client token and other parameters exists.
    TokenConflict,
    /// The service does not know the request token.
    UnknownRequest,
    /// A property cannot be changed in place.
    NotUpdatable,
    /// The operation made the resource, which did not become ready.
    NotStabilized,
    /// Every other refusal: the same request is refused again.
    Final,
}

/// A fault with the words of the service.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// Whether the request can have had an effect.
    pub(crate) effect: Effect,
}

impl Fault {
    /// Returns the fault of a request without a good answer.
    pub(crate) fn of_call(error: &CallError, effect: Effect) -> Fault {
        let (kind, help) = match error {
            CallError::Service(error) => (kind_of_error(error), None),
            CallError::Http(_) => (FaultKind::Unavailable, None),
            CallError::Credentials(error) => {
                let kind = match error.class() {
                    CredentialsErrorClass::Unavailable => FaultKind::Unavailable,
                    CredentialsErrorClass::NotConfigured | CredentialsErrorClass::Denied => FaultKind::Final,
                };
                (kind, error.hint().map(str::to_owned))
            }
        };
        Fault { kind, message: error.to_string(), help, effect }
    }

    /// Returns the fault of an operation that the service carried out and that failed.
    pub(crate) fn of_operation(code: Option<&str>, message: Option<&str>) -> Fault {
        let code = code.unwrap_or("GeneralServiceException");
        let message = match message.filter(|message| !message.is_empty()) {
            Some(message) => format!("{code}: {message}"),
            None => code.to_owned(),
        };
        Fault { kind: kind_of(code), message, help: None, effect: Effect::None }
    }

    /// Returns the fault of an answer that stead cannot read.
    pub(crate) fn unreadable(operation: &str, reason: &str) -> Fault {
        let message = format!("the answer to {operation} cannot be read: {reason}");
        Fault { kind: FaultKind::Final, message, help: None, effect: Effect::Unknown }
    }

    /// Returns true if the same request may succeed a moment later.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self.kind, FaultKind::Throttled | FaultKind::Conflict | FaultKind::Unavailable)
    }

    pub(crate) fn refusal(&self) -> Refusal {
        let refusal = match self.is_transient() {
            true => Refusal::transient(&self.message),
            false => Refusal::new(&self.message),
        };
        match (&self.help, self.kind) {
            (Some(help), _) => refusal.help(help.clone()),
            (None, FaultKind::Denied) => match missing_action(&self.message) {
                Some(action) => refusal.help(format!("allow the action `{action}` to the caller")),
                None => refusal,
            },
            (None, _) => refusal,
        }
    }
}

fn kind_of_error(error: &ServiceError) -> FaultKind {
    match (kind_of(&error.code), error.class()) {
        (FaultKind::Final, ServiceErrorClass::Throttled) => FaultKind::Throttled,
        (FaultKind::Final, ServiceErrorClass::Transient) => FaultKind::Unavailable,
        (FaultKind::Final, ServiceErrorClass::Denied | ServiceErrorClass::Expired) => FaultKind::Denied,
        (kind, _) => kind,
    }
}

/// Returns the kind of an error code: `NotFound` of an operation, `ResourceNotFoundException` of a request.
fn kind_of(code: &str) -> FaultKind {
    match code.strip_suffix("Exception").unwrap_or(code) {
        "NotFound" | "ResourceNotFound" => FaultKind::NotFound,
        "AlreadyExists" => FaultKind::AlreadyExists,
        "NotStabilized" => FaultKind::NotStabilized,
        "AccessDenied" | "InvalidCredentials" | "UnauthorizedTaggingOperation" => FaultKind::Denied,
        "Throttling" => FaultKind::Throttled,
        "ConcurrentOperation" | "ConcurrentModification" | "ResourceConflict" => FaultKind::Conflict,
        "ServiceInternalError" | "NetworkFailure" => FaultKind::Unavailable,
        "ClientTokenConflict" => FaultKind::TokenConflict,
        "RequestTokenNotFound" => FaultKind::UnknownRequest,
        "NotUpdatable" => FaultKind::NotUpdatable,
        _ => FaultKind::Final,
    }
}

/// Returns the action that a message of AWS says is not allowed, such as `s3:CreateBucket`.
pub(crate) fn missing_action(message: &str) -> Option<&str> {
    let after = ["not authorized to perform: ", "not authorized to perform "]
        .iter()
        .find_map(|words| message.split_once(words))
        .map(|(_, after)| after)?;
    let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '*')));
    let action = after[..end.unwrap_or(after.len())].trim_end_matches(':');
    action.contains(':').then_some(action)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(status: u16, code: &str) -> Fault {
        let error = ServiceError { status, code: code.to_owned(), message: "m".to_owned() };
        Fault::of_call(&CallError::Service(error), Effect::None)
    }

    #[test]
    fn codes_of_requests_and_of_operations_have_the_same_kinds() {
        for (request, operation, kind) in [
            ("ResourceNotFoundException", "NotFound", FaultKind::NotFound),
            ("AlreadyExistsException", "AlreadyExists", FaultKind::AlreadyExists),
            ("AccessDeniedException", "AccessDenied", FaultKind::Denied),
            ("ThrottlingException", "Throttling", FaultKind::Throttled),
            ("ConcurrentOperationException", "ResourceConflict", FaultKind::Conflict),
            ("ServiceInternalErrorException", "ServiceInternalError", FaultKind::Unavailable),
            ("NetworkFailureException", "NetworkFailure", FaultKind::Unavailable),
            ("NotUpdatableException", "NotUpdatable", FaultKind::NotUpdatable),
            ("NotStabilizedException", "NotStabilized", FaultKind::NotStabilized),
            ("ServiceLimitExceededException", "ServiceLimitExceeded", FaultKind::Final),
            ("ValidationException", "InvalidRequest", FaultKind::Final),
        ] {
            assert_eq!(service(400, request).kind, kind, "{request}");
            assert_eq!(Fault::of_operation(Some(operation), None).kind, kind, "{operation}");
        }
        assert_eq!(service(503, "HTTP 503").kind, FaultKind::Unavailable);
        assert_eq!(service(403, "Whatever").kind, FaultKind::Denied);
    }

    #[test]
    fn denied_message_names_the_missing_action() {
        let message = "User: arn:aws:iam::1:user/a is not authorized to perform: s3:CreateBucket on resource: \
                       \"arn:aws:s3:::b\" because no identity-based policy allows the s3:CreateBucket action";
        assert_eq!(missing_action(message), Some("s3:CreateBucket"));
        assert_eq!(missing_action("is not authorized to perform kms:Decrypt"), Some("kms:Decrypt"));
        assert_eq!(missing_action("Access denied"), None);
        let fault = Fault::of_operation(Some("AccessDenied"), Some(message));
        assert!(fault.refusal().help.is_some());
    }
}
