//! A data key: 32 random bytes that encrypt the secrets of one stack or one config file.

use zeroize::Zeroizing;

/// A data key. It has no `Debug`, `Display` or `Serialize`, and its bytes are overwritten when it is dropped.
#[derive(Clone)]
pub struct DataKey(Zeroizing<[u8; 32]>);

impl DataKey {
    pub fn new(bytes: [u8; 32]) -> DataKey {
        DataKey(Zeroizing::new(bytes))
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
