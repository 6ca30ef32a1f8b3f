//! Ownership: each real resource belongs to one stack, and a mark at the provider names that stack.
//!
//! A provider that can mark its real resources implements [`Ownership`]. **Invariants:** a missing mark means that the
//! owner is unknown and never refuses anything; a mark is believed only while the state that it names still records
//! the resource.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Deserializer, Serialize};
use stead_model::{Digest, Map, Name, PhysicalId, PhysicalIdentity, Resource, StackId, TypeToken, Uid};

/// A resource as a plan or a record describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub ty: TypeToken,
    /// The physical id, which alone identifies a resource whose name the service makes. `None` before a create.
    pub id: Option<PhysicalId>,
    /// The inputs; for a resource that was looked up, its outputs too.
    pub properties: Map,
}

impl Description {
    /// Describes a recorded resource.
    pub fn of_record(resource: &Resource) -> Description {
        Description { ty: resource.ty.clone(), id: resource.id.clone(), properties: resource.inputs.clone() }
    }
}

/// Where the state of a stack is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatePlace {
    /// The store; for a store of files, its folder.
    pub store: String,
    pub project: String,
    /// The environment with its namespace.
    pub environment: String,
    pub target: String,
}

/// Start of a part of a place that is known by its digest only.
const DIGEST: &str = "sha256:";

/// Hexadecimal digits of the digest of a part.
const DIGITS: usize = 32;

impl StatePlace {
    /// Returns the digest of a part of a place, for a mark that has no room for the part. `:` and any text may follow it.
    pub fn digest_of(part: &str) -> String {
        format!("{DIGEST}{:.DIGITS$}", Digest::of(part.as_bytes()).as_str())
    }

    /// Returns this place of a mark with the parts of `known` instead of their digests.
    #[must_use]
    pub fn resolved(&self, known: &StatePlace) -> StatePlace {
        let part = |part: &str, known: &str| {
            let is_known = digest_in(part).is_some_and(|digest| digest == StatePlace::digest_of(known));
            if is_known { known.to_owned() } else { part.to_owned() }
        };
        StatePlace {
            store: part(&self.store, &known.store),
            project: part(&self.project, &known.project),
            environment: part(&self.environment, &known.environment),
            target: part(&self.target, &known.target),
        }
    }

    /// Returns true if a part is known by its digest only, so that the state cannot be opened.
    pub fn is_digest(&self) -> bool {
        let StatePlace { store, project, environment, target } = self;
        [store, project, environment, target].into_iter().any(|part| digest_in(part).is_some())
    }
}

/// Returns the digest that a part of a mark has in place of its text.
fn digest_in(part: &str) -> Option<&str> {
    let end = DIGEST.len() + DIGITS;
    let is_digest = part.starts_with(DIGEST) && part[DIGEST.len()..].bytes().take(DIGITS).all(is_digit);
    let (digest, rest) = part.split_at_checked(end).filter(|_| is_digest)?;
    (rest.is_empty() || rest.starts_with(':')).then_some(digest)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

impl fmt::Display for StatePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StatePlace { store, project, environment, target } = self;
        write!(f, "project {project}, environment {environment}, target {target}, state in {store}")
    }
}

/// The mark on a real resource, which names its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnerMark {
    pub stack: StackId,
    pub uid: Uid,
    /// The name of the resource when it was marked, for people.
    #[serde(deserialize_with = "name_in_any_spelling")]
    pub name: Name,
    /// Where to look whether the stack still records the resource.
    pub place: StatePlace,
}

/// Reads a name that may have the spelling of earlier versions, because marks outlive them.
fn name_in_any_spelling<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let text = String::deserialize(deserializer)?;
    let readings = Name::readings(&text).map_err(serde::de::Error::custom)?;
    readings.into_iter().next().ok_or_else(|| serde::de::Error::custom("not a name"))
}

/// The operation that a claim belongs to. A provider whose marks are part of the resource leaves imports unmarked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    Create,
    Update,
    Import,
    /// The record moved to another stack, or its stack has another name.
    Move,
}

/// Result of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Made,
    /// Another mark than the expected one is there.
    Lost,
}

/// The marks cannot be read or written. No operation fails because of this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarksUnavailable(pub String);

/// Marks that name the owners of real resources.
#[async_trait]
pub trait Ownership: Send + Sync {
    /// Returns the identities of each described resource. A resource has none if it exists only in state, or if
    /// neither its id nor its properties tell.
    async fn identities(&self, described: Vec<Description>) -> Vec<Vec<PhysicalIdentity>>;

    /// Returns true if different inputs can name one real resource, as two paths of one file do.
    ///
    /// A plan asks for identities only then, and must not wait for a service: they come from the inputs and this machine. With
    /// `false` a plan compares the inputs as they are spelled.
    fn has_spellings(&self) -> bool;

    /// Returns the mark on each real resource, in order. A mark that cannot be understood counts as missing.
    ///
    /// A mark that cannot be read leaves the others as they are.
    async fn owners(&self, of: Vec<PhysicalIdentity>) -> Vec<Result<Option<OwnerMark>, MarksUnavailable>>;

    /// Marks a real resource. The mark that is there must be the expected one.
    async fn claim(
        &self,
        identity: PhysicalIdentity,
        owner: OwnerMark,
        expected: Option<OwnerMark>,
        occasion: Occasion,
    ) -> Result<Claim, MarksUnavailable>;

    /// Removes the mark if it is this one.
    async fn release(&self, identity: PhysicalIdentity, owner: OwnerMark) -> Result<(), MarksUnavailable>;

    /// Returns true if a mark is a part of the real resource: a create and an update write it, and a deletion removes it.
    ///
    /// A create is then not preceded by a question about the owner, because the provider refuses to create what exists.
    fn marks_are_inside(&self) -> bool {
        false
    }

    /// Returns all marks that the provider can list, sorted by identity.
    async fn marks(&self) -> Result<Vec<(PhysicalIdentity, OwnerMark)>, MarksUnavailable>;
}
