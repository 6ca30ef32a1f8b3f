//! Errors of a store.

use crate::Key;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The precondition did not hold; nothing was changed.
    #[error("{key} was changed by another writer")]
    Conflict { key: Key },
    /// The storage failed. A `put` may or may not have taken effect.
    #[error("cannot {action} {place}: {source}")]
    Io { action: &'static str, place: String, source: std::io::Error },
}

/// Error class, which decides about retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Read the blob again before trying anything else.
    Conflict,
    /// A retry does not help: no space, no permission, a read-only disk.
    Permanent,
    /// A retry may help; check first whether the failed attempt took effect.
    Transient,
}

impl StoreError {
    pub fn class(&self) -> ErrorClass {
        use std::io::ErrorKind::{
            InvalidData, NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
        };
        match self {
            StoreError::Conflict { .. } => ErrorClass::Conflict,
            StoreError::Io { source, .. } => match source.kind() {
                StorageFull | QuotaExceeded | PermissionDenied | ReadOnlyFilesystem | NotADirectory
                | InvalidData => ErrorClass::Permanent,
                _ => ErrorClass::Transient,
            },
        }
    }
}
