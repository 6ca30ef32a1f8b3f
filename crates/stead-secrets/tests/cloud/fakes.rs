//! Parts that the fakes share: a server with a mood, and ciphertexts that remember their key and context.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use stead_world::testing::{FakeServer, Received, Reply};

/// How a fake answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Normal,
    /// Asks for patience this many times.
    Throttled(u32),
    Denied,
    NoSuchKey,
    Disabled,
    /// Answers with this body and status 200.
    Says(Vec<u8>),
    /// Refuses the request, and quotes it behind this many characters.
    Quotes(usize),
    /// Accepts the request and closes the connection.
    Gone,
}

/// A service with one handler for good requests, and the answers to bad ones.
pub(crate) struct Fake {
    pub(crate) server: FakeServer,
    mood: Arc<Mutex<Mood>>,
}

/// A refusal in the format of the service.
pub(crate) type Refusal = fn(&Mood) -> Reply;

impl Fake {
    pub(crate) fn start(normal: fn(&Received) -> Reply, refusal: Refusal) -> Fake {
        let mood = Arc::new(Mutex::new(Mood::Normal));
        let shared = mood.clone();
        let server = FakeServer::start(move |request| {
            let mut mood = shared.lock().unwrap();
            match &mut *mood {
                Mood::Normal | Mood::Throttled(0) => normal(request),
                Mood::Says(body) => Reply::new(200, body.clone()),
                Mood::Quotes(before) => quoted(*before, request),
                Mood::Gone => Reply::Close,
                throttled @ Mood::Throttled(_) => {
                    let reply = refusal(throttled);
                    if let Mood::Throttled(count) = throttled {
                        *count -= 1;
                    }
                    reply
                }
                other => refusal(other),
            }
        });
        Fake { server: server.unwrap(), mood }
    }

    pub(crate) fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }
}

/// Returns a refusal that quotes the request, in the format of every service.
fn quoted(before: usize, request: &Received) -> Reply {
    let text = format!("{} {}", "x".repeat(before), String::from_utf8_lossy(&request.body));
    let error = json!({ "code": "Odd", "status": "ODD", "message": text });
    Reply::new(418, json!({ "__type": "Odd", "message": text, "errors": [text], "error": error }).to_string())
}

pub(crate) fn body(request: &Received) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// Returns a ciphertext that remembers the key, the context and the plaintext.
pub(crate) fn seal(key: &str, context: &Value, plaintext: &str) -> Vec<u8> {
    serde_json::to_vec(&json!([key, context, plaintext.chars().rev().collect::<String>()])).unwrap()
}

/// Returns the plaintext, or the part that does not match: `key` or `context`.
pub(crate) fn open(sealed: &[u8], key: &str, context: &Value) -> Result<String, &'static str> {
    let parts: Value = serde_json::from_slice(sealed).map_err(|_| "context")?;
    if parts[0] != key {
        return Err("key");
    }
    if parts[1] != *context {
        return Err("context");
    }
    Ok(parts[2].as_str().unwrap().chars().rev().collect())
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(crate) fn unbase64(text: &Value) -> Vec<u8> {
    STANDARD.decode(text.as_str().unwrap()).unwrap_or_default()
}
