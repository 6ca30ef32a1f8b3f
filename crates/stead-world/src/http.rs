//! HTTP requests to services: the port, and its plain types.
//!
//! **Invariants:** no debug output and no error contains a body, the query of a URL, or a header value that may be a
//! credential. An error tells whether the request can have had an effect.

mod message;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

pub use message::{Headers, HttpRequest, HttpResponse, Method};

/// Sends requests to services.
#[async_trait]
pub trait Http: Send + Sync {
    /// Sends one request and returns the response, whatever its status is.
    ///
    /// Follows no redirect, and never repeats a request that may have reached the server.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError>;
}

/// Whether a request without a usable response can have had an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The request never reached the server.
    None,
    /// The server may have received and carried out the request.
    Unknown,
}

/// Why a request has no usable response. `host` is a name and a port, never a whole URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("the request to {host} cannot be sent: {reason}")]
    Invalid { host: String, reason: String },
    #[error("the certificates in {} cannot be used: {reason}", path.display())]
    Authorities { path: PathBuf, reason: String },
    #[error("cannot connect to {host}: {reason}")]
    NotSent { host: String, reason: String },
    #[error("{host} did not answer: {reason}")]
    NoAnswer { host: String, reason: String },
    #[error("the answer of {host} is longer than {limit} bytes")]
    TooLarge { host: String, limit: usize },
}

impl HttpError {
    /// Returns whether the request can have had an effect.
    pub fn effect(&self) -> Effect {
        match self {
            HttpError::Invalid { .. } | HttpError::Authorities { .. } | HttpError::NotSent { .. } => {
                Effect::None
            }
            HttpError::NoAnswer { .. } | HttpError::TooLarge { .. } => Effect::Unknown,
        }
    }
}

/// Refuses every request: the HTTP of a world without a network.
pub struct NoHttp;

#[async_trait]
impl Http for NoHttp {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let reason = "this world has no network".to_owned();
        Err(HttpError::NotSent { host: request.host().to_owned(), reason })
    }
}

/// Limit on the duration of a request, unless the request says otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Limit on the size of a response, unless the request says otherwise.
const MAX_BYTES: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_before_sending_rule_out_an_effect() {
        let (host, reason) = (String::new, String::new);
        assert_eq!(HttpError::NotSent { host: host(), reason: reason() }.effect(), Effect::None);
        assert_eq!(HttpError::Invalid { host: host(), reason: reason() }.effect(), Effect::None);
        assert_eq!(HttpError::NoAnswer { host: host(), reason: reason() }.effect(), Effect::Unknown);
        assert_eq!(HttpError::TooLarge { host: host(), limit: 1 }.effect(), Effect::Unknown);
    }

    #[tokio::test]
    async fn world_without_a_network_refuses_without_an_effect() {
        let refused = NoHttp.send(HttpRequest::get("https://example.com/a?token=t")).await.unwrap_err();
        assert_eq!(refused.effect(), Effect::None);
        assert_eq!(refused.to_string(), "cannot connect to example.com: this world has no network");
    }
}
