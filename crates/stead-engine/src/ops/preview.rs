//! From a declaration to a proposal: read, recover, apply the pinfile, read the providers, plan.

use std::sync::Arc;

use stead_guard::pins::{Orphans, PinRefusal, SettledGraph};
use stead_journal::{Loaded, is_dead};
use stead_state::State;

use crate::ops::protection::{keep_protection, protect, retained_today};
use crate::ops::{
    Access, Approval, Declaration, Declares, Import, Look, OpError, OpEvent, PinUse, PinsRefused,
    PlanRequest, Proposal, RunKind, Unfinished, Wait, Workspace, guards, log,
};
use crate::{CurrentGuards, OnFailure, OpenPinfile, Refreshed, SettledPins};

/// A variation of the preview of a declaration.
enum Variant<'a> {
    Plain,
    Approved { approval: &'a Approval, main: &'a str },
    Import(&'a Import),
}

/// A graph with the pinfile applied, and the pinfile to write.
pub struct Compiled {
    pub graph: SettledGraph,
    pub pins: SettledPins,
}

impl Compiled {
    /// Writes the pinfile.
    pub fn write_pins(&self) -> Result<(), OpError> {
        self.pins.write().map_err(OpError::pinfile)
    }
}

impl Workspace {
    /// Plans a declaration.
    pub async fn preview(
        &self,
        declares: &dyn Declares,
        request: PlanRequest,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Proposal, OpError> {
        self.propose(declares, request, Variant::Plain, events).await
    }

    /// Plans an approved plan again, which must come out the same. `main` is the entry point that it was made with.
    ///
    /// The declaration's [`protection`](Declaration::protection) is today's program, where there is one: a deletion that it forbids
    /// is refused although the plan was approved.
    pub async fn preview_approved(
        &self,
        declares: &dyn Declares,
        (approval, main): (&Approval, &str),
        on_failure: OnFailure,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Proposal, OpError> {
        let pins = PinUse::Apply(approval.orphans());
        let request = PlanRequest { pins, on_failure, wait, ..PlanRequest::up(approval.request.clone()) };
        let proposal = self.propose(declares, request, Variant::Approved { approval, main }, events).await?;
        proposal.check_pinfile().map_err(|error| match error {
            OpError::Pinfile(problem) => {
                OpError::pinfile(problem.help("a saved plan goes by the pinfile as it was: plan again"))
            }
            other => other,
        })?;
        Ok(proposal)
    }

    /// Plans the import of one existing resource, declared by the program or not.
    pub async fn preview_import(
        &self,
        declares: &dyn Declares,
        import: &Import,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Proposal, OpError> {
        let plan = import.request(self.levels.clone());
        let request = PlanRequest { kind: RunKind::Import, wait, ..PlanRequest::up(plan) };
        self.propose(declares, request, Variant::Import(import), events).await
    }

    /// Applies the pinfile to a declaration without looking at state.
    pub async fn compile(&self, declares: &dyn Declares, orphans: Orphans) -> Result<Compiled, OpError> {
        let pinning = OpenPinfile::open(self.pinfile.clone(), orphans).map_err(OpError::pinfile)?;
        let Declaration { graph, .. } = declares.declare().await?;
        let (graph, pins) = pinning.settle(graph, &self.engine.catalog, None).map_err(refused)?;
        Ok(Compiled { graph, pins })
    }

    async fn propose(
        &self,
        declares: &dyn Declares,
        request: PlanRequest,
        variant: Variant<'_>,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Proposal, OpError> {
        let orphans = match request.pins {
            PinUse::Apply(orphans) => orphans,
            PinUse::Hold => Orphans::Refuse,
        };
        let open = || OpenPinfile::open(self.pinfile.clone(), orphans).map_err(OpError::pinfile);
        let pinning = open()?;
        events(OpEvent::PinfileRead);
        let (loaded, declared) = tokio::join!(self.load_in_turn(request.wait, events), declares.declare());
        let (loaded, Declaration { mut graph, functions, protection }) = (loaded?, declared?);
        let program = protection.as_ref().or((request.pins != PinUse::Hold).then_some(&graph));
        let guards = CurrentGuards { pins: pinning.standing(), outer: request.plan.outer.clone(), program };
        let (loaded, unfinished) = match request.access {
            Access::Apply => (self.settle(loaded, &guards, events).await?, Unfinished::default()),
            Access::ReadOnly => {
                let unfinished = self.unfinished(&loaded)?;
                (loaded, unfinished)
            }
        };
        let (pinning, undeclared) = match variant {
            Variant::Plain => (pinning, None),
            Variant::Approved { approval, main } => {
                approval.check_state(&loaded.state).map_err(OpError::Stale)?;
                let (place, text) = (self.pinfile.clone(), approval.pinfile());
                (OpenPinfile::of_saved(place, main, text, orphans).map_err(OpError::pinfile)?, None)
            }
            Variant::Import(import) => {
                let undeclared = import.declare(self, &mut graph, &loaded.state).await?;
                (pinning, undeclared)
            }
        };
        let protected = match request.pins {
            PinUse::Apply(_) => protect(&loaded.state, None),
            PinUse::Hold => protect(&loaded.state, protection.as_ref()),
        };
        let kept_protection = match request.kind {
            RunKind::Rollback => keep_protection(&mut graph, &protected.state),
            _ => Vec::new(),
        };
        let mut workspace = self.clone();
        workspace.engine = workspace.engine.with_functions(functions).on_failure(request.on_failure);
        let (graph, pins, held_pins) = match request.pins {
            PinUse::Apply(_) => {
                let (graph, pins) =
                    pinning.settle(graph, &self.engine.catalog, Some(&loaded.state)).map_err(refused)?;
                (graph, Some(Arc::new(pins)), None)
            }
            PinUse::Hold => (SettledGraph::from_records(graph), None, Some(pinning)),
        };
        workspace.engine = match (&pins, &held_pins) {
            (Some(pins), _) => workspace.engine.with_pinfile(pins.clone()),
            (None, Some(pinning)) => workspace.engine.with_pins(pinning.standing()),
            (None, None) => workspace.engine,
        };
        let Loaded { state: recorded, version, .. } = loaded;
        let Refreshed { state: base, drift, records: observed } =
            workspace.look(&protected.state, &graph, &request).await?;
        let plan = workspace.engine.plan(&base, &graph, request.plan.clone()).await.map_err(OpError::Plan)?;
        log::planned(&plan);
        let mut guarded = base.clone();
        if let Variant::Approved { approval, .. } = variant {
            approval.check_plan(&graph, &plan).map_err(OpError::Stale)?;
            guarded = protect(&base, protection.as_ref()).state;
            guards::permit_retained(&retained_today(&plan, &base, &guarded))?;
        }
        // A plan without steps leaves the records as they are.
        let added = if plan.is_empty() { Vec::new() } else { protected.records };
        let observed = added.into_iter().chain(observed).collect();
        Ok(Proposal {
            workspace,
            request,
            version,
            graph,
            recorded,
            base,
            guarded,
            kept_protection,
            observed,
            drift,
            plan,
            pins,
            held_pins,
            unfinished,
            undeclared,
        })
    }

    /// Reads the resources from the providers that the request asks for.
    async fn look(
        &self,
        state: &Arc<State>,
        graph: &SettledGraph,
        request: &PlanRequest,
    ) -> Result<Refreshed, OpError> {
        match request.look {
            Look::Recorded => Ok(Refreshed { state: state.clone(), drift: Vec::new(), records: Vec::new() }),
            Look::All => self.engine.refresh(state).await.map_err(OpError::Read),
            Look::Changed => {
                let plan = self.engine.plan(state, graph, request.plan.clone()).await;
                let plan = plan.map_err(OpError::Plan)?;
                self.engine.refresh_touched(state, &plan).await.map_err(OpError::Read)
            }
        }
    }

    /// Lists the unfinished work that a read-only proposal leaves out. Operations that only a person can answer for are an error.
    fn unfinished(&self, loaded: &Loaded) -> Result<Unfinished, OpError> {
        let owner = loaded.head.as_ref().and_then(|head| head.owner.as_ref());
        if let Some(owner) = owner.filter(|owner| !is_dead(&self.stack.world, owner)) {
            return Ok(Unfinished { holder: Some(Box::new(owner.clone())), ..Unfinished::default() });
        }
        let (repeatable, doubtful) = self.engine.triage(&loaded.state);
        if !doubtful.is_empty() {
            return Err(OpError::InDoubt(doubtful));
        }
        let departing = loaded.state.transfers().departing.iter();
        let named = |intent| Some((loaded.state.subject(intent)?, intent.operation()));
        Ok(Unfinished {
            holder: None,
            moves: departing.map(|departure| (departure.uids.len(), departure.to.clone())).collect(),
            repeatable: repeatable
                .iter()
                .filter_map(|pending| named(&pending.intent))
                .map(|(name, operation)| (operation, name))
                .collect(),
        })
    }
}

fn refused(PinRefusal { changes: lines, problems }: PinRefusal) -> OpError {
    OpError::Pins(PinsRefused { lines, problems })
}
