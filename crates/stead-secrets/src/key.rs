//! A data key: 32 random bytes that encrypt the secrets of one stack or one config file.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use stead_model::KeyId;
use zeroize::{Zeroize as _, ZeroizeOnDrop, Zeroizing};

/// Bytes of an id that is derived from its key.
const ID: usize = 16;

/// A data key. It has no `Debug`, `Display` or `Serialize`, it cannot be compared, and its bytes are overwritten when it is dropped.
///
/// The bytes are in a place of their own, because a move of the key would leave a copy behind.
#[derive(Clone)]
pub struct DataKey(Box<Zeroizing<[u8; 32]>>);

impl ZeroizeOnDrop for DataKey {}

impl DataKey {
    pub fn new(bytes: [u8; 32]) -> DataKey {
        DataKey(Box::new(Zeroizing::new(bytes)))
    }

    /// Returns the key with these bytes, or `None` if they are not 32.
    pub fn from_slice(bytes: &[u8]) -> Option<DataKey> {
        bytes.try_into().ok().map(DataKey::new)
    }

    /// Returns the bytes, for a cipher or a manager that wraps them.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the id of the key, which is derived from it: a reader of the id tells another key at once.
    pub fn id(&self) -> KeyId {
        let id = self.derived_id();
        overwrite_stack();
        id
    }

    #[inline(never)]
    fn derived_id(&self) -> KeyId {
        let mut mac = keyed(self.expose());
        mac.update(b"stead k1 id");
        KeyId(stead_model::hex(&mac.finalize().into_bytes()[..ID]))
    }

    /// Compares the key with an id.
    pub(crate) fn identity(&self, id: &KeyId) -> Identity {
        let is_derived = id.0.len() == 2 * ID && id.0.bytes().all(|byte| byte.is_ascii_hexdigit());
        match (self.id() == *id, is_derived) {
            (true, _) => Identity::Same,
            (false, true) => Identity::Other,
            (false, false) => Identity::Untold,
        }
    }

    /// Returns the bytes of a key that is being made.
    pub(crate) fn expose_mut(&mut self) -> &mut [u8; 32] {
        &mut self.0
    }
}

/// Result of the comparison of a key with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Same,
    Other,
    /// The id is a random one of an earlier version, and says nothing about its key.
    Untold,
}

/// Returns HMAC-SHA256 with a key.
pub(crate) fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    // The block of the hash is longer than the key, so this is HMAC with the key itself.
    let mut block = Zeroizing::new([0; 64]);
    block[..32].copy_from_slice(key);
    Hmac::new((&*block).into())
}

/// Overwrites the stack below the caller, where calls that have returned left copies of a key.
#[inline(never)]
pub(crate) fn overwrite_stack() {
    const DEPTH: usize = 16 << 10;
    let mut stack = [0u8; DEPTH];
    stack.zeroize();
    std::hint::black_box(&stack);
}

#[cfg(test)]
mod tests {
    use aes_gcm::Aes256Gcm;

    use super::*;

    #[test]
    fn id_tells_its_key_from_every_other_one() {
        let (key, other) = (DataKey::new([1; 32]), DataKey::new([2; 32]));
        // Computed with Python's hmac.
        assert_eq!(key.id().0, "7698302c04435b2ae99f85bc6f76ae64");
        assert_eq!(key.identity(&key.id()), Identity::Same);
        assert_eq!(other.identity(&key.id()), Identity::Other);
        assert_eq!(key.identity(&KeyId("9f86d081884c7d65".to_owned())), Identity::Untold);
    }

    #[test]
    fn keys_and_what_is_made_of_them_are_zeroised_on_drop() {
        fn is_zeroised<T: ZeroizeOnDrop>() {}
        is_zeroised::<DataKey>();
        is_zeroised::<Aes256Gcm>();
        // The keys of nonces and digests are states of this hash inside an HMAC.
        is_zeroised::<Sha256>();
    }

    #[test]
    fn key_can_be_neither_compared_nor_shown() {
        // A method of the second trait is chosen only if the type lacks the property.
        trait Absent {
            fn is_comparable(&self) -> bool {
                false
            }
            fn is_shown(&self) -> bool {
                false
            }
        }
        struct Probe<T>(T);
        impl<T: PartialEq> Probe<T> {
            fn is_comparable(&self) -> bool {
                true
            }
        }
        impl<T: std::fmt::Debug> Probe<T> {
            fn is_shown(&self) -> bool {
                true
            }
        }
        impl<T> Absent for Probe<T> {}
        let key = Probe(DataKey::new([1; 32]));
        assert!(!key.is_comparable() && !key.is_shown());
        let text = Probe("text");
        assert!(text.is_comparable() && text.is_shown(), "the probe sees what is there");
    }
}
