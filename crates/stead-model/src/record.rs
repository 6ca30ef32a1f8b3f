//! What state remembers of a resource.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::unique::unique_keys;
use crate::{
    CopyRef, Generation, Level, Map, MarkSource, Marked, Marks, Name, PhysicalId, RecordedMarks,
    STATE_PROTECT, SourceRef, TypeToken, Uid,
};

/// Where a copy of a resource is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    #[default]
    Live,
    /// Replaced by a newer generation; the real thing still has to be deleted.
    Condemned,
    /// Deleted so that its replacement can be made; the name is still taken.
    Replacing,
}

/// Whether the real thing goes when its declaration does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionPolicy {
    Delete,
    Retain,
}

/// What binds a resource to others, besides the values and the order that it depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ties {
    /// The provisioned resource whose class allocated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Uid>,
    /// The provider resource that serves it; `None`: the target's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<CopyRef>,
    /// When that one is deleted, this one is gone with it and needs no call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_with: Option<Uid>,
    /// When one of these is replaced, this one is too. Sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replace_with: Vec<Uid>,
    /// Names that it had, or that the program says it had. Sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Name>,
}

impl Ties {
    pub fn is_empty(&self) -> bool {
        *self == Ties::default()
    }
}

/// One copy of a resource, as it was last known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    pub uid: Uid,
    pub generation: Generation,
    pub name: Name,
    #[serde(rename = "type")]
    pub resource: TypeToken,
    #[serde(default, skip_serializing_if = "is_live")]
    pub lifecycle: Lifecycle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<PhysicalId>,
    /// What was last asked for.
    #[serde(default, deserialize_with = "unique_keys", skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: Map,
    /// What the provider answered.
    #[serde(default, deserialize_with = "unique_keys", skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: Map,
    /// The copies that it was made with, sorted. One that is gone stands for the live copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<CopyRef>,
    /// Which of them each property's value came from.
    #[serde(default, deserialize_with = "unique_keys", skip_serializing_if = "BTreeMap::is_empty")]
    pub property_dependencies: BTreeMap<String, Vec<Uid>>,
    #[serde(default, skip_serializing_if = "Ties::is_empty")]
    pub ties: Ties,
    #[serde(default, skip_serializing_if = "is_false")]
    pub prevent_delete: bool,
    /// What held at the last success; `None`: nobody had said anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    pub source: SourceRef,
    /// Where the two above come from.
    #[serde(default, skip_serializing_if = "RecordedMarks::is_empty")]
    pub marks: RecordedMarks,
    /// It was pinned when it was last applied.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pinned: bool,
}

impl Resource {
    pub fn copy(&self) -> CopyRef {
        CopyRef { uid: self.uid.clone(), generation: self.generation }
    }

    /// Where it stands in every sorted list.
    pub fn place(&self) -> (&Name, &Uid, Generation) {
        (&self.name, &self.uid, self.generation)
    }

    /// It may be neither deleted nor lost sight of.
    pub fn prevents_deletion(&self) -> bool {
        self.prevent_delete || self.marks.protected
    }

    /// The marks as they are recorded, with where they were set.
    pub fn recorded_marks(&self) -> Marks {
        let own = |key: &str| {
            let level = Level::Resource(self.name.to_string());
            Arc::new(MarkSource { level, key: key.to_owned(), place: None })
        };
        let set = |source: &Option<Arc<MarkSource>>, key: &str| source.clone().unwrap_or_else(|| own(key));
        let prevented = || {
            let said = self.prevent_delete || self.marks.prevent_delete.is_some();
            let source = || set(&self.marks.prevent_delete, "preventDelete");
            said.then(|| Marked { value: self.prevent_delete, source: source() })
        };
        let protected = || Marked { value: true, source: own(STATE_PROTECT) };
        let policy = |value| Marked { value, source: set(&self.marks.deletion_policy, "deletionPolicy") };
        Marks {
            prevent_delete: if self.marks.protected { Some(protected()) } else { prevented() },
            deletion_policy: self.deletion_policy.map(policy),
        }
    }

    /// Records what holds now. What was set on the record itself stays.
    pub fn set_marks(&mut self, marks: &Marks) {
        self.prevent_delete = marks.prevents_deletion();
        self.deletion_policy = marks.policy();
        self.marks.prevent_delete = marks.prevent_delete.as_ref().map(|mark| mark.source.clone());
        self.marks.deletion_policy = marks.deletion_policy.as_ref().map(|mark| mark.source.clone());
    }

    /// Whether the record says something else than these marks, or that somebody else set them. Only a line
    /// that moved is no difference.
    pub fn marks_differ(&self, marks: &Marks) -> bool {
        let other = |recorded: &Option<Arc<MarkSource>>, now: Option<&Arc<MarkSource>>| match (recorded, now)
        {
            (Some(recorded), Some(now)) => !recorded.same_setting(now),
            (recorded, now) => recorded.is_some() != now.is_some(),
        };
        self.prevent_delete != marks.prevents_deletion()
            || self.deletion_policy != marks.policy()
            || other(&self.marks.prevent_delete, marks.prevent_delete.as_ref().map(|mark| &mark.source))
            || other(&self.marks.deletion_policy, marks.deletion_policy.as_ref().map(|mark| &mark.source))
    }

    /// A property as a program reads it: what the provider answered, else what was asked for.
    pub fn property(&self, name: &str) -> Option<&crate::Value> {
        self.outputs.get(name).or_else(|| self.inputs.get(name))
    }
}

fn is_live(lifecycle: &Lifecycle) -> bool {
    *lifecycle == Lifecycle::Live
}

fn is_false(flag: &bool) -> bool {
    !*flag
}
