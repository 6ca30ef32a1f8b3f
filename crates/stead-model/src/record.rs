//! The record of a resource in state.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    CopyRef, Generation, Level, Map, MarkSource, Marked, Marks, Name, PathPattern, PhysicalId, RecordedMarks,
    STATE_PROTECT, SortedMap, SourceRef, Text, TypeToken, Uid, Value,
};

/// Lifecycle of a copy of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    #[default]
    Live,
    /// Replaced by a newer generation; the physical resource still has to be deleted.
    Condemned,
    /// Deleted before its replacement is created; the record keeps the name.
    Replacing,
}

/// Whether the physical resource is deleted when its declaration is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionPolicy {
    Delete,
    Retain,
}

/// Relations of a resource to others, besides its dependencies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Ties {
    /// The provisioned resource whose class allocated this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Uid>,
    /// The provider resource that serves this one. `None` means the default provider of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<CopyRef>,
    /// The container: deleting that resource deletes this one too, without a call of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_with: Option<Uid>,
    /// Resources whose replacement replaces this one too. Sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_with: Vec<Uid>,
    /// Former names, from earlier runs and from the program's `aliases`. Sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Name>,
}

impl Ties {
    pub fn is_empty(&self) -> bool {
        *self == Ties::default()
    }
}

/// Data that a provider keeps with a copy. Stead stores it and hands it back, and never reads it.
///
/// An update, a rename and a refresh keep the data unless the provider's answer contains new data. A replacement starts
/// without data, because the old data belongs to the old physical resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ProviderData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private: Option<PrivateData>,
    /// Version of the provider's schema that wrote the inputs and outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<u64>,
    /// The provider's structured identity of the physical resource, where the id alone is not enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Value>,
}

/// Private bytes of a provider, as base64 text with padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PrivateData(String);

impl PrivateData {
    pub fn as_base64(&self) -> &str {
        &self.0
    }
}

/// The text is not base64 with padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("private data is not base64")]
pub struct NotBase64;

impl TryFrom<String> for PrivateData {
    type Error = NotBase64;

    fn try_from(text: String) -> Result<PrivateData, NotBase64> {
        let body = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(&text);
        let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
        let whole = text.len().is_multiple_of(4);
        if whole && body.bytes().all(known) { Ok(PrivateData(text)) } else { Err(NotBase64) }
    }
}

impl From<PrivateData> for String {
    fn from(data: PrivateData) -> String {
        data.0
    }
}

/// The record of one copy of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resource {
    pub uid: Uid,
    pub generation: Generation,
    pub name: Name,
    #[serde(rename = "type")]
    pub ty: TypeToken,
    #[serde(default, skip_serializing_if = "is_live")]
    pub lifecycle: Lifecycle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PhysicalId>,
    /// Inputs of the last successful operation.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub inputs: Map,
    /// Outputs that the provider returned.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub outputs: Map,
    /// Copies that this one was created or updated with, sorted. A reference to a deleted copy means the current one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<CopyRef>,
    /// The dependencies that each property's value came from.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub property_dependencies: SortedMap<Text, Vec<Uid>>,
    #[serde(default, skip_serializing_if = "Ties::is_empty")]
    pub ties: Ties,
    #[serde(default, skip_serializing_if = "is_false")]
    pub prevent_delete: bool,
    /// Deletion policy in effect at the last successful operation, if one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    pub source: SourceRef,
    /// Sources of `prevent_delete` and `deletion_policy`.
    #[serde(default, skip_serializing_if = "RecordedMarks::is_empty")]
    pub marks: RecordedMarks,
    /// Whether the resource was pinned when it was last applied.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pinned: bool,
    /// Serial of the stack when this record last changed. The fold of the journal sets it; 0 in a record that was never
    /// folded, or that format 1 stored.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub version: u64,
    /// Whether the resource was imported and no program has declared it since.
    #[serde(default, skip_serializing_if = "is_false")]
    pub imported: bool,
    /// Data that the provider keeps with the copy. Shared, because few resources have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<Arc<ProviderData>>,
    /// Properties that the option `sensitive` makes secret, for outputs that a later read returns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitive: Vec<PathPattern>,
}

impl Resource {
    /// Makes the record of a first, live copy without physical id, values, dependencies, ties or marks.
    ///
    /// `Resource { inputs, ..Resource::new(uid, name, ty, source) }` sets more.
    pub fn new(uid: Uid, name: Name, ty: TypeToken, source: SourceRef) -> Resource {
        Resource {
            uid,
            generation: Generation(1),
            name,
            ty,
            lifecycle: Lifecycle::Live,
            id: None,
            inputs: Map::new(),
            outputs: Map::new(),
            dependencies: Vec::new(),
            property_dependencies: SortedMap::new(),
            ties: Ties::default(),
            prevent_delete: false,
            deletion_policy: None,
            source,
            marks: RecordedMarks::default(),
            pinned: false,
            version: 0,
            imported: false,
            provider_data: None,
            sensitive: Vec::new(),
        }
    }

