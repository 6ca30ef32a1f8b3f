//! What will be done, in which order, and why.

use std::collections::BTreeMap;

use serde::Serialize;
use stead_guard::{Cause, Deletion};
use stead_model::{CopyRef, Generation, Input, Name, NodeId, PropertyPath, SourceRef, TypeToken, Uid};
use stead_schema::{Change, ReplaceOrder};
use stead_state::{AfterDelete, State};

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
    Update {
        copy: CopyRef,
        inputs: BTreeMap<String, Input>,
    },
    Delete {
        copy: CopyRef,
        after_delete: AfterDelete,
    },
    /// Only the record changes: dependencies or marks.
    Record {
        copy: CopyRef,
    },
    /// Nothing real is left; only the record goes.
    Forget {
        copy: CopyRef,
    },
    /// Nothing is done; it is over when all before it are.
    Gather,
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
    },
    /// The old half of a replacement.
    OldCopy,
    Removed,
    Destroyed,
    LeftOver,
    /// Dependencies or marks changed.
    Bookkeeping,
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
    /// Steps that must have succeeded before this one starts.
    pub after: Vec<StepId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Everything becomes as declared.
    Up,
    /// Everything goes; the graph is empty.
    Destroy,
}

/// How many resources each thing happens to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub create: usize,
    pub update: usize,
    pub replace: usize,
    pub delete: usize,
    pub unchanged: usize,
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
}

impl Plan {
    /// There is nothing to do and nothing to write.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.output_changes.is_empty()
    }

    /// Everything that would be deleted, for the guards. `declared` tells the program's own marks.
    pub fn deletions<'a>(
        &self,
        base: &'a State,
        declared: impl Fn(NodeId) -> Option<bool>,
    ) -> Vec<Deletion<'a>> {
        self.steps.iter().filter_map(|step| self.deletion(step, base, &declared)).collect()
    }

    fn deletion<'a>(
        &self,
        step: &Step,
        base: &'a State,
        declared: &impl Fn(NodeId) -> Option<bool>,
    ) -> Option<Deletion<'a>> {
        let Action::Delete { copy, .. } = &step.action else { return None };
        let cause = match &step.why {
            Why::Destroyed => Cause::Destroyed,
            Why::LeftOver => Cause::LeftOver,
            Why::OldCopy => Cause::Replaced { because: because(&step.changes) },
            _ => Cause::Removed,
        };
        let declared = step.node.and_then(declared);
        Some(Deletion { resource: base.copy(copy)?, declared, cause })
    }
}

fn because(changes: &[Change]) -> String {
    let forcing: Vec<String> =
        changes.iter().filter(|change| change.replaces).map(|change| format!("`{}`", change.path)).collect();
    match forcing.as_slice() {
        [] => "its type changed".to_owned(),
        [one] => format!("a change of {one} forces it"),
        many => format!("changes of {} force it", many.join(", ")),
    }
}
