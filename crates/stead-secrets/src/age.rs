//! The manager `age:<recipient>`: a data key is encrypted to the public key of a person or a machine.
//!
//! A recipient is an age key (`age1…`) or an SSH key (`ssh-ed25519 …`, `ssh-rsa …`). The wrapped text is base64 of a binary age
//! file, whose content is the data key and its context: age has no associated data. The `age` crate draws randomness of its own,
//! so that a simulation with this manager does not repeat byte by byte.

mod identities;
mod recipient;
#[cfg(test)]
mod tests;

use std::io::Read as _;
use std::sync::Arc;

use ::age::secrecy::ExposeSecret as _;
use async_trait::async_trait;
use stead_world::World;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use crate::cipher::{from_base64, to_base64};
use crate::{Ask, Assurance, DataKey, KeyManager, ManagerError, ManagerErrorClass, WrapContext};
use identities::{Finder, Opened};
use recipient::Recipient;

/// A new age identity.
pub struct NewIdentity {
    /// The line `AGE-SECRET-KEY-1…`, to be kept in a file that only its owner reads.
    pub secret: Zeroizing<String>,
    /// The public key `age1…`, to be shared.
    pub recipient: String,
}

/// Makes a new identity, for a person or a machine without one.
pub fn new_identity() -> NewIdentity {
    let identity = ::age::x25519::Identity::generate();
    let secret = Zeroizing::new(identity.to_string().expose_secret().to_owned());
    NewIdentity { secret, recipient: identity.to_public().to_string() }
}

/// Wraps data keys for one recipient. Unwrapping needs the recipient's identity on this machine.
pub struct AgeManager {
    name: String,
    recipient: Recipient,
    finder: Finder,
    /// The identity, once it was found, so that the passphrase of an SSH key is asked for once.
    identity: Mutex<Option<Arc<Opened>>>,
}

impl AgeManager {
    /// Returns the manager of a recipient. Its name has the public key without a comment. `ask` asks for the passphrase of an
    /// encrypted SSH key; without it, such a key is not used.
    pub fn new(recipient: &str, world: World, ask: Option<Arc<dyn Ask>>) -> Result<AgeManager, ManagerError> {
        let recipient = Recipient::parse(recipient)?;
        let name = format!("age:{recipient}");
        Ok(AgeManager { name, recipient, finder: Finder { world, ask }, identity: Mutex::default() })
    }

    async fn identity(&self) -> Result<Arc<Opened>, ManagerError> {
        let mut known = self.identity.lock().await;
        if let Some(identity) = &*known {
            return Ok(identity.clone());
        }
        let found = Arc::new(self.finder.find(&self.recipient).await?);
        Ok(known.insert(found).clone())
    }

    fn failure(&self, class: ManagerErrorClass, message: &str) -> ManagerError {
        ManagerError::new(class, format!("{}: {message}", self.recipient.short()))
    }
}

#[async_trait]
impl KeyManager for AgeManager {
    fn name(&self) -> &str {
        &self.name
    }

    fn assurance(&self) -> Assurance {
        Assurance::Authenticated
    }

    async fn wrap(&self, key: &DataKey, context: &WrapContext) -> Result<String, ManagerError> {
        let mut content = Zeroizing::new(Vec::with_capacity(512));
        content.extend_from_slice(key.expose());
        content.extend_from_slice(&context.to_bytes());
        let sealed = self.recipient.encrypt(&content);
        let sealed = sealed
            .map_err(|error| self.failure(ManagerErrorClass::Unavailable, &format!("age failed: {error}")))?;
        Ok(to_base64(&sealed))
    }

    async fn unwrap(&self, wrapped: &str, context: &WrapContext) -> Result<DataKey, ManagerError> {
        let damaged = || self.failure(ManagerErrorClass::Damaged, "the wrapped key is damaged");
        let sealed = from_base64(wrapped).ok_or_else(damaged)?;
        let decryptor = ::age::Decryptor::new_buffered(sealed.as_slice()).map_err(|_| damaged())?;
        let identity = self.identity().await?;
        let mut content = Zeroizing::new(Vec::with_capacity(4096));
        let read = decryptor.decrypt(std::iter::once(identity.as_age()));
        let read = read.map_err(|error| match error {
            ::age::DecryptError::NoMatchingKeys => {
                self.failure(ManagerErrorClass::WrongKey, "the key was wrapped for another recipient")
            }
            _ => damaged(),
        })?;
        // A wrapped key is short. A longer one was not written here, and the cut makes its context differ.
        read.take(4096).read_to_end(&mut content).map_err(|_| damaged())?;
        let (key, bound) = content.split_first_chunk::<32>().ok_or_else(damaged)?;
        if bound != context.to_bytes() {
            let message = "the wrapped key belongs to another stack, or is another key of this one";
            return Err(self.failure(ManagerErrorClass::Damaged, message));
        }
        Ok(DataKey::new(*key))
    }
}
