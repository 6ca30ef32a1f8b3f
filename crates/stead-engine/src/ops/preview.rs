//! From a declaration to a proposal: read, recover, apply the pinfile, read the providers, plan.

use std::collections::BTreeSet;
use std::sync::Arc;

use stead_guard::pins::{Orphans, PinRefusal, SettledGraph};
use stead_journal::{Loaded, is_dead};
use stead_model::{Code, Diagnostic, Graph, TypeToken};
use stead_plan::{Glob, Plan};
use stead_state::{Record, State};

use crate::ops::held::with_needs;
use crate::ops::keys::ReadSecrets;
use crate::ops::places::{ComparedPlaces, Untold};
use crate::ops::protection::{
    Today, hold_pins_of, keep_protection, pins_of, protect, protect_listed, retained_today,
};
use crate::ops::{
    Access, Approval, Declaration, Declares, HeldPin, Import, Look, OpError, OpEvent, PinUse, PinsRefused,
    PlanRequest, Proposal, RunKind, Stale, Unfinished, Wait, Workspace, guards, log,
};
use crate::{CurrentGuards, Doubtful, OnFailure, OpenPinfile, Refreshed, SettledPins};

/// A variation of the preview of a declaration.
enum Variant<'a> {
    Plain,
    Approved { approval: &'a Approval, main: &'a str },
    Import(&'a [Import]),
}

