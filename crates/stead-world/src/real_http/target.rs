//! The parts of a URL that a connection needs.

use hyper::Uri;

use crate::{HttpError, HttpRequest};

/// A server, and the path of a request to it.
pub(super) struct Target {
    pub(super) tls: bool,
    /// Name or address, without the brackets of an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
    /// Host and port as the URL writes them, for the header `Host`.
    pub(super) authority: String,
    /// Path and query.
    pub(super) path: String,
}

impl Target {
    pub(super) fn parse(request: &HttpRequest) -> Result<Target, HttpError> {
        let invalid =
            |reason: &str| HttpError::Invalid { host: request.host().to_owned(), reason: reason.to_owned() };
        let url: Uri = request.url.parse().map_err(|_| invalid("the URL is malformed"))?;
        let tls = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid("the URL starts neither with https:// nor with http://")),
        };
        let authority = url.authority().ok_or_else(|| invalid("the URL has no host"))?;
        if authority.as_str().contains('@') {
            return Err(invalid("the URL has a user or a password; send a header instead"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(invalid("the URL has no host"));
        }
        Ok(Target {
            tls,
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
            path: url.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        })
    }

    /// Returns the server for messages.
    pub(super) fn shown(&self) -> String {
        self.authority.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Result<Target, HttpError> {
        Target::parse(&HttpRequest::get(url))
    }

    #[test]
    fn url_gives_host_port_and_path() {
        let target = parsed("https://[::1]:8443/a%2Fb?x=1").unwrap();
        assert_eq!(
            (target.tls, &*target.host, target.port, &*target.path),
            (true, "::1", 8443, "/a%2Fb?x=1")
        );
        let target = parsed("http://localhost").unwrap();
        assert_eq!((target.tls, &*target.host, target.port, &*target.path), (false, "localhost", 80, "/"));
    }

    #[test]
    fn url_that_cannot_be_sent_is_refused_without_its_password() {
        for url in ["https://u:canary@h/", "ftp://h/", "/path", "https:///x", "https://h/ y", ""] {
            let error = parsed(url).err().unwrap();
            assert!(matches!(error, HttpError::Invalid { .. }), "{url}");
            assert!(!error.to_string().contains("canary"));
        }
    }
}
