//! Blobs under keys, changed only by compare-and-swap.
//!
//! What a [`Store`] promises, and nothing more:
//! - a `put` takes effect whole or not at all, and only if its [`Expect`] holds at that moment;
//! - a `put` that returned is durable, and every later `get` sees it or something newer;
//! - a `Conflict` means that what is there is durable, and that the `put` had no effect;
//! - any other error leaves open whether the `put` took effect, and whether that is durable: put again.
//!
//! There is no unconditional `put`. Locks, epochs and formats are the business of `stead-journal`.

pub mod conformance;
mod error;
mod file;
mod key;
mod memory;

use async_trait::async_trait;
use bytes::Bytes;

pub use error::{ErrorClass, StoreError};
pub use file::FileStore;
pub use key::{Key, KeyError};
pub use memory::MemoryStore;

/// Which state of a blob a `put` is meant for. Opaque; comparable only for equality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(pub(crate) Bytes);

/// What must be true at the moment of a `put`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    Absent,
    Version(Version),
}

/// A blob as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub body: Bytes,
    pub version: Version,
}

#[async_trait]
pub trait Store: Send + Sync {
    async fn get(&self, key: &Key) -> Result<Option<Found>, StoreError>;

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError>;

    /// All keys below `prefix`, at any depth, sorted.
    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError>;

    /// Removes a blob that nothing refers to any more. Absent already is fine.
    async fn delete(&self, key: &Key) -> Result<(), StoreError>;

    /// Where this is, for a message.
    fn describe(&self) -> String;
}
