//! From a declaration to a proposal: read, recover, apply the pinfile, read the providers, plan.

use std::collections::HashSet;
use std::sync::Arc;

use stead_guard::pins::{Orphans, PinRefusal, SettledGraph};
use stead_journal::{Loaded, is_dead};
use stead_model::{Graph, Name};
use stead_plan::Plan;
use stead_state::State;

use crate::ops::held::with_needs;
use crate::ops::log;
use crate::ops::{
    Access, Approval, Declaration, Declares, HeldPin, Import, Look, OpError, OpEvent, PinUse, PinsRefused,
    PlanRequest, Proposal, RunKind, Unfinished, Wait, Workspace,
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
        mut request: PlanRequest,
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
        let (loaded, Declaration { mut graph, functions }) = (loaded?, declared?);
        let program = (request.pins != PinUse::Hold).then_some(&graph);
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
        let mut workspace = self.clone();
        workspace.engine = workspace.engine.with_functions(functions).on_failure(request.on_failure);
        let (graph, pins) = match request.pins {
            PinUse::Apply(_) => {
                let (graph, pins) =
                    pinning.settle(graph, &self.engine.catalog, Some(&loaded.state)).map_err(refused)?;
                let pins = Arc::new(pins);
                workspace.engine = workspace.engine.with_pinfile(pins.clone());
                (graph, Some(pins))
            }
            PinUse::Hold => {
                workspace.engine = workspace.engine.with_pins(pinning.standing());
                hold_recorded_pins(&mut graph, &loaded.state);
                (SettledGraph::from_records(graph), None)
            }
        };
        let Loaded { state: recorded, version, .. } = loaded;
        let Refreshed { state: base, drift, records: observed } =
            workspace.look(&recorded, &graph, &request).await?;
        let (plan, held) = workspace.plan_around_pins(&base, &graph, &mut request).await?;
        log::planned(&plan);
        if let Variant::Approved { approval, .. } = variant {
            approval.check_plan(&graph, &plan).map_err(OpError::Stale)?;
        }
        Ok(Proposal {
            workspace,
            request,
            version,
            graph,
            recorded,
            base,
            observed,
            drift,
            plan,
            pins,
            held,
            unfinished,
            undeclared,
        })
    }

    /// Plans. If the request keeps pinned resources, the resources that a pin holds are left alone, with all they need.
    async fn plan_around_pins(
        &self,
        base: &Arc<State>,
        graph: &SettledGraph,
        request: &mut PlanRequest,
    ) -> Result<(Plan, Vec<HeldPin>), OpError> {
        let mut kept: Vec<HeldPin> = Vec::new();
        loop {
            let plan = self.engine.plan(base, graph, request.plan.clone()).await.map_err(OpError::Plan)?;
            if request.pins != PinUse::Apply(Orphans::Keep) {
                return Ok((plan, kept));
            }
            // Leaving one resource alone can make another one the next to go, but never the same one again.
            let held = HeldPin::all(&plan, base, graph, &self.engine.pins);
            let left = with_needs(&held, &plan, base, graph);
            if left.is_subset(&request.plan.held) {
                return Ok((plan, kept));
            }
            request.plan.held.extend(left);
            kept.extend(held);
        }
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

/// Pins the declarations of an earlier run whose resources are pinned now: going back in time ends no pin.
fn hold_recorded_pins(graph: &mut Graph, state: &State) {
    let pinned = state.copies().filter(|copy| copy.pinned);
    let names: HashSet<&Name> =
        pinned.flat_map(|copy| std::iter::once(&copy.name).chain(&copy.ties.aliases)).collect();
    for node in graph.nodes.iter_mut().filter(|node| names.contains(&node.name)) {
        node.options.pinned = Some(true);
    }
}

fn refused(PinRefusal { changes: lines, problems }: PinRefusal) -> OpError {
    OpError::Pins(PinsRefused { lines, problems })
}
