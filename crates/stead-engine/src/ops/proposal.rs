//! A plan with everything that is needed to show it, to ask the guards about it, and to apply it.

use std::collections::HashSet;
use std::sync::Arc;

use stead_guard::Permits;
use stead_guard::pins::{PinfileStatus, SettledGraph, physical_path};
use stead_journal::ReadVersion;
use stead_model::{Code, Diagnostic, Hint, Name, NextStep, Operation, Resource, Uid};
use stead_plan::{Action, Plan, Purpose, Step};
use stead_state::{Owner, Record, StackRef, State};

use crate::ops::guards::permit_plan;
use crate::ops::places::ComparedPlaces;
use crate::ops::protection::OtherNames;
use crate::ops::{Access, Approval, HeldPin, OpError, PlanRequest, Undeclared, Workspace};
use crate::{Drift, SettledPins};

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
    /// The resources that today's program protects under other names.
    pub(super) by_other_names: OtherNames,
    /// Resources that a rollback leaves protected, although they were not at the time.
    pub(super) kept_protection: Vec<Name>,
    /// The records that turn the recorded state into the base.
    pub(super) observed: Vec<Record>,
    pub(super) drift: Vec<Drift>,
    pub(super) plan: Plan,
    /// Refusals of steps on what another stack owns.
    pub(super) owned_elsewhere: Vec<Diagnostic>,
    /// The pinfile as applied to the graph, to be written after a successful run.
    pub(super) pins: Option<Arc<SettledPins>>,
    /// Resources that the plan leaves alone because a pin holds them, as the request asks.
    pub(super) held: Vec<HeldPin>,
    pub(super) unfinished: Unfinished,
    pub(super) undeclared: Vec<Undeclared>,
    pub(super) places: ComparedPlaces,
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

    /// The recorded state, before anything was read from the providers.
    pub fn recorded(&self) -> &Arc<State> {
        &self.recorded
    }

    /// Records that the run writes before its first step: protection that only the program has, and values that were read.
    pub fn observed(&self) -> &[Record] {
        &self.observed
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

    /// Resources that were imported and that no program declared yet. A run of the program leaves them alone.
    pub fn undeclared_imports(&self) -> Vec<&Resource> {
        if self.request.plan.purpose == Purpose::Destroy {
            return Vec::new();
        }
        let declared: HashSet<&Uid> = self.plan.existing.values().map(|copy| &copy.uid).collect();
        let mut kept: Vec<&Resource> =
            self.base.copies().filter(|copy| copy.imported && !declared.contains(&copy.uid)).collect();
        kept.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        kept
    }

    /// Sentences on the default providers that did not tell their place, so that it is not compared with the recorded one.
    pub fn untold_places(&self) -> &[String] {
        &self.places.untold
    }

    pub fn unfinished(&self) -> &Unfinished {
        &self.unfinished
    }

    /// The imported resources that the program does not declare.
    pub fn undeclared(&self) -> &[Undeclared] {
        &self.undeclared
    }

    /// Resources that a permitted plan deletes or forgets, and whose pin the pinfile releases or state still records.
    pub fn released(&self) -> Vec<&Name> {
        if self.workspace.engine.pins == PinfileStatus::NotKept {
            return Vec::new();
        }
        let goes = |step: &'_ Step| {
            let (Action::Delete { copy, .. } | Action::Forget { copy, .. }) = &step.action else {
                return false;
            };
            let is_released = |resource: &Resource| {
                let path = physical_path(&resource.name, &resource.ty);
                resource.pinned || self.workspace.engine.pins.releases(&path)
            };
            self.base.copy(copy).is_some_and(is_released)
        };
        self.plan.steps.iter().filter(|step| goes(step)).map(|step| &step.name).collect()
    }

    /// Resources that the plan leaves alone because a pin holds them.
    pub fn held(&self) -> &[HeldPin] {
        &self.held
    }

    /// Resources that the plan deletes and that state alone pins. A person may release them by name.
    pub fn releasable(&self) -> Vec<HeldPin> {
        if self.pins.is_none() {
            return Vec::new();
        }
        let pins = &self.workspace.engine.pins;
        let held = HeldPin::all(&self.plan, &self.base, &self.graph, pins).into_iter();
        held.filter(|held| held.verdict.is_in_state_only()).collect()
    }

    /// Releases pins that state alone records. The pinfile says so after the run.
    #[must_use]
    pub fn release(mut self, released: &[HeldPin]) -> Proposal {
        let pins = released.iter().map(|held| (held.path.clone(), held.ty.clone())).collect();
        if let Some(settled) = &self.pins {
            let settled = Arc::new(settled.releasing(&pins));
            self.workspace.engine = self.workspace.engine.with_pinfile(settled.clone());
            self.pins = Some(settled);
        }
        self
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
    ///
    /// Fails if the plan has secrets and the stack has no key: the approval has keyed digests of them.
    pub fn approval(&self) -> Result<Approval, OpError> {
        let orphans = self.request.pins.orphans();
        let pinfile = self.pins.as_ref().and_then(|pins| pins.text());
        let crypter = self.workspace.stack.secrets.crypter();
        let request = self.request.plan.clone();
        let approval = Approval::new(
            &self.recorded,
            &self.graph,
            &self.plan,
            request,
            pinfile,
            orphans,
            crypter.as_ref(),
        );
        approval.map_err(|why| {
            let message = format!("the plan has secrets and cannot be saved: {why}");
            let problem = Diagnostic::error(Code::NO_SECRETS_MANAGER, message).note("Nothing was written.");
            OpError::refused(
                problem.help(Hint::from(NextStep::InitSecrets).and(" makes a key for the stack")),
            )
        })
    }

    /// Asks every guard about the whole plan.
    ///
    /// A proposal to be applied is refused first if it looks like a move that no decision was given for: as it stands, it
    /// deletes one resource and creates another.
    pub fn permit(self) -> Result<Permitted, OpError> {
        if self.request.access == Access::Apply && !self.is_empty() && self.plan.has_likely_moves() {
            return Err(OpError::LooksMoved(Box::new(self.plan)));
        }
        if self.request.access == Access::Apply && !self.is_empty() {
            self.places.all_told()?;
        }
        if !self.owned_elsewhere.is_empty() {
            return Err(OpError::Guarded(self.owned_elsewhere));
        }
        let (plan, names) = (&self.plan, &self.by_other_names);
        let permits = permit_plan(&self.workspace.engine, plan, &self.guarded, &self.graph, names)?;
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

    /// Drops the proposal without freeing its graph, state and plan, for a process that is about to end.
    ///
    /// Freeing the values of a large stack one by one takes a tenth of the time of a plan.
    pub fn leave_to_exit(self) {
        let Proposal { graph, recorded, base, plan, .. } = self.proposal;
        std::mem::forget((graph, recorded, base, plan));
    }
}
