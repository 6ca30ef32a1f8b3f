//! A data key: 32 random bytes that encrypt the secrets of one stack or one config file.

use zeroize::{Zeroize as _, ZeroizeOnDrop, Zeroizing};

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

    /// Returns the bytes of a key that is being made.
    pub(crate) fn expose_mut(&mut self) -> &mut [u8; 32] {
        &mut self.0
    }
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
    use sha2::Sha256;

    use super::*;

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