impl<'a> Variant<'a> {
    fn approval(&self) -> Option<&'a Approval> {
        match self {
            Variant::Approved { approval, .. } => Some(approval),
            Variant::Plain | Variant::Import(_) => None,
        }
    }
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
        (on_failure, take_over): (OnFailure, Vec<Glob>),
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Proposal, OpError> {
        let pins = PinUse::Apply(approval.orphans());
        let request =
            PlanRequest { pins, on_failure, wait, take_over, ..PlanRequest::up(approval.request.clone()) };
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
        (wait, take_over): (Wait, Vec<Glob>),
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Proposal, OpError> {
        self.preview_imports(declares, std::slice::from_ref(import), (wait, take_over), events).await
    }

    /// Plans the import of existing resources, each declared by the program or not, in one run.
    pub async fn preview_imports(
        &self,
        declares: &dyn Declares,
        imports: &[Import],
        (wait, take_over): (Wait, Vec<Glob>),
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Proposal, OpError> {
        let plan = Import::request(imports, self.levels.clone());
        let request = PlanRequest { kind: RunKind::Import, wait, take_over, ..PlanRequest::up(plan) };
        self.propose(declares, request, Variant::Import(imports), events).await
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
        let orphans = request.pins.orphans();
        let pinning = OpenPinfile::open(self.pinfile.clone(), orphans).map_err(OpError::pinfile)?;
        events(OpEvent::PinfileRead);
        let (loaded, declaration, places) = self.load_for(declares, &request, &variant, events).await?;
        let Declaration { mut graph, functions, protection } = declaration;
        let program = protection.as_ref().or((request.pins != PinUse::Hold).then_some(&graph));
        let (pins, outer) = (pinning.standing(), request.plan.outer.clone());
        let guards = CurrentGuards { pins, outer, program, ..CurrentGuards::default() };
        let (loaded, unfinished) = self.settle_for(request.access, loaded, &guards, events).await?;
        let undeclared = match variant {
            Variant::Import(imports) => Import::declare_all(imports, self, &mut graph, &loaded.state).await?,
            Variant::Plain | Variant::Approved { .. } => Vec::new(),
        };
        let pinning = match variant {
            Variant::Approved { approval, main } => {
                self.saved_pins(approval, main, &loaded.state, orphans)?
            }
            Variant::Plain | Variant::Import(_) => pinning,
        };
        let today = Today::of(&loaded.state, protection.as_ref(), &self.engine).await;
        let mut protected = match request.pins {
            PinUse::Apply(_) => protect(&loaded.state, None),
            PinUse::Hold => protect_listed(protect(&loaded.state, today.as_ref()), &pinning.standing()),
        };
        let kept_protection = match request.kind {
            RunKind::Rollback => keep_protection(&mut graph, &protected.state, &self.engine).await,
            _ => Vec::new(),
        };
        let mut workspace = self.clone();
        workspace.engine = workspace.engine.with_functions(functions).on_failure(request.on_failure);
        let (graph, pins) = workspace.settle_pins(request.pins, pinning, graph, &loaded.state)?;
        workspace.engine.pins = hold_pins_of(today.as_ref(), &loaded.state, workspace.engine.pins);
        workspace.engine.program_pins = pins_of(today.as_ref(), &loaded.state);
        let Loaded { state: recorded, version, .. } = loaded;
        let Refreshed { state: base, drift, records: observed } =
            workspace.look(&protected.state, &graph, &request).await?;
        let approval = variant.approval();
        let planned = workspace.plan_around_pins(&base, &graph, &mut request).await;
        let (plan, held) = planned.map_err(|error| match approval {
            Some(approval) => not_reproduced(approval, &recorded, error),
            None => error,
        })?;
        log::planned(&plan);
        let owned_elsewhere = workspace.foreign_owners(&request, &plan, &base, &graph).await?;
        let mut guarded = base.clone();
        if let Some(approval) = approval {
            self.check_approved(approval, &recorded, &graph, &plan)?;
            let today = protect(&base, today.as_ref());
            (guarded, protected.by_other_names) = (today.state, today.by_other_names);
            guards::permit_retained(&retained_today(&plan, &base, &guarded), &protected.by_other_names)?;
        }
        let by_other_names = std::mem::take(&mut protected.by_other_names);
        let observed: Vec<Record> = protected.into_records(&plan).chain(observed).collect();
        // The key for secrets of the program was tried before.
        if request.access == Access::Apply && !self.makes_secrets(&graph) {
            self.check_key_for(&recorded, ReadSecrets::in_plan(recorded.stack(), &plan, &observed)).await?;
        }
        Ok(Proposal {
            workspace,
            request,
            version,
            graph,
            recorded,
            base,
            guarded,
            by_other_names,
            kept_protection,
            observed,
            drift,
            plan,
            owned_elsewhere,
            pins,
            held,
            unfinished,
            undeclared,
            places,
        })
    }

    /// Settles the operations that interrupted runs left, or lists them if nothing may be written.
    async fn settle_for(
        &self,
        access: Access,
        loaded: Loaded,
        guards: &CurrentGuards<'_>,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<(Loaded, Unfinished), OpError> {
        match access {
            Access::Apply => Ok((self.settle(loaded, Some(guards), events).await?, Unfinished::default())),
            Access::ReadOnly => {
                let unfinished = self.unfinished(&loaded).await?;
                Ok((loaded, unfinished))
            }
        }
    }

    /// Loads the state while the program declares its graph. The default providers lead to the recorded places, and the secrets are
    /// open.
    async fn load_for(
        &self,
        declares: &dyn Declares,
        request: &PlanRequest,
        variant: &Variant<'_>,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<(Loaded, Declaration, ComparedPlaces), OpError> {
        let (loaded, declared) = tokio::join!(self.load_in_turn(request.wait, events), declares.declare());
        let loaded = loaded?;
        let declaration = match declared {
            Ok(declared) => declared,
            Err(error) => return Err(self.misled(&loaded, error).await),
        };
        let graph = &declaration.graph;
        let places = self.compare_for(&loaded, graph, request, variant).await?;
        if let Err(refusal) = self.open_secrets(&loaded.state, Some(graph), request.access).await {
            return Err(self.doubt_without_key(&loaded).await.unwrap_or(refusal));
        }
        Ok((loaded, declaration, places))
    }

    /// Returns the pinfile of an approved plan, whose state must be unchanged.
    fn saved_pins(
        &self,
        approval: &Approval,
        main: &str,
        state: &State,
        orphans: Orphans,
    ) -> Result<OpenPinfile, OpError> {
        approval.check_state(state).map_err(OpError::Stale)?;
        OpenPinfile::of_saved(self.pinfile.clone(), main, approval.pinfile(), orphans)
            .map_err(OpError::pinfile)
    }

    /// Compares the places of the default providers. If the preview itself calls no provider, one that does not tell is no error
    /// before the proposal is permitted.
    async fn compare_for(
        &self,
        loaded: &Loaded,
        graph: &Graph,
        request: &PlanRequest,
        variant: &Variant<'_>,
    ) -> Result<ComparedPlaces, OpError> {
        let types: Vec<&TypeToken> = match variant {
            Variant::Import(imports) => {
                imports.iter().filter(|import| import.provider.is_none()).map(|import| &import.ty).collect()
            }
            Variant::Plain | Variant::Approved { .. } => Vec::new(),
        };
        let untold = match request.look {
            Look::Recorded if types.is_empty() => Untold::Note,
            _ => Untold::Refuse,
        };
        self.compare_places(&loaded.state, (Some(graph), &types), untold).await
    }

    /// Returns the reason why a program could not be evaluated: a look-up in another place fails because of the place.
    async fn misled(&self, loaded: &Loaded, error: OpError) -> OpError {
        let is_look_up = error.problems().iter().any(|problem| problem.code == Code::LOOK_UP);
        if !is_look_up {
            return error;
        }
        let compared = self.compare_places(&loaded.state, (None, &[]), Untold::Note).await;
        compared.err().unwrap_or(error)
    }

    /// Fails unless the plan is the approved one. Secrets are compared with the key of the stack.
    fn check_approved(
        &self,
        approval: &Approval,
        recorded: &State,
        graph: &Graph,
        plan: &Plan,
    ) -> Result<(), OpError> {
        let crypter = self.stack.secrets.crypter();
        approval.check_plan(recorded, graph, plan, crypter.as_ref()).map_err(OpError::Stale)
    }

    /// Applies the pinfile to the graph, or lets it only hold against deletions.
    fn settle_pins(
        &mut self,
        pin_use: PinUse,
        pinning: OpenPinfile,
        graph: Graph,
        state: &State,
    ) -> Result<(SettledGraph, Option<Arc<SettledPins>>), OpError> {
        let engine = self.engine.clone();
        match pin_use {
            PinUse::Apply(_) => {
                let (graph, pins) = pinning.settle(graph, &engine.catalog, Some(state)).map_err(refused)?;
                let pins = Arc::new(pins);
                self.engine = engine.with_pinfile(pins.clone());
                Ok((graph, Some(pins)))
            }
            PinUse::Hold => {
                self.engine = engine.with_pins(pinning.standing());
                Ok((SettledGraph::from_records(graph), None))
            }
        }
    }

    /// Returns the refusals of steps on real resources that other stacks own or that this one retained. One real resource for two
    /// records is an error.
    async fn foreign_owners(
        &mut self,
        request: &PlanRequest,
        plan: &Plan,
        base: &State,
        graph: &Graph,
    ) -> Result<Vec<Diagnostic>, OpError> {
        if let Some(owners) = &mut self.engine.owners {
            owners.take_over = request.take_over.clone();
        }
        let twice = self.engine.same_thing_twice(plan, base, graph).await;
        if !twice.is_empty() {
            return Err(OpError::Plan(twice));
        }
        let mut refused = self.engine.created_over_retained(plan, base, graph).await;
        refused.extend(self.engine.foreign_owners(plan, base, graph).await);
        Ok(refused)
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

    /// Returns the operations of a dead run that stay in doubt because their secrets do not open.
    ///
    /// They come before the refusal of a program whose secrets do not open: the outcome of an operation is unknown.
    async fn doubt_without_key(&self, loaded: &Loaded) -> Option<OpError> {
        let owner = loaded.head.as_ref().and_then(|head| head.owner.as_ref());
        if owner.is_some_and(|owner| !is_dead(&self.stack.world, owner)) {
            return None;
        }
        let (_, doubtful) = self.engine.triage(&loaded.state);
        if !doubtful.iter().any(Doubtful::waits_for_key) {
            return None;
        }
        let secrets = &self.stack.secrets;
        Some(OpError::InDoubt(self.engine.explained(&loaded.state, secrets, doubtful).await))
    }

    /// Lists the unfinished work that a read-only proposal leaves out. Operations that only a person can answer for are an error.
    async fn unfinished(&self, loaded: &Loaded) -> Result<Unfinished, OpError> {
        let owner = loaded.head.as_ref().and_then(|head| head.owner.as_ref());
        if let Some(owner) = owner.filter(|owner| !is_dead(&self.stack.world, owner)) {
            return Ok(Unfinished { holder: Some(Box::new(owner.clone())), ..Unfinished::default() });
        }
        let (repeatable, doubtful) = self.engine.triage(&loaded.state);
        if !doubtful.is_empty() {
            let secrets = &self.stack.secrets;
            return Err(OpError::InDoubt(self.engine.explained(&loaded.state, secrets, doubtful).await));
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

/// Returns the error for an approved plan that cannot even be made any more, because the rest of the stack changed.
fn not_reproduced(approval: &Approval, recorded: &State, error: OpError) -> OpError {
    let OpError::Plan(problems) = error else { return error };
    match approval.another_plan(recorded, BTreeSet::new()) {
        Stale::NotReproduced => OpError::Plan(problems),
        stale => OpError::Stale(stale),
    }
}

fn refused(PinRefusal { changes: lines, problems }: PinRefusal) -> OpError {
    OpError::Pins(PinsRefused { lines, problems })
}
