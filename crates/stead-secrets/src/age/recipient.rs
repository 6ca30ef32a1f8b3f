//! Recipients: the public keys that age encrypts to.

use std::fmt;

use age::EncryptError;

use crate::{ManagerError, ManagerErrorClass};

/// A public key.
#[derive(Clone)]
pub(super) enum Recipient {
    Native(age::x25519::Recipient),
    Ssh(age::ssh::Recipient),
}

impl Recipient {
    pub(super) fn parse(text: &str) -> Result<Recipient, ManagerError> {
        use age::ssh::ParseRecipientKeyError::{RsaModulusTooLarge, RsaModulusTooSmall};
        let text = text.trim();
        let refused = |why: &str| {
            let message = format!("age: `{text}` {why}");
            ManagerError::new(ManagerErrorClass::NotConfigured, message)
        };
        if text.starts_with("AGE-SECRET-KEY-") {
            // The message must not repeat the text.
            let message =
                "age: the recipient is a secret key; write its public key instead, which begins with `age1`";
            return Err(ManagerError::new(ManagerErrorClass::NotConfigured, message));
        }
        if text.starts_with("ssh-") {
            return text.parse().map(Recipient::Ssh).map_err(|error| match error {
                RsaModulusTooLarge => refused("is an RSA key with more than 4096 bits"),
                RsaModulusTooSmall => refused("is an RSA key with less than 2048 bits"),
                _ => refused("is not an SSH public key of type ssh-ed25519 or ssh-rsa"),
            });
        }
        let native = text.parse().map(Recipient::Native);
        native.map_err(|_| refused("is neither an age public key (age1…) nor an SSH public key"))
    }

    /// Returns the public key of an SSH identity, encrypted or not.
    pub(super) fn of_ssh(identity: &age::ssh::Identity) -> Option<Recipient> {
        identity.clone().try_into().ok().map(Recipient::Ssh)
    }

    pub(super) fn encrypt(&self, content: &[u8]) -> Result<Vec<u8>, EncryptError> {
        match self {
            Recipient::Native(recipient) => age::encrypt(recipient, content),
            Recipient::Ssh(recipient) => age::encrypt(recipient, content),
        }
    }

    /// Returns the name of the manager for messages, with the middle of a long key left out.
    pub(super) fn short(&self) -> String {
        let text = self.to_string();
        match (text.char_indices().nth(24), text.char_indices().nth_back(7)) {
            (Some((head, _)), Some((tail, _))) if tail > head => {
                format!("age:{}…{}", &text[..head], &text[tail..])
            }
            _ => format!("age:{text}"),
        }
    }
}

impl PartialEq for Recipient {
    fn eq(&self, other: &Recipient) -> bool {
        self.to_string() == other.to_string()
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recipient::Native(recipient) => recipient.fmt(f),
            Recipient::Ssh(recipient) => recipient.fmt(f),
        }
    }
}
