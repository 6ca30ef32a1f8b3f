//! Re-checks deletions that an interrupted run had started.
//!
//! The guards permitted them then; pins and marks that were set since count as well.

use stead_guard::pins::{Declared, PinfileStatus};
use stead_guard::{DeletePermit, Mark, OuterLevels, Refusal};
use stead_model::{Graph, Name, Resource};
use stead_plan::{DeclaredGuards, interrupted_deletions};
use stead_state::State;

/// Guard settings in force now, used to re-check deletions that an interrupted run had started.
#[derive(Clone, Debug, Default)]
pub struct CurrentGuards<'a> {
    pub pins: PinfileStatus,
    /// The mark settings around the program.
    pub outer: OuterLevels,
    /// `None`: the command looks at no program.
    pub program: Option<&'a Graph>,
}

/// Why a deletion is not sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeletionHeldBack {
    /// The resource that stays: the deleted one, or one that is inside it.
    name: Name,
    how: &'static str,
}

impl DeletionHeldBack {
    fn by(refusal: &Refusal) -> DeletionHeldBack {
        let how = match refusal.mark {
            Mark::PreventDelete => "may not be deleted",
            Mark::Retain => "is to be retained",
            Mark::Pinned(_) => "is pinned",
        };
        DeletionHeldBack { name: refusal.name.clone(), how }
    }
}

impl std::fmt::Display for DeletionHeldBack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} now", self.name, self.how)
    }
}

impl CurrentGuards<'_> {
    /// Whether the deletion may be sent again: the same guards as for a plan, with everything that is in it.
    pub(crate) fn permit(
        &self,
        resource: &Resource,
        state: &State,
    ) -> Result<DeletePermit, DeletionHeldBack> {
        let same = |other: &&Resource| {
            let place = |of: &Resource| of.ties.provider.as_ref().map(|provider| provider.uid.clone());
            other.id == resource.id
                && other.ty == resource.ty
                && place(other) == place(resource)
                && other.copy() != resource.copy()
        };
        if let Some(other) = state.copies().find(same) {
            return Err(DeletionHeldBack { name: other.name.clone(), how: "is the same thing" });
        }
        let nodes = self.program.map(Graph::by_name).unwrap_or_default();
        let node_of = |resource: &Resource| nodes.get(&resource.name).copied();
        let declared = |resource: &Resource| {
            let (graph, id) = self.program.zip(node_of(resource))?;
            let pin = match graph.pin_setting(id) {
                Some(true) => Declared::Pinned,
                Some(false) | None => Declared::NotPinned,
            };
            Some(DeclaredGuards { marks: graph.node(id)?.effective_marks(), pin })
        };
        let deletions = interrupted_deletions(resource, state, &self.outer, declared);
        // In a plan, a deletion of what is to be retained is none.
        if deletions.first().is_some_and(|own| own.current_marks.retains()) {
            return Err(DeletionHeldBack { name: resource.name.clone(), how: "is to be retained" });
        }
        let lost = || DeletionHeldBack { name: resource.name.clone(), how: "may not be deleted" };
        match stead_guard::decide(&deletions, &self.pins) {
            Ok(mut permits) => permits.take(&resource.copy()).ok_or_else(lost),
            Err(refusals) => Err(refusals.first().map_or_else(lost, DeletionHeldBack::by)),
        }
    }
}
