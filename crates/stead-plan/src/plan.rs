//! What will be done, in which order, and why.

use std::collections::BTreeMap;

use serde::Serialize;
use stead_guard::Outer;
use stead_model::{
    CopyRef, Generation, Input, Map, Name, NodeId, PhysicalId, PropertyPath, SourceRef, TypeToken, Uid,
};
use stead_schema::{Change, ReplaceOrder};
use stead_state::AfterDelete;

use crate::Purpose;
use crate::correlate::{Ambiguity, Match, Suggestion};
use crate::noted::Noted;

/// A step's position in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct StepId(pub usize);

/// Which copy a create makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Incarnation {
    /// A new resource; its uid is derived with this counter.
    First { counter: u64 },
    /// The next copy of a resource that has a uid already.
    Next { uid: Uid, generation: Generation },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum Action {
    /// Inputs may hold what is known only when the step runs.
    Create {
        incarnation: Incarnation,
        inputs: BTreeMap<String, Input>,
    },
    /// Something that exists already becomes the resource, as it was found.
    Import {
        incarnation: Incarnation,
        id: PhysicalId,
        inputs: Map,
        outputs: Map,
    },
    Update {
        copy: CopyRef,
        inputs: BTreeMap<String, Input>,
    },
    Delete {
        copy: CopyRef,
        after_delete: AfterDelete,
    },
    /// Only the record changes: dependencies, ties or marks.
    Record {
        copy: CopyRef,
    },
    /// The name changes; the resource is kept.
    Move {
        copy: CopyRef,
        from: Name,
        to: Name,
    },
    /// Only the record goes: nothing real is left, or it stays and is not managed any more.
    Forget {
        copy: CopyRef,
        after_delete: AfterDelete,
    },
    /// Nothing is done; it is over when all before it are.
    Gather,
}

/// Whether a replacement must happen, or depends on a value that is known only when the step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// If the value turns out to be the old one, nothing is replaced.
    Possible,
    Certain,
}

/// The tie through which one replacement leads to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "tie")]
pub enum Drag {
    /// `replaceWith` names it.
    ReplaceWith { name: Name },
    /// `deletedWith` names it: what was in it is gone with it.
    DeletedWith { name: Name },
    /// It serves the resource, and is or leads somewhere else now: another region, another account.
    Provider { name: Name },
}

impl Drag {
    /// The other resource.
    pub fn name(&self) -> &Name {
        match self {
            Drag::ReplaceWith { name } | Drag::DeletedWith { name } | Drag::Provider { name } => name,
        }
    }
}

/// Why a step is there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Why {
    New,
    /// The real thing was deleted outside, or a replacement was interrupted after its deletion.
    Missing,
    Changed,
    /// These changes cannot be made in place.
    Replaced {
        forced_by: Vec<PropertyPath>,
        order: ReplaceOrder,
        certainty: Certainty,
        #[serde(skip_serializing_if = "Option::is_none")]
        drag: Option<Drag>,
    },
    /// The old half of a replacement.
    OldCopy,
    Removed,
    Destroyed,
    LeftOver,
    /// Its deletion policy keeps the real thing.
    Retained,
    /// Its deletion policy keeps the real thing where its replacement has to be: no guard allows that.
    InTheWay,
    /// It is gone with what it was in.
    GoneWith {
        name: Name,
    },
    /// The program says that it exists already.
    Imported,
    Moved {
        by: Match,
    },
    /// Another resource takes its name.
    MadeRoom,
    /// Only the record is not as it should be.
    Bookkeeping {
        noted: Vec<Noted>,
    },
    /// A group, or the end of everything that is wanted.
    Gathering,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    #[serde(flatten)]
    pub action: Action,
    #[serde(flatten)]
    pub why: Why,
    pub name: Name,
    #[serde(rename = "type")]
    pub resource: TypeToken,
    pub source: SourceRef,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// The resources whose own changes make values of this one unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dragged_by: Vec<Name>,
    /// Steps that must have succeeded before this one starts.
    pub after: Vec<StepId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The properties whose new values come from the pinfile, and not from the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from_pinfile: Vec<String>,
}

/// How many resources each thing happens to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub create: usize,
    pub update: usize,
    pub replace: usize,
    pub delete: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub import: usize,
    #[serde(rename = "move", skip_serializing_if = "is_zero")]
    pub moved: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub forget: usize,
    pub unchanged: usize,
    /// Not selected: neither looked at nor touched.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_alone: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Everything that a run may do. Execution may do less, never more.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    pub steps: Vec<Step>,
    pub summary: Summary,
    /// The stack's outputs, as far as they are known.
    pub outputs: BTreeMap<String, Input>,
    /// Where the recorded outputs differ from these.
    pub output_changes: Vec<Change>,
    /// How many uids count as given out once this plan has run.
    pub uids: u64,
    /// The existing copy of each declared resource that has one.
    pub existing: BTreeMap<NodeId, CopyRef>,
    /// Removed and new resources that may be one and the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
    /// Those where nobody can tell which is which.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ambiguities: Vec<Ambiguity>,
    /// What it was made for.
    #[serde(skip_serializing_if = "is_up")]
    pub purpose: Purpose,
    /// The declared resources that stay as they are. Nothing is done about them, so they are no steps.
    #[serde(skip)]
    pub same: Vec<NodeId>,
    /// The marks around the program, for what the program does not declare.
    #[serde(skip_serializing_if = "Outer::is_empty")]
    pub outer: Outer,
}

fn is_up(purpose: &Purpose) -> bool {
    *purpose == Purpose::Up
}

impl Plan {
    /// There is nothing to do and nothing to write.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.output_changes.is_empty()
    }

    /// Whether something in it looks like a move that was not declared as one.
    pub fn looks_like_moves(&self) -> bool {
        !self.ambiguities.is_empty() || self.suggestions.iter().any(Suggestion::stops)
    }
}
