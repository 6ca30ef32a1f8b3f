//! The plan: steps, their order and their reasons.

use std::collections::BTreeMap;

use serde::Serialize;
use stead_guard::OuterLevels;
use stead_model::{
    CopyRef, Generation, Inputs, Map, Name, NodeId, PhysicalId, PropertyPath, SourceRef, TypeToken, Uid,
};
use stead_schema::{Change, ReplaceOrder};
use stead_state::AfterDelete;

use crate::Purpose;
use crate::correlate::{Ambiguity, Match, MovedPlace, Suggestion};
use crate::decide::RecordChange;

/// Position of a step in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct StepId(pub usize);

/// The copy that a create makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Incarnation {
    /// The first copy of a new resource, whose uid is derived with this counter.
    First { counter: u64 },
    /// The next copy of an existing resource.
    Next { uid: Uid, generation: Generation },
}

/// The effect of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum Action {
    /// Creates a copy. Inputs may be known only when the step runs.
    Create {
        incarnation: Incarnation,
        inputs: Inputs,
    },
    /// Records an existing physical resource, as its provider read it.
    Import {
        incarnation: Incarnation,
        id: PhysicalId,
        inputs: Map,
        outputs: Map,
    },
    Update {
        copy: CopyRef,
        inputs: Inputs,
    },
    Delete {
        copy: CopyRef,
        after_delete: AfterDelete,
    },
    /// Changes only the record: dependencies, ties or marks.
    Record {
        copy: CopyRef,
    },
    /// Changes the name in the record.
    Move {
        copy: CopyRef,
        from: Name,
        to: Name,
    },
    /// Removes only the record: the physical resource does not exist any more, or is retained and no longer managed.
    Forget {
        copy: CopyRef,
        after_delete: AfterDelete,
    },
    /// Does nothing, and is done when all steps before it are.
    #[serde(rename = "gather")]
    Barrier,
}

/// Whether a replacement is certain, or depends on a value that is known only when the step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The resource is not replaced if the value turns out to be the old one.
    Possible,
    Certain,
}

/// The cause of a replacement besides changed properties: a request, or the replacement of another resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "tie")]
pub enum ReplacementCause {
    /// The other resource is named in `replaceWith`.
    ReplaceWith { name: Name },
    /// The other resource is the container, named in `deletedWith`.
    DeletedWith { name: Name },
    /// The other resource is the provider, and manages another place now: another region, another account.
    Provider { name: Name },
    /// The target's default provider serves the resource now, and manages another place than its provider did.
    DefaultProvider,
    /// The request names the resource.
    Requested,
}

impl ReplacementCause {
    /// Returns the name of the other resource, if there is one.
    pub fn name(&self) -> Option<&Name> {
        match self {
            ReplacementCause::ReplaceWith { name }
            | ReplacementCause::DeletedWith { name }
            | ReplacementCause::Provider { name } => Some(name),
            ReplacementCause::DefaultProvider | ReplacementCause::Requested => None,
        }
    }
}

/// The reason for a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Why {
    New,
    /// The physical resource was deleted outside of Stead, or a replacement was interrupted after its deletion.
    Missing,
    Changed,
    /// Some changes cannot be made in place, or another replacement causes this one.
    Replaced {
        forced_by: Vec<PropertyPath>,
        order: ReplaceOrder,
        certainty: Certainty,
        #[serde(rename = "drag", skip_serializing_if = "Option::is_none")]
        cause: Option<ReplacementCause>,
    },
    /// The resource is replaced, and this is its old copy.
    OldCopy,
    Removed,
    Destroyed,
    /// An earlier run replaced the resource and did not delete this copy.
    LeftOver,
    /// The deletion policy is to retain the physical resource.
    Retained,
    /// The deletion policy is to retain the physical resource, but its replacement needs the same physical name. Guards always refuse
    /// this.
    #[serde(rename = "in_the_way")]
    RetainedNameConflict,
    /// Deleting the container deletes the resource.
    #[serde(rename = "gone_with")]
    DeletedWithContainer {
        name: Name,
    },
    /// The program has the `import` option.
    Imported,
    Moved {
        by: Match,
    },
    /// Another resource takes the name.
    #[serde(rename = "made_room")]
    NameVacated,
    /// Only the record differs from the program.
    #[serde(rename = "bookkeeping")]
    RecordOnly {
        #[serde(rename = "noted")]
        changes: Vec<RecordChange>,
    },
    /// The step is a barrier, for a group or for all steps before the deletions.
    #[serde(rename = "gathering")]
    Barrier,
}

/// One item of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    #[serde(flatten)]
    pub action: Action,
    #[serde(flatten)]
    pub why: Why,
    pub name: Name,
    #[serde(rename = "type")]
    pub ty: TypeToken,
    pub source: SourceRef,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Resources whose changes make values of this one unknown.
    #[serde(rename = "dragged_by", skip_serializing_if = "Vec::is_empty")]
    pub unknown_from: Vec<Name>,
    /// Steps that must have succeeded before this one starts.
    pub after: Vec<StepId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Properties with frozen values, which come from the pinfile instead of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from_pinfile: Vec<String>,
}

/// Number of resources by kind of change.
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
    /// Resources that only get another name. They are counted in `moved`, and not in `unchanged`.
    #[serde(skip)]
    pub only_renamed: usize,
    /// Not selected, so neither read nor changed.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_alone: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// All steps that a run may take. The run may do less, never more.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    pub steps: Vec<Step>,
    pub summary: Summary,
    /// Outputs of the stack, as far as they are known.
    pub outputs: Inputs,
    /// Differences to the recorded outputs.
    pub output_changes: Vec<Change>,
    /// Value of the uid counter after the run.
    pub uids: u64,
    /// The current copy of each declared resource that is recorded.
    pub existing: BTreeMap<NodeId, CopyRef>,
    /// Removed and new modules or instances that may be the same, with all their resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<MovedPlace>,
    /// Pairs of a removed and a new resource that may be the same resource.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
    /// Groups of removed and new resources that match in more than one way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ambiguities: Vec<Ambiguity>,
    #[serde(skip_serializing_if = "is_up")]
    pub purpose: Purpose,
    /// Declared resources without a change, for which there is no step.
    #[serde(skip)]
    pub unchanged: Vec<NodeId>,
    /// Marks of the outer levels, which apply to resources that the program does not declare.
    #[serde(skip_serializing_if = "OuterLevels::is_empty")]
    pub outer: OuterLevels,
}

fn is_up(purpose: &Purpose) -> bool {
    *purpose == Purpose::Up
}

impl Plan {
    /// Returns true if there is no step and no changed output.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.output_changes.is_empty()
    }

    /// Returns true if resources look like moved ones, so that deletions should wait for a decision.
    pub fn has_likely_moves(&self) -> bool {
        !self.ambiguities.is_empty()
            || self.places.iter().any(MovedPlace::blocks_deletions)
            || self.suggestions.iter().any(Suggestion::blocks_deletions)
    }
}
