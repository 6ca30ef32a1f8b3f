//! Errors that a service answers with: their codes, and the classes that decide whether a call is repeated.

use serde::Deserialize;
use stead_world::HttpResponse;

/// Class of an error that a service answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceErrorClass {
    /// The service did nothing and asks for patience.
    Throttled,
    /// The service failed, and may have done something.
    Transient,
    /// The service refused the signature or its time.
    Signature,
    /// The credentials are expired.
    Expired,
    /// The caller may not do this.
    Denied,
    /// Every other refusal: the same call is refused again.
    Other,
}

/// An error that a service answered with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ServiceError {
    pub status: u16,
    /// Code such as `AccessDeniedException`, or `HTTP 502` if the answer has none.
    pub code: String,
    pub message: String,
}

const THROTTLED: &[&str] = &[
    "BandwidthLimitExceeded",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
];
const TRANSIENT: &[&str] = &[
    "DependencyTimeoutException",
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "KMSInternalException",
    "KeyUnavailableException",
    "RequestTimeout",
    "RequestTimeoutException",
    "ServiceUnavailable",
];
const SIGNATURE: &[&str] = &[
    "InvalidSignatureException",
    "RequestExpired",
    "RequestInTheFuture",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
];
const EXPIRED: &[&str] = &["ExpiredToken", "ExpiredTokenException"];
const DENIED: &[&str] = &[
    "AccessDenied",
    "AccessDeniedException",
    "InvalidClientTokenId",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "NotAuthorized",
    "OptInRequired",
    "UnauthorizedOperation",
    "UnrecognizedClientException",
];

#[derive(Deserialize, Default)]
struct JsonError {
    #[serde(rename = "__type", alias = "code", alias = "Code")]
    code: Option<String>,
    #[serde(alias = "Message", alias = "errorMessage")]
    message: Option<String>,
}

impl ServiceError {
    /// Reads the error of an answer in JSON or XML.
    pub fn of(response: &HttpResponse) -> ServiceError {
        let text = String::from_utf8_lossy(&response.body);
        let json: JsonError = serde_json::from_str(&text).unwrap_or_default();
        let header = response.headers.get("x-amzn-errortype").map(str::to_owned);
        let code = header.or(json.code).or_else(|| element(&text, "Code"));
        // `com.amazonaws.kms#NotFoundException:http://…`
        let code = code.as_deref().map(|code| code.split(':').next().unwrap_or(code));
        let code = code.map(|code| code.rsplit('#').next().unwrap_or(code)).filter(|code| !code.is_empty());
        let code = code.map_or_else(|| format!("HTTP {}", response.status), str::to_owned);
        let message = json.message.or_else(|| element(&text, "Message"));
        ServiceError { status: response.status, code, message: one_line(&message.unwrap_or_default()) }
    }

    pub fn class(&self) -> ServiceErrorClass {
        let is_in = |codes: &[&str]| codes.contains(&&*self.code);
        match self.status {
            _ if is_in(THROTTLED) || self.status == 429 => ServiceErrorClass::Throttled,
            _ if is_in(SIGNATURE) => ServiceErrorClass::Signature,
            _ if is_in(EXPIRED) => ServiceErrorClass::Expired,
            _ if is_in(DENIED) => ServiceErrorClass::Denied,
            _ if is_in(TRANSIENT) => ServiceErrorClass::Transient,
            500.. => ServiceErrorClass::Transient,
            401 | 403 => ServiceErrorClass::Denied,
            _ => ServiceErrorClass::Other,
        }
    }
}

/// Returns the text of the first XML element with a name.
pub(crate) fn element(xml: &str, name: &str) -> Option<String> {
    let start = xml.find(&format!("<{name}>"))? + name.len() + 2;
    let end = start + xml[start..].find(&format!("</{name}>"))?;
    let text = xml[start..end].trim();
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    Some(text.replace("&amp;", "&"))
}

/// Most bytes of a message, because a proxy may answer with a page.
const LONGEST_MESSAGE: usize = 64 << 10;

/// Returns a message on one line. It is whole or left out: a service may quote a secret, and only the caller can look for it, which
/// does not find a part of one.
fn one_line(message: &str) -> String {
    if message.len() > LONGEST_MESSAGE {
        return format!("(a message of {} bytes)", message.len());
    }
    message.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stead_world::Headers;

    fn error(status: u16, body: &str) -> ServiceError {
        ServiceError::of(&HttpResponse {
            status,
            headers: Headers::default(),
            body: body.as_bytes().to_vec().into(),
        })
    }

    #[test]
    fn codes_are_read_from_json_xml_and_headers() {
        let json = error(400, r#"{"__type":"com.amazonaws.kms#NotFoundException","message":"no key"}"#);
        assert_eq!((&*json.code, &*json.message), ("NotFoundException", "no key"));
        let xml =
            error(403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>a &amp; b</Message></Error>");
        assert_eq!((&*xml.code, &*xml.message), ("AccessDenied", "a & b"));
        let mut headers = Headers::default();
        headers.add("X-Amzn-ErrorType", "ThrottlingException:http://x/");
        let header = ServiceError::of(&HttpResponse { status: 400, headers, body: Default::default() });
        assert_eq!((&*header.code, header.class()), ("ThrottlingException", ServiceErrorClass::Throttled));
    }

    #[test]
    fn message_is_whole_or_left_out() {
        let quoted = format!("bad value '{}'", "x".repeat(2000));
        assert_eq!(error(400, &format!(r#"{{"message":"{quoted}\n"}}"#)).message, quoted);
        let page = format!(r#"{{"message":"{}"}}"#, "x".repeat(LONGEST_MESSAGE + 1));
        assert_eq!(error(400, &page).message, "(a message of 65537 bytes)");
    }

    #[test]
    fn class_follows_code_then_status() {
        for (status, code, class) in [
            (400, "ThrottlingException", ServiceErrorClass::Throttled),
            (503, "SlowDown", ServiceErrorClass::Throttled),
            (429, "Whatever", ServiceErrorClass::Throttled),
            (500, "Whatever", ServiceErrorClass::Transient),
            (403, "RequestTimeTooSkewed", ServiceErrorClass::Signature),
            (403, "ExpiredTokenException", ServiceErrorClass::Expired),
            (403, "Whatever", ServiceErrorClass::Denied),
            (400, "AccessDeniedException", ServiceErrorClass::Denied),
            (400, "NotFoundException", ServiceErrorClass::Other),
        ] {
            let error = error(status, &format!(r#"{{"__type":"{code}"}}"#));
            assert_eq!(error.class(), class, "{status} {code}");
        }
        assert_eq!(error(502, "<html>bad gateway</html>").to_string(), "HTTP 502: ");
    }
}
