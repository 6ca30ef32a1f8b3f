//! The parts of a structured secret that give it away.

use sha2::{Digest as _, Sha256};
use stead_model::Value;
use zeroize::Zeroizing;

/// Returns the strings and numbers of a secret value. For a list or an object also its JSON, which may be long enough to be found
/// where its parts are not.
pub fn leaves(secret: &Value) -> Vec<Zeroizing<Vec<u8>>> {
    let mut found = Vec::new();
    collect(secret, &mut found);
    if matches!(secret, Value::List(_) | Value::Map(_)) && !found.is_empty() {
        found.push(Zeroizing::new(secret.to_json().into_bytes()));
    }
    found
}

/// Returns the SHA-256 of a part of a secret, with which a guess of the secret can be checked.
pub(crate) fn digest_of(leaf: &[u8]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(Sha256::digest(leaf).to_vec())
}

fn collect(value: &Value, found: &mut Vec<Zeroizing<Vec<u8>>>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => found.push(Zeroizing::new(number.to_string().into_bytes())),
        Value::String(text) => found.push(Zeroizing::new(text.as_bytes().to_vec())),
        Value::List(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Map(map) => map.iter().for_each(|(_, item)| collect(item, found)),
        Value::Secret(secret) => {
            if let Ok(plain) = secret.reveal() {
                collect(plain, found);
            }
        }
    }
}
