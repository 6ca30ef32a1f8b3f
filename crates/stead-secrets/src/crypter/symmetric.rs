//! The crypter of an open ring: AES-256-GCM with a nonce that is derived from the place and the value.
//!
//! The same value at the same place has the same text, so that state does not change without a reason. A ciphertext is bound to
//! its place and does not open elsewhere. A reader without the key learns the length of a value, and whether a value at a place
//! is the same as an earlier one there; nothing else. `docs/format/secrets.md` is normative for the texts.

use std::collections::BTreeMap;

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use stead_model::{Binding, Ciphertext, Crypter, KeyId, KeyedDigest, Unopened};

use crate::DataKey;
use crate::cipher::{Cipher, NONCE, from_base64, to_base64};
use crate::key::{keyed, overwrite_stack};

/// Seals with the current key of a ring, and opens with every key of it.
pub struct SymmetricCrypter {
    current: KeyId,
    sealing: Box<Subkeys>,
    older: BTreeMap<KeyId, Box<Subkeys>>,
    /// Keys of the ring that no manager opened, and why.
    closed: BTreeMap<KeyId, String>,
}

impl SymmetricCrypter {
    /// Returns a crypter that seals with this key.
    pub fn new(current: KeyId, key: &DataKey) -> SymmetricCrypter {
        let (older, closed) = (BTreeMap::new(), BTreeMap::new());
        SymmetricCrypter { current, sealing: Subkeys::of(key), older, closed }
    }

    /// Adds an older key, which opens values that were sealed with it.
    #[must_use]
    pub fn with_older(mut self, id: KeyId, key: &DataKey) -> SymmetricCrypter {
        self.older.insert(id, Subkeys::of(key));
        self
    }

    /// Adds an older key that is in the ring and could not be opened. Its values are locked for this reason.
    #[must_use]
    pub fn with_closed(mut self, id: KeyId, reason: impl Into<String>) -> SymmetricCrypter {
        self.closed.insert(id, reason.into());
        self
    }

    /// Returns the id of the key that new values are sealed with.
    pub fn current(&self) -> &KeyId {
        &self.current
    }

    /// Returns the key with this id, and the decoded bytes of a text `<prefix>:<key id>:<base64>`.
    fn parse<'a>(&'a self, text: &'a str, id: Option<KeyId>) -> Result<(&'a Subkeys, Vec<u8>), Unopened> {
        let id = id.ok_or(Unopened::Damaged)?;
        let keys = match self.older.get(&id) {
            _ if id == self.current => &self.sealing,
            Some(keys) => keys,
            None => match self.closed.get(&id) {
                Some(reason) => return Err(Unopened::Locked(reason.clone())),
                None => return Err(Unopened::NoSuchKey(id)),
            },
        };
        let encoded = text.splitn(3, ':').nth(2).unwrap_or_default();
        let mut bytes = from_base64(encoded).ok_or(Unopened::Damaged)?;
        Ok((keys, std::mem::take(&mut *bytes)))
    }
}

impl Crypter for SymmetricCrypter {
    fn seal(&self, plain: &[u8], binding: Binding<'_>) -> Result<Ciphertext, Unopened> {
        let place = binding.to_bytes();
        let mut nonce = [0; NONCE];
        nonce.copy_from_slice(&mac(&self.sealing.nonces, &place, plain).finalize().into_bytes()[..NONCE]);
        let sealed = self.sealing.cipher.seal(nonce, plain, &place);
        let sealed = sealed.ok_or_else(|| Unopened::Locked("a value is longer than 64 GiB".to_owned()))?;
        Ok(Ciphertext(format!("s1:{}:{}", self.current, to_base64(&sealed))))
    }

    fn open(&self, sealed: &Ciphertext, binding: Binding<'_>) -> Result<Vec<u8>, Unopened> {
        let (keys, bytes) = self.parse(&sealed.0, sealed.key())?;
        let mut plain = keys.cipher.open(&bytes, &binding.to_bytes()).ok_or(Unopened::Damaged)?;
        Ok(std::mem::take(&mut *plain))
    }

    fn digest(&self, plain: &[u8], binding: Binding<'_>) -> Result<KeyedDigest, Unopened> {
        let digest = mac(&self.sealing.digests, &binding.to_bytes(), plain).finalize().into_bytes();
        Ok(KeyedDigest(format!("d1:{}:{}", self.current, to_base64(&digest))))
    }

    fn matches(&self, digest: &KeyedDigest, plain: &[u8], binding: Binding<'_>) -> Result<bool, Unopened> {
        let (keys, bytes) = self.parse(&digest.0, digest.key())?;
        if bytes.len() != 32 {
            return Err(Unopened::Damaged);
        }
        // The comparison of `verify_slice` takes the same time for all digests.
        Ok(mac(&keys.digests, &binding.to_bytes(), plain).verify_slice(&bytes).is_ok())
    }
}

/// The keys that are derived from one data key, one for each purpose. They are never moved.
struct Subkeys {
    cipher: Cipher,
    nonces: Hmac<Sha256>,
    digests: Hmac<Sha256>,
}

impl Subkeys {
    fn of(key: &DataKey) -> Box<Subkeys> {
        let keys = Subkeys::derive(key);
        overwrite_stack();
        keys
    }

    #[inline(never)]
    fn derive(key: &DataKey) -> Box<Subkeys> {
        let derive = |label: &[u8]| {
            let mut mac = keyed(key.expose());
            mac.update(label);
            DataKey::new(mac.finalize().into_bytes().into())
        };
        Box::new(Subkeys {
            cipher: Cipher::new(derive(b"stead s1 encryption").expose()),
            nonces: keyed(derive(b"stead s1 nonce").expose()),
            digests: keyed(derive(b"stead d1 digest").expose()),
        })
    }
}

/// Returns the authentication code of a value at a place. The length of the place comes first: without it, a place with one part
/// more could have the bytes of a shorter place and a longer value, and two values would share a nonce.
fn mac(keyed: &Hmac<Sha256>, place: &[u8], plain: &[u8]) -> Hmac<Sha256> {
    let mut mac = keyed.clone();
    mac.update(&(place.len() as u64).to_be_bytes());
    mac.update(place);
    mac.update(plain);
    mac
}
