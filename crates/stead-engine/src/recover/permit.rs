//! Re-checks deletions that an interrupted run had started.
//!
//! The guards permitted them then; pins and marks that were set since count as well.

use std::sync::OnceLock;

use stead_guard::pins::{Declared, PinfileStatus};
use stead_guard::{DeletePermit, Mark, OuterLevels, Refusal};
use stead_model::{Graph, Name, Node, NodeId, Resource};
use stead_plan::{Counterparts, DeclaredGuards, interrupted_deletions};
use stead_state::State;

use crate::Engine;

/// Guard settings in force now, used to re-check deletions that an interrupted run had started.
///
/// A command that evaluates no program has none, and leaves these deletions pending.
#[derive(Clone, Debug, Default)]
pub struct CurrentGuards<'a> {
    pub pins: PinfileStatus,
    /// The mark settings around the program.
    pub outer: OuterLevels,
    /// `None`: the user goes by the recorded protection alone.
    pub program: Option<&'a Graph>,
    /// The declarations of the program for each record, from the first question on.
    pub counterparts: OnceLock<Counterparts>,
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
    pub(crate) async fn permit(
        &self,
        engine: &Engine,
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
        let compared = self.compared(engine, state).await;
        let declared = |resource: &Resource| self.declared(compared?, resource);
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

    /// Returns the program with its comparison with the records, which is made once.
    async fn compared(&self, engine: &Engine, state: &State) -> Option<(&Graph, &Counterparts)> {
        let program = self.program?;
        if self.counterparts.get().is_none() {
            let canonical = engine.canonical_identities(state, program).await;
            let counterparts = Counterparts::of(state, program, &engine.catalog, &canonical);
            return Some((program, self.counterparts.get_or_init(|| counterparts)));
        }
        Some((program, self.counterparts.get()?))
    }

    /// Returns the guard settings of a resource in the program: those of its declaration, and the protection of each one that may
    /// be its declaration.
    fn declared(
        &self,
        (program, counterparts): (&Graph, &Counterparts),
        resource: &Resource,
    ) -> Option<DeclaredGuards> {
        let marks = |id: NodeId| program.node(id).map(Node::effective_marks);
        let matched = counterparts.matched(&resource.uid);
        let protecting = counterparts.protecting(&resource.uid);
        if matched.is_none() && protecting.is_empty() {
            return None;
        }
        let own = matched.and_then(marks).unwrap_or_else(|| self.outer.marks_for(resource));
        let others = protecting.iter().filter_map(|one| marks(one.node));
        let all = others.fold(own, |all, other| all.with_protection(&other));
        let mut nodes = matched.into_iter().chain(protecting.iter().map(|one| one.node));
        let pin = match nodes.any(|id| program.pin_setting(id) == Some(true)) {
            true => Declared::Pinned,
            false => Declared::NotPinned,
        };
        Some(DeclaredGuards { marks: all, pin })
    }
}
