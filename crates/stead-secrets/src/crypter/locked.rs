//! The crypter of a process without a key: sealed values pass through it as they are, and nothing is opened or sealed.

use stead_model::{Binding, Ciphertext, Crypter, KeyedDigest, Unopened};

/// Answers every call with [`Unopened::Locked`] and its reason.
#[derive(Clone, Debug)]
pub struct LockedCrypter {
    /// Why no key is available, for people.
    pub reason: String,
}

impl LockedCrypter {
    pub fn new(reason: impl Into<String>) -> LockedCrypter {
        LockedCrypter { reason: reason.into() }
    }

    fn refuse<T>(&self) -> Result<T, Unopened> {
        Err(Unopened::Locked(self.reason.clone()))
    }
}

impl Crypter for LockedCrypter {
    fn seal(&self, _: &[u8], _: Binding<'_>) -> Result<Ciphertext, Unopened> {
        self.refuse()
    }

    fn open(&self, _: &Ciphertext, _: Binding<'_>) -> Result<Vec<u8>, Unopened> {
        self.refuse()
    }

    fn digest(&self, _: &[u8], _: Binding<'_>) -> Result<KeyedDigest, Unopened> {
        self.refuse()
    }

    fn matches(&self, _: &KeyedDigest, _: &[u8], _: Binding<'_>) -> Result<bool, Unopened> {
        self.refuse()
    }
}
