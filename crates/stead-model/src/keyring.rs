//! The ring of data keys of a stack or of a config file, each wrapped by every key manager that may open it.
//!
//! **Invariant:** a ring holds no key in the clear. The last key is the current one; earlier keys stay, so that old snapshots, old
//! branches and interrupted rotations remain readable.

use serde::{Deserialize, Serialize};

use crate::KeyId;

/// Wrapped data keys, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Keyring {
    pub keys: Vec<RingKey>,
}

/// One data key, wrapped once for each manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingKey {
    pub id: KeyId,
    pub wraps: Vec<Wrap>,
}

/// A data key that one manager wrapped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrap {
    /// The manager as `stead.toml` writes it: `passphrase`, `age:ada`, `awskms://alias/stead`.
    pub manager: String,
    /// The wrapped key as text, in the format of the manager.
    pub data: String,
}

impl Keyring {
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub fn current(&self) -> Option<&RingKey> {
        self.keys.last()
    }

    pub fn get(&self, id: &KeyId) -> Option<&RingKey> {
        self.keys.iter().find(|key| key.id == *id)
    }
}
