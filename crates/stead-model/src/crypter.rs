//! The port to encryption: how secrets are sealed for storage and opened again.
//!
//! `stead-secrets` implements it. A ciphertext names its key and is bound to its place, so that a ciphertext that was moved elsewhere
//! does not open.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The id of a data key. Not a secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(pub String);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An encrypted value as text: `s1:<key id>:<base64 of nonce, ciphertext and tag>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ciphertext(pub String);

impl Ciphertext {
    /// Returns the id of the key that the text names.
    pub fn key(&self) -> Option<KeyId> {
        key_of(&self.0, "s1:")
    }
}

/// A keyed digest of a value that is not kept: `d1:<key id>:<base64 of the digest>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyedDigest(pub String);

impl KeyedDigest {
    /// Returns the id of the key that the text names.
    pub fn key(&self) -> Option<KeyId> {
        key_of(&self.0, "d1:")
    }
}

fn key_of(text: &str, prefix: &str) -> Option<KeyId> {
    let (key, _) = text.strip_prefix(prefix)?.split_once(':')?;
    Some(KeyId(key.to_owned()))
}

/// The place that a ciphertext is bound to: stack, resource and property path, or project, environment and config key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding<'a>(pub &'a [&'a str]);

impl Binding<'_> {
    /// Returns the parts as bytes, each with its length, so that two different places never have the same bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.iter().map(|part| part.len() + 8).sum());
        for part in self.0 {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        bytes
    }
}

/// Why a sealed secret has no value in this process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unopened {
    /// No key of the ring was opened. The text says why, for people.
    #[error("the key is not available: {0}")]
    Locked(String),
    /// The ring is open and does not have the key.
    #[error("it was encrypted with the key {0}, which this stack does not have")]
    NoSuchKey(KeyId),
    /// The key is there, and the ciphertext does not open: it was changed, or moved here from another place.
    #[error("its ciphertext is damaged, or belongs to another place")]
    Damaged,
    /// The value was never kept: it is write-only or ephemeral.
    #[error("its value is not kept")]
    NotKept,
}

/// Seals secrets for storage and opens them.
pub trait Crypter: Send + Sync {
    /// Encrypts a value for a place. The same value at the same place gives the same text while the key is the same.
    fn seal(&self, plain: &[u8], binding: Binding<'_>) -> Result<Ciphertext, Unopened>;

    /// Decrypts a value. Fails if the key is missing, or if the text is not one that was sealed for this place.
    fn open(&self, sealed: &Ciphertext, binding: Binding<'_>) -> Result<Vec<u8>, Unopened>;

    /// Returns a digest that tells whether a value changed, and nothing else, to a reader without the key.
    fn digest(&self, plain: &[u8], binding: Binding<'_>) -> Result<KeyedDigest, Unopened>;

    /// Returns true if the digest is that of the value. The comparison takes the same time for every digest.
    fn matches(&self, digest: &KeyedDigest, plain: &[u8], binding: Binding<'_>) -> Result<bool, Unopened>;
}

/// Stands in where there is no key: every call fails. Secrets that are sealed already pass through.
pub struct NoKey;

impl NoKey {
    fn locked() -> Unopened {
        Unopened::Locked("this stack has no data key yet".to_owned())
    }
}

impl Crypter for NoKey {
    fn seal(&self, _: &[u8], _: Binding<'_>) -> Result<Ciphertext, Unopened> {
        Err(NoKey::locked())
    }

    fn open(&self, _: &Ciphertext, _: Binding<'_>) -> Result<Vec<u8>, Unopened> {
        Err(NoKey::locked())
    }

    fn digest(&self, _: &[u8], _: Binding<'_>) -> Result<KeyedDigest, Unopened> {
        Err(NoKey::locked())
    }

    fn matches(&self, _: &KeyedDigest, _: &[u8], _: Binding<'_>) -> Result<bool, Unopened> {
        Err(NoKey::locked())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_with_shifted_parts_differ() {
        assert_ne!(Binding(&["ab", "c"]).to_bytes(), Binding(&["a", "bc"]).to_bytes());
        assert_ne!(Binding(&["a", ""]).to_bytes(), Binding(&["a"]).to_bytes());
    }

    #[test]
    fn texts_name_their_key() {
        assert_eq!(Ciphertext("s1:ab12:xyz".to_owned()).key(), Some(KeyId("ab12".to_owned())));
        assert_eq!(Ciphertext("v1:ab12:xyz".to_owned()).key(), None);
        assert_eq!(KeyedDigest("d1:ab12:xyz".to_owned()).key(), Some(KeyId("ab12".to_owned())));
    }
}
