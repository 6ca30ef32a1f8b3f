//! New types for every id, so that one cannot stand in for another.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

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
    /// What a resource's type is called: `local.File`, or the class name of a group.
    TypeToken
);
text_id!(
    /// The provider's own id of a real thing.
    PhysicalId
);
text_id!(
    /// The stack's uuid. It never changes and never repeats.
    StackId
);
text_id!(
    /// One run of `up`, `destroy` or `refresh`.
    RunId
);
text_id!(
    /// A resource's identity. Names may change, this never does; replacement keeps it.
    Uid
);
number_id!(
    /// Counts the times a run was opened. A writer with an older one is fenced.
    Epoch(u64)
);
number_id!(
    /// The position of an append within an epoch's journal.
    Seq(u64)
);
number_id!(
    /// An operation within an epoch.
    OpId(u64)
);
number_id!(
    /// Counts the physical incarnations of one resource: a replacement has the next one.
    Generation(u32)
);

impl TypeToken {
    /// The provider that serves the type: what stands before the first dot.
    pub fn provider(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }
}

impl Uid {
    /// Derived, not drawn, so that the same snapshot and graph always give the same plan.
    pub fn derive(stack: &StackId, first_name: &str, counter: u64) -> Uid {
        let mut hash = Sha256::new();
        for part in [stack.as_str(), first_name, &counter.to_string()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Uid(hex(&hash.finalize()[..16]))
    }
}

/// One physical copy of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CopyRef {
    pub uid: Uid,
    pub generation: Generation,
}

impl fmt::Display for CopyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.uid, self.generation)
    }
}

/// SHA-256 of some bytes, in hex.
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

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_are_framed_so_that_parts_cannot_run_together() {
        let a = Uid::derive(&StackId("s1".into()), "x", 1);
        let b = Uid::derive(&StackId("s".into()), "1x", 1);
        assert_ne!(a, b);
        assert_eq!(a, Uid::derive(&StackId("s1".into()), "x", 1));
        assert_eq!(a.as_str().len(), 32);
    }

    #[test]
    fn a_type_names_its_provider() {
        assert_eq!(TypeToken("aws.s3.Bucket".into()).provider(), "aws");
    }
}
