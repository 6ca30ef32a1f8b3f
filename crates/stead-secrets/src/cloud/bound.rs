//! Binding of a data key to its context, for services that cannot do it: the digest of the context is wrapped beside the key.
//!
//! The service authenticates both together, so a wrapped key that was moved to another owner is noticed.

use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::{DataKey, WrapContext};

const KEY: usize = 32;

/// Returns the context as bytes. Two contexts have different bytes.
pub(super) fn context_bytes(context: &WrapContext) -> Vec<u8> {
    let WrapContext { owner, key } = context;
    format!("stead\0{}\0{owner}\0{}", owner.len(), key.0).into_bytes()
}

/// Returns the key with the digest of its context.
pub(super) fn bind(key: &DataKey, context: &WrapContext) -> Zeroizing<Vec<u8>> {
    let digest = Sha256::digest(context_bytes(context));
    Zeroizing::new([key.expose().as_slice(), digest.as_slice()].concat())
}

/// Result of opening a bound key.
pub(super) enum Opened {
    Key(DataKey),
    /// The key was wrapped for another context.
    OtherContext,
    /// The bytes are not a bound key.
    Malformed,
}

pub(super) fn open(bytes: &[u8], context: &WrapContext) -> Opened {
    let Some((key, digest)) = bytes.split_at_checked(KEY) else { return Opened::Malformed };
    let Ok(key) = <[u8; KEY]>::try_from(key) else { return Opened::Malformed };
    match digest {
        digest if digest.len() != KEY => Opened::Malformed,
        // The digest is not secret: the context is in the state.
        digest if digest == Sha256::digest(context_bytes(context)).as_slice() => {
            Opened::Key(DataKey::new(key))
        }
        _ => Opened::OtherContext,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stead_model::KeyId;

    fn context(owner: &str, key: &str) -> WrapContext {
        WrapContext { owner: owner.to_owned(), key: KeyId(key.to_owned()) }
    }

    #[test]
    fn bound_key_opens_only_for_its_context() {
        let bytes = bind(&DataKey::new([7; 32]), &context("stack:a", "k1"));
        assert!(
            matches!(open(&bytes, &context("stack:a", "k1")), Opened::Key(key) if *key.expose() == [7; 32])
        );
        for other in [context("stack:b", "k1"), context("stack:a", "k2"), context("stack:a\0k1", "")] {
            assert!(matches!(open(&bytes, &other), Opened::OtherContext));
        }
        for length in [0, 31, 32, 63] {
            assert!(matches!(open(&bytes[..length], &context("stack:a", "k1")), Opened::Malformed));
        }
    }
}
