//! Requests and responses. Their debug output has no body, no query and no header value that may be a credential.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use zeroize::Zeroizing;

use super::{MAX_BYTES, TIMEOUT};

/// Headers whose values debug output shows. Any other value may be a credential.
const SHOWN: &[&str] =
    &["accept", "content-length", "content-type", "date", "host", "user-agent", "x-amz-date", "x-amz-target"];

/// Method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

/// Headers in the order in which they were added. Names are compared without case.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// Returns the first value of a header.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Adds a header beside others of the same name.
    pub fn add(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    /// Sets a header, and removes others of the same name.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = name.into();
        self.remove(&name);
        self.0.push((name, value.into()));
    }

    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &str| SHOWN.iter().any(|known| known.eq_ignore_ascii_case(name));
        f.debug_map()
            .entries(self.iter().map(|(name, value)| (name, if shown(name) { value } else { "[hidden]" })))
            .finish()
    }
}

/// A request. Plain `http` is used only if the URL says so.
#[derive(Clone)]
pub struct HttpRequest {
    pub method: Method,
    /// Absolute URL, with every reserved byte escaped. It is sent as it is.
    pub url: String,
    pub headers: Headers,
    /// Overwritten when it is dropped, because it may contain a key.
    pub body: Zeroizing<Vec<u8>>,
    /// Limit on the whole exchange, from the look-up of the name to the last byte of the response.
    pub timeout: Duration,
    /// Limit on the size of the response's body.
    pub max_bytes: usize,
    /// PEM file with the only certificate authorities to trust. `None`: those of the machine.
    pub authorities: Option<PathBuf>,
}

impl HttpRequest {
    pub fn new(method: Method, url: impl Into<String>) -> HttpRequest {
        HttpRequest {
            method,
            url: url.into(),
            headers: Headers::default(),
            body: Zeroizing::default(),
            timeout: TIMEOUT,
            max_bytes: MAX_BYTES,
            authorities: None,
        }
    }

    pub fn get(url: impl Into<String>) -> HttpRequest {
        HttpRequest::new(Method::Get, url)
    }

    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> HttpRequest {
        HttpRequest { body: Zeroizing::new(body.into()), ..HttpRequest::new(Method::Post, url) }
    }

    /// Sets a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> HttpRequest {
        self.headers.set(name, value);
        self
    }

    /// Returns host and port as the URL writes them, without user and password.
    pub fn host(&self) -> &str {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.rsplit('@').next().unwrap_or_default()
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        let path = path.find('/').map_or("", |at| &path[at..]);
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("host", &self.host())
            .field("path", &path)
            .field("headers", &self.headers)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// A response with its whole body.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: Headers,
    /// Overwritten when it is dropped, because it may contain a key.
    pub body: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .field("bytes", &self.body.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_no_credential_query_or_body() {
        let request = HttpRequest::post("https://user:pw-canary@host:1/a/b?sig=query-canary", "body-canary")
            .header("Authorization", "Bearer header-canary")
            .header("X-Vault-Token", "vault-canary")
            .header("Content-Type", "application/json");
        let body = b"answer-canary".to_vec().into();
        let response = HttpResponse { status: 200, headers: request.headers.clone(), body };
        let shown = format!("{request:?} {response:?}");
        assert!(!shown.contains("canary"), "{shown}");
        assert!(shown.contains("host:1") && shown.contains("/a/b") && shown.contains("application/json"));
    }

    #[test]
    fn header_names_are_compared_without_case() {
        let mut headers = Headers::default();
        headers.add("Date", "1");
        headers.set("date", "2");
        assert_eq!((headers.get("DATE"), headers.iter().count()), (Some("2"), 1));
    }
}
