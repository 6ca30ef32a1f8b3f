//! Bearer tokens: kept until shortly before they expire, with one request at a time.

use serde::Deserialize;
use stead_world::{HttpRequest, HttpResponse, Timestamp, World};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::exchange;
use super::failure::Failures;
use crate::search::tell_output_search;
use crate::{ManagerError, ManagerErrorClass};

/// Time before the expiry at which a token is renewed.
const RENEW_BEFORE_MS: u64 = 2 * 60_000;

/// A token, and the time at which it stops to work.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) text: Zeroizing<String>,
    pub(super) expires: Option<Timestamp>,
}

impl Token {
    /// Returns a token of the environment, which this process does not renew.
    pub(super) fn given(text: &str) -> Token {
        Token { text: Zeroizing::new(text.to_owned()), expires: None }
    }
}

/// The token of one manager.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<Token>>);

impl Kept {
    /// Returns the kept token, or the one that the function gets.
    pub(super) async fn get<F>(&self, world: &World, renew: F) -> Result<Zeroizing<String>, ManagerError>
    where
        F: AsyncFnOnce() -> Result<Token, ManagerError>,
    {
        let mut kept = self.0.lock().await;
        let now = world.clock.now().0;
        let lasts = |token: &&Token| token.expires.is_none_or(|expires| expires.0 > now + RENEW_BEFORE_MS);
        if let Some(token) = kept.as_ref().filter(lasts) {
            return Ok(token.text.clone());
        }
        let token = renew().await?;
        tell_output_search(&token.text);
        Ok(kept.insert(token).text.clone())
    }
}

#[derive(Deserialize)]
struct Answer {
    access_token: Zeroizing<String>,
    /// Seconds: a number, or a text with a number.
    expires_in: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Refusal {
    error: Option<serde_json::Value>,
    error_description: Option<String>,
}

/// Sends a request for a token, and reads the answer.
pub(super) async fn request(
    world: &World,
    failures: Failures<'_>,
    request: HttpRequest,
    source: &str,
) -> Result<Token, ManagerError> {
    let answer = exchange::send(world, request).await.map_err(|error| failures.http(&error))?;
    read(world, failures, &answer, source)
}

pub(super) fn read(
    world: &World,
    failures: Failures<'_>,
    answer: &HttpResponse,
    source: &str,
) -> Result<Token, ManagerError> {
    match answer.status {
        200 => {}
        status if exchange::is_patience(status) => {
            return Err(failures.throttled(&format!("{source} answered HTTP {status}")));
        }
        status => {
            let refusal: Option<Refusal> = exchange::json(answer);
            let text = refusal.and_then(|refusal| {
                let error = refusal.error.and_then(|error| error.as_str().map(str::to_owned));
                refusal.error_description.or(error)
            });
            let text = exchange::one_line(&text.unwrap_or_default());
            let reason = format!("{source} gave no token: HTTP {status} {text}");
            return Err(failures.error(ManagerErrorClass::Denied, reason.trim_end()));
        }
    }
    let found: Answer = exchange::json(answer)
        .ok_or_else(|| failures.damaged(&format!("the answer of {source} has no token")))?;
    let seconds = match found.expires_in {
        Some(serde_json::Value::Number(number)) => number.as_u64(),
        Some(serde_json::Value::String(text)) => text.parse().ok(),
        _ => None,
    };
    let expires = Timestamp(world.clock.now().0.saturating_add(seconds.unwrap_or(600).saturating_mul(1000)));
    Ok(Token { text: found.access_token, expires: Some(expires) })
}

/// Returns the body of a form.
pub(super) fn form(fields: &[(&str, &str)]) -> Vec<u8> {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    fields.join("&").into_bytes()
}

/// Escapes every byte but letters, digits, `-`, `.`, `_` and `~`.
pub(super) fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Returns true if a secret may be sent to a URL: over TLS, or to this machine.
pub(super) fn is_safe(url: &str) -> bool {
    let request = HttpRequest::get(url);
    let host = request.host();
    let host =
        host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    let is_local = matches!(host, "127.0.0.1" | "localhost" | "[::1]");
    url.starts_with("https://") || (url.starts_with("http://") && is_local)
}
