//! The crypter of outputs for people: it hides values and opens none.

use stead_model::{Binding, Ciphertext, Crypter, KeyedDigest, Unopened};

use crate::HIDDEN;

/// Writes `[secret]` in the place of every value and every digest. It is for output that is not read again.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlindingCrypter;

impl Crypter for BlindingCrypter {
    fn seal(&self, _: &[u8], _: Binding<'_>) -> Result<Ciphertext, Unopened> {
        Ok(Ciphertext(HIDDEN.to_owned()))
    }

    fn open(&self, _: &Ciphertext, _: Binding<'_>) -> Result<Vec<u8>, Unopened> {
        Err(Unopened::NotKept)
    }

    fn digest(&self, _: &[u8], _: Binding<'_>) -> Result<KeyedDigest, Unopened> {
        Ok(KeyedDigest(HIDDEN.to_owned()))
    }

    fn matches(&self, _: &KeyedDigest, _: &[u8], _: Binding<'_>) -> Result<bool, Unopened> {
        Err(Unopened::NotKept)
    }
}
