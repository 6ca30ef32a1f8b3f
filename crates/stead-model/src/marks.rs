//! Marks: settings that restrict the deletion of a resource, each with the level and place where it was set.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{DeletionPolicy, SourceRef};

/// The level at which a mark is set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "level", content = "of")]
pub enum Level {
    Resource(String),
    /// A resource or a group around the marked one.
    Enclosing(String),
    Namespace(String),
    Environment(String),
    Project(String),
    /// A command-line flag, or its environment variable.
    Flag,
    BuiltIn,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Resource(name) => write!(f, "resource \"{name}\""),
            Level::Enclosing(name) => write!(f, "enclosing \"{name}\""),
            Level::Namespace(name) => write!(f, "namespace \"{name}\""),
            Level::Environment(name) => write!(f, "environment \"{name}\""),
            Level::Project(name) => write!(f, "project \"{name}\""),
            Level::Flag => f.write_str("the command line"),
            Level::BuiltIn => f.write_str("built in"),
        }
    }
}

/// Where a mark was set, and under which key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "StoredSource")]
pub struct MarkSource {
    #[serde(flatten)]
    pub level: Level,
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<SourceRef>,
}

/// The fields of a [`MarkSource`] as they are stored, all at one level. An unknown field is refused, which serde cannot
/// do for a flattened field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSource {
    level: String,
    of: Option<String>,
    key: String,
    place: Option<SourceRef>,
}

/// A stored level is unknown, or it has a name too many or too few.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown level {0:?} of a mark")]
struct UnknownLevel(String);

impl TryFrom<StoredSource> for MarkSource {
    type Error = UnknownLevel;

    fn try_from(stored: StoredSource) -> Result<MarkSource, UnknownLevel> {
        let StoredSource { level, of, key, place } = stored;
        let level = match (level.as_str(), of) {
            ("resource", Some(of)) => Level::Resource(of),
            ("enclosing", Some(of)) => Level::Enclosing(of),
            ("namespace", Some(of)) => Level::Namespace(of),
            ("environment", Some(of)) => Level::Environment(of),
            ("project", Some(of)) => Level::Project(of),
            ("flag", None) => Level::Flag,
            ("built-in", None) => Level::BuiltIn,
            _ => return Err(UnknownLevel(level)),
        };
        Ok(MarkSource { level, key, place })
    }
}

impl MarkSource {
    /// Returns true if printing the source could send control characters to a terminal.
    pub fn has_control_characters(&self) -> bool {
        let of = match &self.level {
            Level::Resource(name)
            | Level::Enclosing(name)
            | Level::Namespace(name)
            | Level::Environment(name)
            | Level::Project(name) => name,
            Level::Flag | Level::BuiltIn => "",
        };
        let file = self.place.as_ref().map(|place| place.file.as_str()).unwrap_or_default();
        [of, &self.key, file].iter().any(|text| text.chars().any(char::is_control))
    }

    /// Returns true if both have the same key at the same level. Lines may differ, and so may the name of the marked resource.
    pub fn same_setting(&self, other: &MarkSource) -> bool {
        let own = matches!((&self.level, &other.level), (Level::Resource(_), Level::Resource(_)));
        (own || self.level == other.level) && self.key == other.key
    }
}

/// The form for messages: `s3/prevent-delete on environment "prod", stead.toml:7`.
impl fmt::Display for MarkSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.key, self.level)?;
        match &self.place {
            Some(place) => write!(f, ", {}:{}", place.file, place.line),
            None => Ok(()),
        }
    }
}

/// The value of a mark, with its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marked<T> {
    pub value: T,
    /// Shared, because one setting may apply to many resources.
    pub source: Arc<MarkSource>,
}

/// The marks in effect for one resource, from its own level and all outer ones. `None` means not set at any level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Marks {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prevent_delete: Option<Marked<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<Marked<DeletionPolicy>>,
}

impl Marks {
    pub fn is_empty(&self) -> bool {
        *self == Marks::default()
    }

    pub fn prevents_deletion(&self) -> bool {
        self.prevent_delete.as_ref().is_some_and(|mark| mark.value)
    }

    pub fn policy(&self) -> Option<DeletionPolicy> {
        self.deletion_policy.as_ref().map(|mark| mark.value)
    }

    pub fn retains(&self) -> bool {
        self.policy() == Some(DeletionPolicy::Retain)
    }

    /// Returns the marks with the protection that others have and these have not.
    #[must_use]
    pub fn with_protection(mut self, others: &Marks) -> Marks {
        if others.prevents_deletion() && !self.prevents_deletion() {
            self.prevent_delete.clone_from(&others.prevent_delete);
        }
        if others.retains() && !self.retains() {
            self.deletion_policy.clone_from(&others.deletion_policy);
        }
        self
    }
}

/// Sources of the marks in a record, and the protection set on the record itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RecordedMarks {
    /// Source of `preventDelete`, if it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prevent_delete: Option<Arc<MarkSource>>,
    /// Source of `deletionPolicy`, if it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<Arc<MarkSource>>,
    /// The record was protected directly. Applying a program does not remove this protection.
    #[serde(skip_serializing_if = "is_false")]
    pub protected: bool,
}

/// Key of the protection that is set on a record itself, in messages.
pub const STATE_PROTECT: &str = "stead state protect";

impl RecordedMarks {
    pub fn is_empty(&self) -> bool {
        *self == RecordedMarks::default()
    }
}

fn is_false(flag: &bool) -> bool {
    !*flag
}
