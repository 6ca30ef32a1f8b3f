//! A type for every kind of id, so that the compiler tells them apart.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::hex;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            pub fn next(self) -> $name {
                $name(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

text_id!(
    /// Type of a resource: `local.File`, or the class name of a group.
    TypeToken
);
text_id!(
    /// Id that the provider gave to the physical resource.
    PhysicalId
);
text_id!(
    /// UUID of a stack. It never changes and is never reused.
    StackId
);
text_id!(
    /// Id of a run.
    RunId
);
text_id!(
    /// Identity of a resource, which renames and replacements keep.
    Uid
);
number_id!(
    /// Counts the runs that opened the stack. A run with an older epoch is fenced.
    Epoch(u64)
);
number_id!(
    /// Position of an append in the journal of an epoch.
    Seq(u64)
);
number_id!(
    /// Number of an operation in an epoch.
    OpId(u64)
);
number_id!(
    /// Counts the copies of a resource: each replacement makes the next generation.
    Generation(u32)
);

/// Name of an operation that is under way, at its service or on its machine: a request token, a process group.
///
/// It is recorded and shown as it is. Its form keeps values of resources out of it: 1 to 128 letters, digits and `-._+/=`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OperationToken(String);

/// The text does not have the form of an operation token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token has 1 to 128 letters, digits and `-._+/=`")]
pub struct NotAToken;

impl OperationToken {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for OperationToken {
    type Error = NotAToken;

    fn try_from(text: String) -> Result<OperationToken, NotAToken> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-._+/=".contains(&byte);
        let fits = (1..=128).contains(&text.len()) && text.bytes().all(known);
        if fits { Ok(OperationToken(text)) } else { Err(NotAToken) }
    }
}

impl From<OperationToken> for String {
    fn from(token: OperationToken) -> String {
        token.0
    }
}

impl fmt::Display for OperationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TypeToken {
    /// Returns the name of the provider that serves the type: the part before the first dot.
    pub fn provider(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }
}

impl Uid {
    /// Derives a uid. It is not random, so that the same snapshot and graph always give the same plan.
    pub fn derive(stack: &StackId, first_name: &str, counter: u64) -> Uid {
        let mut hash = Sha256::new();
        for part in [stack.as_str(), first_name, &counter.to_string()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Uid(hex(&hash.finalize()[..16]))
    }
}

/// A reference to one copy of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CopyRef {
    pub uid: Uid,
    pub generation: Generation,
}

impl fmt::Display for CopyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.uid, self.generation)
    }
}

/// A SHA-256 digest, in hex.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(hex(&Sha256::digest(bytes)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uid_parts_are_framed_by_their_lengths() {
        let a = Uid::derive(&StackId("s1".into()), "x", 1);
        let b = Uid::derive(&StackId("s".into()), "1x", 1);
        assert_ne!(a, b);
        assert_eq!(a, Uid::derive(&StackId("s1".into()), "x", 1));
        assert_eq!(a.as_str().len(), 32);
    }

    #[test]
    fn provider_is_the_first_part_of_the_type() {
        assert_eq!(TypeToken("aws.s3.Bucket".into()).provider(), "aws");
    }
}
