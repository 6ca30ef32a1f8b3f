//! A plan with everything that is needed to show it, to ask the guards about it, and to apply it.

use std::sync::Arc;

use stead_guard::Permits;
use stead_guard::pins::{Orphans, SettledGraph};
use stead_journal::ReadVersion;
use stead_model::{Diagnostic, Name, Operation};
use stead_plan::Plan;
use stead_state::{Owner, Record, StackRef, State};

use crate::ops::guards::permit_plan;
use crate::ops::{Access, Approval, OpError, PinUse, PlanRequest, Undeclared, Workspace};
use crate::{Drift, OpenPinfile, SettledPins};

/// A plan, with the state and the graph that it was made on.
pub struct Proposal {
    /// With the interpreter, the failure policy and the pins of this proposal.
    pub(super) workspace: Workspace,
    pub(super) request: PlanRequest,
    pub(super) version: ReadVersion,
    pub(super) graph: SettledGraph,
    /// The recorded state, before anything was read from the providers.
    pub(super) recorded: Arc<State>,
    /// The state that the plan starts from.
    pub(super) base: Arc<State>,
    /// The base with the protection of today's program, which the guards go by.
    pub(super) guarded: Arc<State>,
    /// Resources that a rollback leaves protected, although they were not at the time.
    pub(super) kept_protection: Vec<Name>,
    /// The records that turn the recorded state into the base.
    pub(super) observed: Vec<Record>,
    pub(super) drift: Vec<Drift>,
    pub(super) plan: Plan,
    /// The pinfile as applied to the graph, to be written after a successful run.
    pub(super) pins: Option<Arc<SettledPins>>,
    /// The pinfile that only holds against deletions.
    pub(super) held_pins: Option<OpenPinfile>,
    pub(super) unfinished: Unfinished,
    pub(super) undeclared: Option<Undeclared>,
}

/// Work of others that a read-only proposal does not account for.
#[derive(Clone, Debug, Default)]
pub struct Unfinished {
    /// A living run that holds the stack.
    pub holder: Option<Box<Owner>>,
    /// Interrupted moves to other stacks: how many resources, and where to.
    pub moves: Vec<(usize, StackRef)>,
    /// Operations of an interrupted run that the next run finishes first.
    pub repeatable: Vec<(Operation, Name)>,
}

/// The cause of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Program,
    /// The program declares the recorded state; the providers have another one.
    Drift,
}

impl Proposal {
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The graph with the pinfile applied.
    pub fn graph(&self) -> &SettledGraph {
        &self.graph
    }

    pub fn base(&self) -> &Arc<State> {
        &self.base
    }

    pub fn drift(&self) -> &[Drift] {
        &self.drift
    }

    /// Returns true if applying would neither run a step nor record drift.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty() && self.observed.is_empty()
    }

    /// How the pinfile was applied; `None` where it only holds against deletions.
    pub fn pins(&self) -> Option<&SettledPins> {
        self.pins.as_deref()
    }

    /// Resources that a rollback leaves pinned, protected or retained, although they were not at the time.
    pub fn kept_protection(&self) -> &[Name] {
        &self.kept_protection
    }

    pub fn unfinished(&self) -> &Unfinished {
        &self.unfinished
    }

    /// The imported resource that the program does not declare.
    pub fn undeclared(&self) -> Option<&Undeclared> {
        self.undeclared.as_ref()
    }

    /// Resources that go although they were pinned, because a person removed the pin, with the name of the pinfile.
    pub fn released(&self) -> Vec<(Name, &str)> {
        self.pins.as_ref().map(|pins| pins.released(&self.plan, &self.base)).unwrap_or_default()
    }

    /// Tells whether the plan is needed because of the program or because of drift alone.
    pub async fn cause(&self) -> Cause {
        if self.observed.is_empty() {
            return Cause::Program;
        }
        let request = self.request.plan.clone();
        let wanted = self.workspace.engine.plan(&self.recorded, &self.graph, request).await;
        if wanted.is_ok_and(|plan| plan.is_empty()) { Cause::Drift } else { Cause::Program }
    }

    /// The approval of exactly this plan.
    pub fn approval(&self) -> Approval {
        let orphans = match self.request.pins {
            PinUse::Apply(orphans) => orphans,
            PinUse::Hold => Orphans::Refuse,
        };
        let pinfile = self.pins.as_ref().and_then(|pins| pins.text());
        Approval::new(&self.base, &self.graph, &self.plan, self.request.plan.clone(), pinfile, orphans)
    }

    /// Asks every guard about the whole plan.
    ///
    /// A proposal to be applied is refused first if it looks like a move that no decision was given for: as it stands, it
    /// deletes one resource and creates another.
    pub fn permit(self) -> Result<Permitted, OpError> {
        if self.request.access == Access::Apply && !self.is_empty() && self.plan.has_likely_moves() {
            return Err(OpError::LooksMoved(Box::new(self.plan)));
        }
        let permits = permit_plan(&self.workspace.engine, &self.plan, &self.guarded, &self.graph)?;
        Ok(Permitted { proposal: self, permits })
    }

    pub(super) fn check_pinfile(&self) -> Result<(), OpError> {
        let unchanged = self.pins.as_ref().map_or(Ok(()), |pins| pins.still_the_same());
        unchanged.map_err(|problem: Diagnostic| OpError::pinfile(problem))
    }
}

/// A proposal that no guard objects to.
pub struct Permitted {
    pub(super) proposal: Proposal,
    pub(super) permits: Permits,
}

impl Permitted {
    pub fn proposal(&self) -> &Proposal {
        &self.proposal
    }
}