    pub fn copy(&self) -> CopyRef {
        CopyRef { uid: self.uid.clone(), generation: self.generation }
    }

    /// Returns the sort key of every list of records.
    pub fn sort_key(&self) -> (&Name, &Uid, Generation) {
        (&self.name, &self.uid, self.generation)
    }

    /// Returns true if the resource may be neither deleted nor forgotten.
    pub fn prevents_deletion(&self) -> bool {
        self.recorded_prevention() || self.marks.protected
    }

    /// Returns the deletion policy that the last run recorded, if one was set.
    pub fn recorded_policy(&self) -> Option<DeletionPolicy> {
        self.deletion_policy.filter(|_| lasts(&self.marks.deletion_policy))
    }

    /// Returns true if the last run recorded prevent-delete.
    pub fn recorded_prevention(&self) -> bool {
        self.prevent_delete && lasts(&self.marks.prevent_delete)
    }

    /// Returns the recorded marks with their sources.
    pub fn recorded_marks(&self) -> Marks {
        let own = |key: &str| {
            let level = Level::Resource(self.name.to_string());
            Arc::new(MarkSource { level, key: key.to_owned(), place: None })
        };
        let set = |source: &Option<Arc<MarkSource>>, key: &str| source.clone().unwrap_or_else(|| own(key));
        let prevented = || {
            let is_set = self.prevent_delete || self.marks.prevent_delete.is_some();
            let source = || set(&self.marks.prevent_delete, "preventDelete");
            let is_set = is_set && lasts(&self.marks.prevent_delete);
            is_set.then(|| Marked { value: self.prevent_delete, source: source() })
        };
        let protected = || Marked { value: true, source: own(STATE_PROTECT) };
        let policy = |value| Marked { value, source: set(&self.marks.deletion_policy, "deletionPolicy") };
        Marks {
            prevent_delete: if self.marks.protected { Some(protected()) } else { prevented() },
            deletion_policy: self.recorded_policy().map(policy),
        }
    }

    /// Records the marks in effect. The protection of the record itself stays.
    pub fn set_marks(&mut self, marks: &Marks) {
        self.prevent_delete = marks.prevents_deletion();
        self.deletion_policy = marks.policy();
        self.marks.prevent_delete = marks.prevent_delete.as_ref().map(|mark| mark.source.clone());
        self.marks.deletion_policy = marks.deletion_policy.as_ref().map(|mark| mark.source.clone());
    }

    /// Returns true if the recorded marks differ from these in value or source. A moved line is not a difference.
    pub fn marks_differ(&self, marks: &Marks) -> bool {
        let other = |recorded: &Option<Arc<MarkSource>>, now: Option<&Arc<MarkSource>>| match (
            recorded.as_ref().filter(|_| lasts(recorded)),
            now,
        ) {
            (Some(recorded), Some(now)) => !recorded.same_setting(now),
            (recorded, now) => recorded.is_some() != now.is_some(),
        };
        self.recorded_prevention() != marks.prevents_deletion()
            || self.recorded_policy() != marks.policy()
            || other(&self.marks.prevent_delete, marks.prevent_delete.as_ref().map(|mark| &mark.source))
            || other(&self.marks.deletion_policy, marks.deletion_policy.as_ref().map(|mark| &mark.source))
    }

    /// Takes over every mark and the pin that the other settings add to the recorded ones. No protection is removed.
    ///
    /// Returns true if the record changed.
    pub fn add_protection(&mut self, marks: &Marks, pinned: Option<bool>) -> bool {
        let (prevents, retains) = (
            marks.prevents_deletion() && !self.prevents_deletion(),
            marks.retains() && self.recorded_policy() != Some(DeletionPolicy::Retain),
        );
        if prevents {
            self.prevent_delete = true;
            self.marks.prevent_delete = marks.prevent_delete.as_ref().map(|mark| mark.source.clone());
        }
        if retains {
            self.deletion_policy = marks.policy();
            self.marks.deletion_policy = marks.deletion_policy.as_ref().map(|mark| mark.source.clone());
        }
        let pins = pinned == Some(true) && !self.pinned;
        self.pinned |= pins;
        prevents || retains || pins
    }

    /// Returns a property as a program reads it: the output, or else the input.
    pub fn property(&self, name: &str) -> Option<&Value> {
        self.outputs.get(name).or_else(|| self.inputs.get(name))
    }
}

/// Returns true unless a flag set the mark: a flag is for one run, and records of old versions have such marks.
fn lasts(source: &Option<Arc<MarkSource>>) -> bool {
    source.as_ref().is_none_or(|source| source.level != Level::Flag)
}

fn is_live(lifecycle: &Lifecycle) -> bool {
    *lifecycle == Lifecycle::Live
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !*flag
}
