//! What a store can answer instead of doing.

use crate::Key;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The expectation did not hold; nothing was changed.
    #[error("{key} is not what it was expected to be: somebody else changed it")]
    Conflict { key: Key },
    /// The medium failed. A `put` may or may not have taken effect.
    #[error("cannot {action} {place}: {source}")]
    Io { action: &'static str, place: String, source: std::io::Error },
}

/// What a caller may do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// Read again and decide anew.
    Conflict,
    /// Repeating will not help: no space, no permission, a read-only disk.
    Permanent,
    /// Repeating may help, after a look at whether the first attempt took effect.
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
