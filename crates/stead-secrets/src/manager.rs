//! Key managers: a passphrase, age recipients, a cloud key service, a command.

use async_trait::async_trait;
use stead_model::{Binding, Hint, KeyId};

use crate::DataKey;

/// The owner and the id of a data key. Managers that can bind a wrapped key to a context bind it to these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrapContext {
    /// `stack:<uuid>` or `config:<project>:<environment>`.
    pub owner: String,
    pub key: KeyId,
}

impl WrapContext {
    /// Returns the context as bytes that a wrapped key is bound to.
    pub fn to_bytes(&self) -> Vec<u8> {
        Binding(&["stead data key", &self.owner, &self.key.0]).to_bytes()
    }
}

/// Wraps data keys with a key that only the manager has.
#[async_trait]
pub trait KeyManager: Send + Sync {
    /// Returns the manager as `stead.toml` writes it; recorded with every key that it wraps.
    fn name(&self) -> &str;

    /// Returns how far an unwrapped key is known to be the one that was wrapped.
    fn assurance(&self) -> Assurance;

    /// Wraps a data key. The text has no white space and is safe to store and to commit.
    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError>;

    /// Unwraps a data key that this manager wrapped for the same context.
    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError>;
}

/// Trust in the keys that a manager unwraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assurance {
    /// The wrapped text authenticates the key and its context: another key cannot come out of it.
    Authenticated,
    /// The manager says which key it is. Only the id of the key, or a value that it opens, shows that this is true.
    Claimed,
}

/// Class of a manager's failure, which decides what people are told and whether the call is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerErrorClass {
    /// The manager answered, and its key does not open the wrapped key: wrong passphrase, wrong identity, another key.
    WrongKey,
    /// This machine has nothing to open it with: no passphrase, no identity file, no credentials.
    NotConfigured,
    /// The manager refused the caller.
    Denied,
    /// The key at the manager does not exist, or is disabled or scheduled for deletion.
    NoSuchKey,
    /// The manager could not be reached, or kept on asking for patience.
    Unavailable,
    /// The wrapped key, or the answer of the manager, is not in the expected format.
    Damaged,
}

/// Why a key manager could not wrap or unwrap a key. The message names the manager and contains no key material.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ManagerError {
    pub class: ManagerErrorClass,
    pub message: String,
    pub help: Vec<Hint>,
}

impl ManagerError {
    pub fn new(class: ManagerErrorClass, message: impl Into<String>) -> ManagerError {
        ManagerError { class, message: message.into(), help: Vec::new() }
    }

    #[must_use]
    pub fn help(mut self, hint: impl Into<Hint>) -> ManagerError {
        self.help.push(hint.into());
        self
    }
}
