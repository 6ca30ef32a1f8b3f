//! Wire protocol of Cloud Control: AWS JSON 1.0. Parameters are checked with the words of the service's framework.

use stead_model::{Map, Number, Value};
use stead_world::{Headers, HttpResponse};
use zeroize::Zeroizing;

use super::error::{ErrorKind, ServiceError};

pub(crate) const CONTENT_TYPE: &str = "application/x-amz-json-1.0";

/// A text parameter: its name, its limits, and the pattern that it must match, for messages.
pub(crate) struct Field {
    name: &'static str,
    limits: (usize, usize),
    pattern: &'static str,
    fits: fn(&str) -> bool,
}

pub(crate) const TYPE_NAME: Field = Field {
    name: "TypeName",
    limits: (10, 196),
    pattern: "[A-Za-z0-9]{2,64}::[A-Za-z0-9]{2,64}::[A-Za-z0-9]{2,64}",
    fits: |text| {
        let part = |part: &str| {
            (2..=64).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        text.split("::").count() == 3 && text.split("::").all(part)
    },
};
pub(crate) const IDENTIFIER: Field =
    Field { name: "Identifier", limits: (1, 1024), pattern: ".+", fits: |text| !text.contains('\n') };
pub(crate) const CLIENT_TOKEN: Field =
    Field { name: "ClientToken", limits: (1, 128), pattern: "[-A-Za-z0-9+/=]+", fits: is_token };
pub(crate) const REQUEST_TOKEN: Field =
    Field { name: "RequestToken", limits: (1, 128), pattern: "[-A-Za-z0-9+/=]+", fits: is_token };
pub(crate) const NEXT_TOKEN: Field =
    Field { name: "NextToken", limits: (1, 4096), pattern: ".+", fits: |_| true };
pub(crate) const DESIRED_STATE: Field = properties("DesiredState");
pub(crate) const PATCH_DOCUMENT: Field = properties("PatchDocument");
pub(crate) const RESOURCE_MODEL: Field = properties("ResourceModel");

const fn properties(name: &'static str) -> Field {
    Field { name, limits: (1, 262_144), pattern: r"[\s\S]*", fits: |_| true }
}

fn is_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+/=".contains(&byte))
}

/// Parameters of a call.
#[derive(Clone, Copy)]
pub(crate) struct Parameters<'a>(pub(crate) &'a Map);

impl<'a> Parameters<'a> {
    pub(crate) fn required(&self, field: &Field) -> Result<&'a str, ServiceError> {
        self.optional(field)?.ok_or_else(|| violation("null", field.name, "Member must not be null"))
    }

    pub(crate) fn optional(&self, field: &Field) -> Result<Option<&'a str>, ServiceError> {
        let text = match self.0.get(field.name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => &**text,
            Some(other) => {
                let message = format!("{} can not be converted to a String", other.to_json());
                return Err(ServiceError::new(ErrorKind::Serialization, message));
            }
        };
        let length = text.chars().count();
        let (least, most) = field.limits;
        // Models may contain secrets, so their text is in no message.
        let shown = if most > 4096 { "[hidden]".to_owned() } else { format!("'{text}'") };
        if length < least {
            let rule = format!("Member must have length greater than or equal to {least}");
            return Err(violation(&shown, field.name, &rule));
        }
        if length > most {
            let rule = format!("Member must have length less than or equal to {most}");
            return Err(violation(&shown, field.name, &rule));
        }
        if !(field.fits)(text) {
            let rule = format!("Member must satisfy regular expression pattern: {}", field.pattern);
            return Err(violation(&shown, field.name, &rule));
        }
        Ok(Some(text))
    }

    /// Returns `MaxResults`, which is between 1 and 100.
    pub(crate) fn max_results(&self, default: usize) -> Result<usize, ServiceError> {
        let Some(value) = self.0.get("MaxResults").filter(|value| **value != Value::Null) else {
            return Ok(default);
        };
        let shown = format!("'{}'", value.to_json());
        match value.as_i64() {
            Some(count @ 1..=100) => Ok(count as usize),
            Some(count) if count < 1 => {
                Err(violation(&shown, "MaxResults", "Member must have value greater than or equal to 1"))
            }
            _ => Err(violation(&shown, "MaxResults", "Member must have value less than or equal to 100")),
        }
    }

    /// Returns a JSON object that a text parameter contains.
    pub(crate) fn object(&self, field: &Field) -> Result<Option<Map>, ServiceError> {
        let Some(text) = self.optional(field)? else { return Ok(None) };
        match serde_json::from_str(text) {
            Ok(Value::Map(map)) => Ok(Some(map)),
            _ => Err(ServiceError::new(
                ErrorKind::InvalidRequest,
                format!("{} is not a valid JSON object", field.name),
            )),
        }
    }
}

fn violation(value: &str, name: &str, rule: &str) -> ServiceError {
    let (first, rest) = name.split_at(1);
    let place = format!("{}{rest}", first.to_lowercase());
    let message = format!(
        "1 validation error detected: Value {value} at '{place}' failed to satisfy constraint: {rule}"
    );
    ServiceError::new(ErrorKind::Validation, message)
}

/// Returns a JSON object. Members without a value are left out.
pub(crate) fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let present = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Map(present.collect())
}

pub(crate) fn text(text: impl Into<String>) -> Option<Value> {
    Some(Value::from(text.into()))
}

/// Returns a time as the protocol writes it: seconds since 1970, with a fraction.
pub(crate) fn time(millis: u64) -> Option<Value> {
    Number::from_f64(millis as f64 / 1000.0).map(Value::Number)
}

pub(crate) fn response(status: u16, content_type: &str, body: String, request_id: &str) -> HttpResponse {
    let mut headers = Headers::default();
    headers.set("content-type", content_type);
    headers.set("x-amzn-requestid", request_id);
    HttpResponse { status, headers, body: Zeroizing::new(body.into_bytes()) }
}

/// Returns the response of a call.
pub(crate) fn answer(result: Result<Value, ServiceError>, request_id: &str) -> HttpResponse {
    match result {
        Ok(value) => response(200, CONTENT_TYPE, value.to_json(), request_id),
        Err(ServiceError { kind, message }) => {
            let namespace = match kind {
                ErrorKind::Validation
                | ErrorKind::AccessDenied
                | ErrorKind::ExpiredToken
                | ErrorKind::IncompleteSignature
                | ErrorKind::MissingAuthenticationToken
                | ErrorKind::InternalFailure
                | ErrorKind::ServiceUnavailable
                | ErrorKind::UnknownOperation
                | ErrorKind::Serialization => "com.amazon.coral.service",
                _ => "com.amazon.cloudapiservice",
            };
            let body = object([
                ("__type", text(format!("{namespace}#{}", kind.name()))),
                ("Message", text(message)),
            ]);
            response(kind.status(), CONTENT_TYPE, body.to_json(), request_id)
        }
    }
}
