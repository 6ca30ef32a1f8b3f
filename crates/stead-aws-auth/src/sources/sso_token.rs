//! The token of IAM Identity Center in `~/.aws/sso/cache`, renewed with the refresh token that `aws sso login` left beside it.
//!
//! **Invariant:** the file keeps every field that other tools wrote, and only its owner can read it.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha1::{Digest as _, Sha1};
use stead_world::{HttpRequest, Timestamp, World};

use crate::endpoint;
use crate::error::{Looked, Missing};
use crate::moment::rfc3339;

/// A token with less time left is renewed, so that it does not expire in the middle of a run.
const RENEWED_BEFORE: Duration = Duration::from_secs(5 * 60);

/// Where a token is filed, and whether it can be renewed.
pub(super) struct TokenPlace<'a> {
    /// The name of the session, or the start URL without one.
    pub(super) filed_under: &'a str,
    /// The region of the session. `None` for a profile without a session, whose tokens cannot be renewed.
    pub(super) session_region: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Renewed {
    access_token: String,
    /// Seconds.
    expires_in: u64,
    refresh_token: Option<String>,
}

/// Returns a token that is not expired.
pub(super) async fn token(world: &World, place: &TokenPlace<'_>) -> Looked<String> {
    let Some(home) = &world.host.home else {
        return Err(Missing::misconfigured("there is no home folder with tokens of IAM Identity Center"));
    };
    let name: String = Sha1::digest(place.filed_under).iter().map(|byte| format!("{byte:02x}")).collect();
    let path = home.join(".aws/sso/cache").join(format!("{name}.json"));
    let from = path.clone();
    let read = world.with_files(move |files| files.read(&from)).await;
    let bytes = read.map_err(|_| log_in("nobody is logged in to IAM Identity Center"))?;
    let unreadable = || log_in("the token of IAM Identity Center cannot be read");
    let cached: Map<String, Value> = serde_json::from_slice(&bytes).map_err(|_| unreadable())?;
    let token = text(&cached, "accessToken").ok_or_else(unreadable)?;
    let expires = text(&cached, "expiresAt").and_then(rfc3339).ok_or_else(unreadable)?;
    let now = world.clock.now();
    if expires > Timestamp(now.0 + RENEWED_BEFORE.as_millis() as u64) {
        return Ok(token.to_owned());
    }
    match renew(world, place, &cached, path).await {
        Ok(renewed) => Ok(renewed),
        // The old token still buys credentials.
        Err(_) if expires > now => Ok(token.to_owned()),
        Err(missing) => Err(missing),
    }
}

/// Buys a token for the refresh token, and writes both into the file.
async fn renew(
    world: &World,
    place: &TokenPlace<'_>,
    cached: &Map<String, Value>,
    path: PathBuf,
) -> Looked<String> {
    let expired = || log_in("the token of IAM Identity Center is expired");
    let region = place.session_region.ok_or_else(expired)?;
    let field = |name: &str| text(cached, name).ok_or_else(expired);
    let (id, secret, refresh) = (field("clientId")?, field("clientSecret")?, field("refreshToken")?);
    let now = world.clock.now();
    let registered = text(cached, "registrationExpiresAt").and_then(rfc3339);
    if registered.is_some_and(|until| until <= now) {
        return Err(log_in(
            "the token of IAM Identity Center is expired, and so is the login of this machine",
        ));
    }
    let base = match endpoint::overridden(&world.host.variables, "sso oidc") {
        Some(url) => url,
        None => format!("https://oidc.{region}.{}", endpoint::suffix(region)),
    };
    let body = json!({
        "clientId": id, "clientSecret": secret, "grantType": "refresh_token", "refreshToken": refresh,
    });
    let request = HttpRequest::post(format!("{base}/token"), body.to_string().into_bytes())
        .header("content-type", "application/json");
    let answer = world.http.send(request).await.map_err(|error| Missing::unavailable(error.to_string()))?;
    match answer.status {
        200 => {}
        400..=403 => return Err(log_in("IAM Identity Center does not renew the expired token")),
        status => {
            let reason = format!("IAM Identity Center answered HTTP {status} to the renewal of the token");
            return Err(Missing::unavailable(reason));
        }
    }
    let unreadable = |_| Missing::unavailable("the answer of IAM Identity Center is not a token");
    let renewed: Renewed = serde_json::from_slice(&answer.body).map_err(unreadable)?;
    let mut cached = cached.clone();
    let expires = Timestamp(now.0 + renewed.expires_in * 1000);
    cached.insert("accessToken".to_owned(), renewed.access_token.clone().into());
    cached.insert("expiresAt".to_owned(), expires.to_string().into());
    if let Some(refresh) = renewed.refresh_token {
        cached.insert("refreshToken".to_owned(), refresh.into());
    }
    write(world, path, cached).await?;
    Ok(renewed.access_token)
}

/// Writes the file. A refresh token is good for one renewal, so that a failure would end the login.
async fn write(world: &World, path: PathBuf, cached: Map<String, Value>) -> Looked<()> {
    let failed = |error: std::io::Error| {
        Missing::misconfigured(format!("the renewed token of IAM Identity Center cannot be written: {error}"))
            .hint("make ~/.aws/sso/cache writable, then run `aws sso login` with the same profile")
    };
    let unique = world.entropy.uuid().map_err(failed)?;
    let bytes = Value::Object(cached).to_string().into_bytes();
    world.with_files(move |files| files.write_atomically(&path, &bytes, 0o600, &unique)).await.map_err(failed)
}

fn text<'a>(cached: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    cached.get(name).and_then(Value::as_str)
}

/// Returns the failure of a token that only a person can replace.
pub(super) fn log_in(reason: &str) -> Missing {
    Missing::misconfigured(format!("{reason}; run `aws sso login`"))
        .hint("run `aws sso login` with the same profile")
}
