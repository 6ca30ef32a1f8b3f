//! The canonical form of a request, which both sides hash.

use std::collections::BTreeMap;

use stead_world::HttpRequest;

use super::Style;
use crate::escape::{push_escaped, unescaped};

/// Headers that are not signed, because proxies or the transport change them.
const UNSIGNED: &[&str] =
    &["authorization", "connection", "expect", "transfer-encoding", "user-agent", "x-amzn-trace-id"];

pub(super) struct Canonical {
    pub(super) text: String,
    /// Names of the signed headers, joined by `;`.
    pub(super) signed_headers: String,
}

pub(super) fn request(request: &HttpRequest, style: Style, digest: &str) -> Canonical {
    let (path, query) = path_and_query(&request.url);
    let headers = headers(request);
    let lines: String =
        headers.iter().map(|(name, values)| format!("{name}:{}\n", values.join(","))).collect();
    let signed_headers = headers.into_keys().collect::<Vec<_>>().join(";");
    let (path, query) = (self::path(path, style), self::query(query));
    let method = request.method.as_str();
    let text = format!("{method}\n{path}\n{query}\n{lines}\n{signed_headers}\n{digest}");
    Canonical { text, signed_headers }
}

/// Returns the value of the header `Host`: without the port that the scheme implies.
pub(super) fn host(request: &HttpRequest) -> String {
    let host = request.host();
    let implied = if request.url.starts_with("https://") { ":443" } else { ":80" };
    host.strip_suffix(implied).unwrap_or(host).to_owned()
}

fn path_and_query(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    let rest = rest.find(['/', '?']).map_or("", |at| &rest[at..]);
    rest.split_once('?').unwrap_or((rest, ""))
}

fn headers(request: &HttpRequest) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in request.headers.iter() {
        let name = name.to_ascii_lowercase();
        if !UNSIGNED.contains(&&*name) {
            let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            all.entry(name).or_default().push(value);
        }
    }
    all
}

fn path(path: &str, style: Style) -> String {
    if style == Style::S3 {
        // An escaped slash is part of a name, and stays escaped.
        let path = path.split('/').map(again).collect::<Vec<_>>().join("/");
        return if path.is_empty() { "/".to_owned() } else { path };
    }
    let mut out = String::with_capacity(path.len() + 8);
    push_escaped(&mut out, normalised(path).as_bytes(), b"/");
    out
}

/// Removes empty parts, `.` and `..` from a path. A slash at the end stays.
fn normalised(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let end = if path.ends_with('/') && !parts.is_empty() { "/" } else { "" };
    format!("/{}{end}", parts.join("/"))
}

/// Sorts the fields by their escaped names, then values.
fn query(query: &str) -> String {
    let mut fields: Vec<(String, String)> = query
        .split('&')
        .filter(|field| !field.is_empty())
        .map(|field| field.split_once('=').unwrap_or((field, "")))
        .map(|(name, value)| (again(name), again(value)))
        .collect();
    fields.sort();
    fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// Escapes a text that may be escaped already, in the one form that is signed.
fn again(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, &unescaped(text), b"");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_normalised_and_escaped_once_more() {
        for (given, expected) in [
            ("", "/"),
            ("/", "/"),
            ("//", "/"),
            ("/./", "/"),
            ("/a/../..", "/"),
            ("/a//b/", "/a/b/"),
            ("/a%20b/é", "/a%2520b/%C3%A9"),
        ] {
            assert_eq!(path(given, Style::Plain), expected, "{given}");
        }
        assert_eq!(path("/a//./b%20c%2fd", Style::S3), "/a//./b%20c%2Fd");
        assert_eq!(path("", Style::S3), "/");
    }

    #[test]
    fn queries_are_sorted_by_escaped_names_and_values() {
        assert_eq!(query("b=2&a=%2f&a=1&C&=x&&a="), "=x&C=&a=&a=%2F&a=1&b=2");
    }

    #[test]
    fn host_has_no_implied_port() {
        let host = |url: &str| host(&HttpRequest::get(url));
        assert_eq!(host("https://h:443/x"), "h");
        assert_eq!(host("http://h:80"), "h");
        assert_eq!(host("https://h:80?x"), "h:80");
        assert_eq!(host("http://[::1]:443"), "[::1]:443");
    }

    proptest! {
        #[test]
        fn canonical_form_is_its_own_canonical_form(given in "[ -~é]{0,40}") {
            let once = query(&given);
            prop_assert_eq!(query(&once), &*once);
            let once = normalised(&given);
            prop_assert_eq!(normalised(&once), &*once);
        }

        #[test]
        fn order_of_query_fields_and_headers_does_not_matter(
            fields in proptest::collection::vec(("[a-zA-Z%=~]{1,6}", "[ -~]{0,6}"), 1..6),
            shift in 0usize..6,
        ) {
            let text = |fields: &[(String, String)]| {
                let fields: Vec<String> = fields.iter().map(|(name, value)| again(name) + "=" + &again(value)).collect();
                fields.join("&")
            };
            let mut shifted = fields.clone();
            shifted.rotate_left(shift % fields.len());
            prop_assert_eq!(query(&text(&fields)), query(&text(&shifted)));
        }

        #[test]
        fn white_space_around_and_inside_header_values_counts_once(words in proptest::collection::vec("[!-~]{1,5}", 1..4)) {
            let signed = |value: String| headers(&HttpRequest::get("https://h/").header("X-A", value));
            prop_assert_eq!(signed(words.join(" ")), signed(format!("  {}\t", words.join("   "))));
        }

        #[test]
        fn canonical_request_has_six_parts_and_signed_names_in_order(
            names in proptest::collection::vec("[A-Za-z-]{1,10}", 0..6),
            body in "[ -~]{0,20}",
        ) {
            let mut given = HttpRequest::post("https://h/p?q=1", body);
            for name in &names {
                given.headers.add(name.as_str(), "v");
            }
            let canonical = request(&given, Style::Plain, "digest");
            let signed: Vec<&str> = canonical.signed_headers.split(';').collect();
            prop_assert!(signed.is_sorted());
            prop_assert!(!signed.contains(&"authorization") && !signed.contains(&"user-agent"));
            prop_assert!(canonical.text.starts_with("POST\n/p\nq=1\n"));
            let end = format!("\n\n{}\ndigest", canonical.signed_headers);
            let has_headers = !canonical.signed_headers.is_empty();
            prop_assert!(!has_headers || canonical.text.ends_with(&end), "{}", canonical.text);
        }
    }
}
