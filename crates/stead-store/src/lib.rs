//! Blobs under keys, changed only by compare-and-swap.
//!
//! The promises of a [`Store`]:
//! - a `put` takes effect whole or not at all, and only if its [`Expect`] holds at that moment;
//! - a `put` that returned is durable, and every later `get` returns that blob or a newer one;
//! - after a `Conflict` the stored blob is durable, and the `put` had no effect;
//! - after any other error it is unknown whether the `put` took effect and is durable: put again.
//!
//! There is no unconditional `put`. Locks, epochs and formats belong to `stead-journal`.

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

/// Version of a blob. Opaque; comparable only for equality.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(pub(crate) Bytes);

/// Precondition of a `put`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    Absent,
    Version(Version),
}

/// A stored blob, with its version at the time it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub body: Bytes,
    pub version: Version,
}

/// A key-value store with compare-and-swap. See the module for its promises.
#[async_trait]
pub trait Store: Send + Sync {
    async fn get(&self, key: &Key) -> Result<Option<Blob>, StoreError>;

    async fn put(&self, key: &Key, body: Bytes, expect: Expect) -> Result<Version, StoreError>;

    /// Returns all keys below `prefix`, at any depth, sorted.
    async fn list(&self, prefix: &Key) -> Result<Vec<Key>, StoreError>;

    /// Deletes a blob that nothing refers to. Succeeds if it is already absent.
    async fn delete(&self, key: &Key) -> Result<(), StoreError>;

    /// Describes the store's location, for messages.
    fn describe(&self) -> String;
}
