//! Proxies: `HTTPS_PROXY` for `https`, unless `NO_PROXY` names the server. Plain `http` always goes straight.
//!
//! A loopback address never goes through a proxy. Plain `http` is for servers nearby: metadata services of clouds,
//! emulators, a Vault on this machine.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;

use super::target::Target;
use crate::Variables;

/// A proxy that opens tunnels with `CONNECT`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Proxy {
    pub(super) host: String,
    pub(super) port: u16,
    /// Value of the header `Proxy-Authorization`.
    pub(super) credentials: Option<String>,
}

/// The proxies of the environment.
pub(super) struct Proxies {
    https: Option<Result<Proxy, String>>,
    exceptions: Vec<String>,
}

impl Proxies {
    pub(super) fn new(variables: &Variables) -> Proxies {
        let variable = |names: [&str; 2]| {
            names.iter().find_map(|name| variables.get(name)).filter(|value| !value.is_empty())
        };
        let exceptions = variable(["NO_PROXY", "no_proxy"]).unwrap_or_default();
        let exceptions = exceptions.split(',').map(|entry| entry.trim().to_ascii_lowercase());
        Proxies {
            https: variable(["HTTPS_PROXY", "https_proxy"]).map(parse),
            exceptions: exceptions.filter(|entry| !entry.is_empty()).collect(),
        }
    }

    /// Returns the proxy for a request, or the reason why the proxy of the environment cannot be used.
    pub(super) fn for_target(&self, target: &Target) -> Option<&Result<Proxy, String>> {
        let excepted = || self.exceptions.iter().any(|entry| matches(entry, target));
        self.https.as_ref().filter(|_| target.tls && !is_loopback(&target.host) && !excepted())
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns true if an entry of `NO_PROXY` names the server: `*`, an address, a network, or a domain, with or without a port.
fn matches(entry: &str, target: &Target) -> bool {
    if entry == "*" {
        return true;
    }
    let host = target.host.to_ascii_lowercase();
    if let Ok(address) = host.parse::<IpAddr>() {
        return entry.parse() == Ok(address) || is_in_network(entry, address);
    }
    let name = match entry.rsplit_once(':') {
        Some((name, port)) if port.parse() == Ok(target.port) => name,
        Some(_) => return false,
        None => entry,
    };
    let domain = name.trim_start_matches("*.").trim_start_matches('.');
    host == domain || host.strip_suffix(domain).is_some_and(|rest| !domain.is_empty() && rest.ends_with('.'))
}

/// Returns true if a network such as `10.0.0.0/8` contains the address.
fn is_in_network(entry: &str, address: IpAddr) -> bool {
    let Some((base, length)) = entry.split_once('/') else { return false };
    let (Ok(base), Ok(length)) = (base.parse::<IpAddr>(), length.parse::<u32>()) else { return false };
    match (base, address) {
        (IpAddr::V4(base), IpAddr::V4(address)) if length <= 32 => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            base.to_bits() & mask == address.to_bits() & mask
        }
        (IpAddr::V6(base), IpAddr::V6(address)) if length <= 128 => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            base.to_bits() & mask == address.to_bits() & mask
        }
        _ => false,
    }
}

/// Reads `http://user:password@host:port`, where only the host is needed. The reason of a failure has no password.
fn parse(text: &str) -> Result<Proxy, String> {
    let malformed = || "HTTPS_PROXY is not a URL such as http://proxy.example.com:3128".to_owned();
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url: Uri = with_scheme.parse().map_err(|_| malformed())?;
    if url.scheme_str() != Some("http") {
        return Err(
            "HTTPS_PROXY must be an http:// proxy; it opens a tunnel, and TLS runs inside it".to_owned()
        );
    }
    let authority = url.authority().ok_or_else(malformed)?;
    let user = authority.as_str().rsplit_once('@').map(|(user, _)| unescaped(user));
    Ok(Proxy {
        host: authority.host().trim_start_matches('[').trim_end_matches(']').to_owned(),
        port: authority.port_u16().unwrap_or(80),
        credentials: user.map(|user| format!("Basic {}", STANDARD.encode(user))),
    })
}

/// Decodes `%41`. Other text stays as it is.
fn unescaped(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        plain.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HttpRequest;

    fn goes_straight(no_proxy: &str, url: &str) -> bool {
        let variables = [("HTTPS_PROXY", "http://proxy:3128"), ("NO_PROXY", no_proxy)];
        let variables =
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
        let target = Target::parse(&HttpRequest::get(url)).unwrap();
        Proxies::new(&variables).for_target(&target).is_none()
    }

    #[test]
    fn no_proxy_names_domains_addresses_and_networks() {
        for entry in
            ["*", "example.com", ".example.com", "*.example.com", "a, example.com:443", "EXAMPLE.com"]
        {
            assert!(goes_straight(entry, "https://kms.example.com/"), "{entry}");
        }
        for entry in ["", "ample.com", "example.com:80", "example.org", "."] {
            assert!(!goes_straight(entry, "https://kms.example.com/"), "{entry}");
        }
        assert!(goes_straight("10.0.0.0/8", "https://10.1.2.3/"));
        assert!(!goes_straight("10.0.0.0/8", "https://11.1.2.3/"));
        assert!(goes_straight("fd00::/8", "https://[fd00::1]/"));
    }

    #[test]
    fn loopback_and_plain_http_go_straight() {
        for url in ["https://localhost/", "https://127.0.0.1:8200/", "https://[::1]/", "http://example.com/"]
        {
            assert!(goes_straight("", url), "{url}");
        }
    }

    #[test]
    fn proxy_has_host_port_and_credentials() {
        let proxy = parse("http://us%40er:p%3Aw@proxy:3128/").unwrap();
        assert_eq!((&*proxy.host, proxy.port), ("proxy", 3128));
        assert_eq!(proxy.credentials.unwrap(), format!("Basic {}", STANDARD.encode("us@er:p:w")));
        assert_eq!(parse("proxy.example.com:8080").unwrap().port, 8080);
        let refused = parse("https://user:canary@proxy:443").err().unwrap();
        assert!(!refused.contains("canary"));
    }
}
