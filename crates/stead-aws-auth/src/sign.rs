//! Signature Version 4 in the header `Authorization`.
//!
//! The signature covers every header of the request but a few that proxies change, and the digest of the body.

mod canonical;

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use stead_world::{HttpRequest, Timestamp};
use zeroize::Zeroizing;

use crate::Credentials;
use crate::moment::amz_date;
use canonical::Canonical;

/// How a service canonicalises requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Every service but S3: the path is normalised and escaped a second time.
    Plain,
    /// S3: the path is an object key and stays as it is, and the digest of the body is a header.
    S3,
}

/// The service and the region that a signature is valid for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Name in signatures, such as `kms` or `cloudcontrolapi`.
    pub service: String,
    pub region: String,
    pub style: Style,
}

impl Scope {
    pub fn new(service: impl Into<String>, region: impl Into<String>) -> Scope {
        Scope { service: service.into(), region: region.into(), style: Style::Plain }
    }
}

/// Adds the headers `Host`, `X-Amz-Date`, `X-Amz-Security-Token` and `Authorization` to a request.
///
/// The headers of an earlier signature are replaced, so that a request can be signed again.
pub fn sign(request: &mut HttpRequest, credentials: &Credentials, scope: &Scope, now: Timestamp) {
    let moment = amz_date(now);
    let digest = hex(&Sha256::digest(request.body.as_slice()));
    request.headers.remove("authorization");
    request.headers.set("host", canonical::host(request));
    request.headers.set("x-amz-date", &*moment);
    match &credentials.session_token {
        Some(token) => request.headers.set("x-amz-security-token", token.expose()),
        None => request.headers.remove("x-amz-security-token"),
    }
    if scope.style == Style::S3 {
        request.headers.set("x-amz-content-sha256", &*digest);
    }
    let Canonical { text, signed_headers } = canonical::request(request, scope.style, &digest);
    let date = &moment[..8];
    let Scope { region, service, .. } = scope;
    let place = format!("{date}/{region}/{service}/aws4_request");
    let to_sign = format!("AWS4-HMAC-SHA256\n{moment}\n{place}\n{}", hex(&Sha256::digest(text)));
    let signature = hex(&*mac(&*signing_key(credentials, date, scope), &to_sign));
    let id = &credentials.access_key_id;
    let header = format!(
        "AWS4-HMAC-SHA256 Credential={id}/{place}, SignedHeaders={signed_headers}, Signature={signature}"
    );
    request.headers.set("authorization", header);
}

fn signing_key(credentials: &Credentials, date: &str, scope: &Scope) -> Zeroizing<[u8; 32]> {
    let secret = Zeroizing::new(format!("AWS4{}", credentials.secret_access_key.expose()));
    let key = mac(secret.as_bytes(), date);
    let key = mac(&*key, &scope.region);
    let key = mac(&*key, &scope.service);
    mac(&*key, "aws4_request")
}

fn mac(key: &[u8], text: &str) -> Zeroizing<[u8; 32]> {
    // HMAC takes keys of every length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Zeroizing::new([0; 32]) };
    mac.update(text.as_bytes());
    Zeroizing::new(mac.finalize().into_bytes().into())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
