//! AES-256-GCM over bytes, and base64 as every format of this crate writes it.
//!
//! **Invariant:** a nonce is never used for two plaintexts with one key. The callers draw nonces at random, or derive them from
//! the plaintext.

use aes_gcm::aead::{Aead as _, Payload};
use aes_gcm::{Aes256Gcm, KeyInit as _, Nonce, Tag};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::key::overwrite_stack;

/// Length of a nonce in bytes.
pub(crate) const NONCE: usize = 12;

/// AES-256-GCM with one key. The key is zeroised on drop, and is never moved.
#[derive(Clone)]
pub(crate) struct Cipher(Box<Aes256Gcm>);

impl Cipher {
    pub(crate) fn new(key: &[u8; 32]) -> Cipher {
        let cipher = Cipher::make(key);
        overwrite_stack();
        cipher
    }

    #[inline(never)]
    fn make(key: &[u8; 32]) -> Cipher {
        Cipher(Box::new(Aes256Gcm::new(key.into())))
    }

    /// Encrypts, and returns nonce, ciphertext and tag. `None` if the plaintext is longer than AES-GCM allows, which is 64 GiB.
    pub(crate) fn seal(&self, nonce: [u8; NONCE], plain: &[u8], associated: &[u8]) -> Option<Vec<u8>> {
        let sealed = self.encrypt(nonce, plain, associated);
        overwrite_stack();
        sealed
    }

    #[inline(never)]
    fn encrypt(&self, nonce: [u8; NONCE], plain: &[u8], associated: &[u8]) -> Option<Vec<u8>> {
        let sealed = self.0.encrypt(&Nonce::from(nonce), Payload { msg: plain, aad: associated }).ok()?;
        let mut whole = Vec::with_capacity(NONCE + sealed.len());
        whole.extend(nonce);
        whole.extend(sealed);
        Some(whole)
    }

    /// Decrypts nonce, ciphertext and tag. `None` if the key or the associated data is another one, or if a bit was changed.
    pub(crate) fn open(&self, whole: &[u8], associated: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let plain = self.decrypt(whole, associated);
        overwrite_stack();
        plain
    }

    #[inline(never)]
    fn decrypt(&self, whole: &[u8], associated: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, sealed) = whole.split_first_chunk::<NONCE>()?;
        if sealed.len() < size_of::<Tag>() {
            return None;
        }
        let payload = Payload { msg: sealed, aad: associated };
        self.0.decrypt(&Nonce::from(*nonce), payload).ok().map(Zeroizing::new)
    }
}

/// Returns bytes as base64: the standard alphabet, with padding.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads base64 that [`to_base64`] wrote. Another text of the same bytes is refused, so that bytes have one text.
pub(crate) fn from_base64(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    STANDARD.decode(text).ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answer_of_aes_256_gcm_is_given() {
        // Test case 14 of the specification of GCM by McGrew and Viega.
        let sealed = Cipher::new(&[0; 32]).seal([0; NONCE], &[0; 16], &[]).unwrap();
        let expected = "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919";
        assert_eq!(stead_model::hex(&sealed[NONCE..]), expected);
    }

    #[test]
    fn bytes_have_exactly_one_base64_text() {
        assert_eq!(from_base64("AQ==").unwrap().as_slice(), [1]);
        for other in ["AQ", "AR==", "AQ==\n", " AQ=="] {
            assert!(from_base64(other).is_none(), "{other:?}");
        }
    }

    #[test]
    fn text_that_is_too_short_does_not_open() {
        let cipher = Cipher::new(&[7; 32]);
        for length in 0..NONCE + size_of::<Tag>() {
            assert!(cipher.open(&vec![0; length], &[]).is_none());
        }
    }
}
