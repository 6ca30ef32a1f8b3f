//! Requests of managers that repeat harmlessly: a few attempts, with growing waits.

use std::time::Duration;

use serde::de::DeserializeOwned;
use stead_world::{HttpError, HttpRequest, HttpResponse, World};

/// Maximum number of times that a request is sent.
const ATTEMPTS: u32 = 4;

/// Longest wait between two attempts.
const MAX_WAIT_MS: u64 = 5_000;

/// Limit on one attempt.
const LIMIT: Duration = Duration::from_secs(10);

/// Limit on the size of an answer: keys and tokens are short.
const MAX_BYTES: usize = 256 << 10;

/// Sends a request until the server answers it, or has asked for patience a few times. Returns the last answer.
pub(super) async fn send(world: &World, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
    request.timeout = request.timeout.min(LIMIT);
    request.max_bytes = MAX_BYTES;
    let mut attempt = 1;
    loop {
        let sent = world.http.send(request.clone()).await;
        let asked = match &sent {
            Ok(response) if is_patience(response.status) => retry_after(response),
            Err(HttpError::NotSent { .. } | HttpError::NoAnswer { .. }) => None,
            _ => return sent,
        };
        if attempt == ATTEMPTS {
            return sent;
        }
        world.clock.sleep(wait(world, attempt, asked)).await;
        attempt += 1;
    }
}

pub(super) fn is_patience(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}

fn retry_after(response: &HttpResponse) -> Option<u64> {
    response.headers.get("retry-after")?.trim().parse::<u64>().ok()?.checked_mul(1000)
}

fn wait(world: &World, attempt: u32, asked: Option<u64>) -> Duration {
    let longest = (200u64 << attempt).min(MAX_WAIT_MS);
    let half = (longest / 2) as u32;
    // Without randomness the wait is only less spread.
    let random = world.entropy.below(half).unwrap_or(half / 2);
    let usual = u64::from(half) + u64::from(random);
    Duration::from_millis(usual.max(asked.unwrap_or(0)).min(MAX_WAIT_MS))
}

/// Reads an answer in JSON.
pub(super) fn json<T: DeserializeOwned>(response: &HttpResponse) -> Option<T> {
    serde_json::from_slice(&response.body).ok()
}

/// Returns a message of the server on one line. It is cut only after the search for the key ([`super::searched`]).
pub(super) fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
