//! Commands that edit the state of a stack, and a foreign tool that writes an invalid record.

use stead_engine::ops::{
    Accepts, EditChange, EditReport, Holder, OpError, OpEvent, ResolveTarget, StateEdit, Wait, Workspace,
};
use stead_engine::{PinfileLocation, Resolution, Stack, StackSecrets, StatedOutputs};
use stead_journal::{JournalError, StackKeys, Takeover};
use stead_model::{
    CopyRef, Environment, Generation, Lifecycle, Limits, Name, OpId, PhysicalId, Resource, Uid,
};
use stead_plan::{Follow, Selection};
use stead_state::{Export, Intent, Origin, Pending, Record, State};

use crate::life::operate::{Attempt, CommandError, CommandResult};
use crate::life::program::Program;
use crate::life::script::Command;
use crate::oracle::model::violation;
use crate::secret::is_record_of;
use crate::world::site::Actor;

/// Environment of the stack to which resources are moved.
pub(crate) const OTHER: &str = "prod";

pub(crate) fn other_stack(stack: &Stack) -> Stack {
    let (keys, secrets) = (StackKeys::new("shop", OTHER, "sim"), StackSecrets::in_memory());
    Stack { keys, secrets, ..stack.clone() }
}

/// Operations in doubt that a person resolves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubts {
    NeedsAPerson,
    Creates,
}

/// Returns the new names of pinned resources that an edit moves to the other stack.
fn moved_pins(changes: &[EditChange], base: Option<&State>) -> Vec<Name> {
    let other = Environment::new(OTHER);
    let moved = changes.iter().filter_map(|change| match change {
        EditChange::Renamed { from, to } if *to == from.in_environment(&other) => Some((from, to)),
        _ => None,
    });
    let pinned = |from: &Name| base?.by_name(from).filter(|resource| resource.pinned);
    moved.filter(|(from, _)| pinned(from).is_some()).map(|(_, to)| to.clone()).collect()
}

impl Actor {
    /// Runs a command that evaluates no program, so that it may not delete anything.
    pub(crate) async fn amend(&self, command: &Command, program: &Program) -> CommandResult {
        self.cloud.model().without_program.insert(self.process.id);
        let attempt = self.amended(command, program).await;
        self.cloud.model().without_program.remove(&self.process.id);
        attempt
    }

    async fn amended(&self, command: &Command, program: &Program) -> CommandResult {
        let named = |wanted: &str| {
            let graph = program.graph();
            Some(graph.nodes.get(program.position(wanted)?)?.name.clone())
        };
        let edit = match command {
            Command::Refresh => StateEdit::Refresh { selection: Selection::default() },
            Command::Rename(from, to) | Command::Move(from, to) => {
                let Some(old) = named(from) else { return self.refused("no such resource") };
                let Some(ty) = self.live_type(&old).await? else { return self.refused("no such resource") };
                let new = crate::life::program::name(ty, Some(to.clone())).to_string();
                match command {
                    Command::Rename(..) => {
                        let declared = program.graph().nodes.iter().map(|node| node.name.clone()).collect();
                        StateEdit::Rename { from: old.to_string(), to: new, declared }
                    }
                    _ => StateEdit::Move { from: old.to_string(), to: new },
                }
            }
            Command::Remove(name) => {
                let Some(name) = named(name) else { return self.refused("no such resource") };
                StateEdit::Forget { name: name.to_string() }
            }
            Command::Unlock => StateEdit::Unlock,
            Command::RenameStack => return self.rename_stack().await,
            Command::Reimport => return self.reimport().await,
            Command::Resolve => return self.resolve(Doubts::NeedsAPerson).await,
            Command::ToStack(name) => {
                let Some(name) = named(name) else { return self.refused("no such resource") };
                return self.to_stack(&name).await;
            }
            _ => return self.refused("this command is not an edit"),
        };
        match self.edit(edit).await {
            Ok(_) => Ok(Attempt::Succeeded),
            // Without a stack there is nothing to unlock.
            Err(OpError::NotFound(_)) if *command == Command::Unlock => Ok(Attempt::Succeeded),
            Err(error) => self.refused_by(error),
        }
    }

    async fn live_type(&self, name: &Name) -> Result<Option<stead_model::TypeToken>, JournalError> {
        let state = self.workspace.stack.load().await?.state;
        let live = state.by_name(name).filter(|resource| resource.lifecycle == Lifecycle::Live);
        Ok(live.map(|resource| resource.ty.clone()))
    }

    /// Waits for the lock of the stack, and of the stacks that an interrupted move involves.
    pub(crate) async fn wait_for_lock(&self) -> CommandResult {
        let waited = self.workspace.wait_for_lock(&mut |event| self.on_event(event, None)).await;
        waited.map_or_else(|error| self.refused_by(error), |()| Ok(Attempt::Succeeded))
    }

    /// Previews, permits and applies an edit.
    pub(crate) async fn edit(&self, edit: StateEdit) -> Result<EditReport, OpError> {
        let proposed = self.workspace.edit(edit, Wait::No, &mut |event| self.on_event(event, None)).await;
        self.end_recovery();
        let proposed = proposed?;
        if !proposed.drift().is_empty() {
            self.trace.mark("drift");
        }
        for change in proposed.changes() {
            if let (EditChange::LockTaken { .. }, Some(base)) = (change, proposed.base()) {
                crate::oracle::coverage::mark_takeover(base, &self.trace);
            }
        }
        let leaving = self.leaving(proposed.changes(), proposed.base());
        let mut on_event = |event: OpEvent| {
            if matches!(event, OpEvent::RunOpened { .. }) {
                leaving.iter().for_each(|id| self.cloud.model().may_leave(id));
            }
            self.on_event(event, None);
        };
        let pinned = moved_pins(proposed.changes(), proposed.base());
        let report = proposed.permit()?.apply(&mut on_event).await?;
        self.check_moved_pins(&pinned).await;
        Ok(report)
    }

    /// Checks that resources that were pinned are pinned in the stack to which they moved.
    async fn check_moved_pins(&self, pinned: &[Name]) {
        if pinned.is_empty() || !self.process.is_alive() {
            return;
        }
        let Ok(moved) = other_stack(&self.workspace.stack).load().await else { return };
        let lost = |name: &&Name| moved.state.by_name(name).is_some_and(|resource| !resource.pinned);
        if let Some(name) = pinned.iter().find(lost) {
            self.cloud.model().violations.push(violation("a moved resource keeps its pin", name.to_string()));
        }
    }

    /// Returns the ids of the resources that an edit stops managing.
    fn leaving(&self, changes: &[EditChange], base: Option<&State>) -> Vec<String> {
        let Some(base) = base else { return Vec::new() };
        let forgotten = changes.iter().filter_map(|change| match change {
            EditChange::Forgotten { name, .. } => base.by_name(name),
            _ => None,
        });
        let copies = forgotten.flat_map(|resource| base.copies_of(&resource.uid));
        copies.filter_map(|copy| Some(copy.id.as_ref()?.as_str().to_owned())).collect()
    }

    /// Exports the state and imports it again, unless it changed after the export.
    async fn reimport(&self) -> CommandResult {
        let state = self.workspace.stack.load().await?.state;
        if state.pending().next().is_some() || !state.transfers().is_empty() {
            return self.refused("the state is not at rest");
        }
        let exported = state.snapshot(None);
        let text = |text: &str| text.to_owned();
        let origin =
            Origin { stead: text("0"), project: text("shop"), environment: text("dev"), target: text("sim") };
        let text = serde_json::to_string(&Export::new(origin, exported.clone())).unwrap_or_default();
        self.trace.report(|| text.clone());
        let snapshot = match Export::decode(text.as_bytes(), &Limits::default().of_state()) {
            Ok(export) => Box::new(export.into_snapshot()),
            Err(error) => {
                return Err(CommandError::Violation(violation(
                    "an export can be imported",
                    error.to_string(),
                )));
            }
        };
        let edit = StateEdit::ImportState { snapshot, origin: None, accepts: Accepts::default() };
        let proposed =
            match self.workspace.edit(edit, Wait::No, &mut |event| self.on_event(event, None)).await {
                Ok(proposed) => proposed,
                Err(error) => return self.refused_by(error),
            };
        if proposed.base().map(|base| base.snapshot(None)) != Some(exported) {
            return self.refused("the state changed after the export");
        }
        let imported = match proposed.permit() {
            Ok(permitted) => permitted.apply(&mut |event| self.on_event(event, None)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = imported {
            return self.refused_by(error);
        }
        self.check_depleted_imports().await.map_err(CommandError::Violation)?;
        Ok(Attempt::Succeeded)
    }

    /// Resolves operations in doubt one by one, with the answers that the cloud shows.
    ///
    /// A dead holder is fenced first, because its last requests may still be in flight.
    pub(crate) async fn resolve(&self, doubts: Doubts) -> CommandResult {
        let loaded = self.workspace.stack.load().await?;
        if self.doubts(&loaded.state, doubts).is_empty() {
            return Ok(Attempt::Succeeded);
        }
        if let Some(owner) = loaded.head.and_then(|head| head.owner) {
            let unlock = self.workspace.edit(StateEdit::Unlock, Wait::No, &mut |_| ()).await;
            let dead =
                |change: &EditChange| matches!(change, EditChange::LockTaken { holder: Holder::Dead, .. });
            match unlock {
                Ok(edit) if edit.changes().iter().all(dead) => {
                    if let Err(error) = self.edit(StateEdit::Unlock).await {
                        return self.refused_by(error);
                    }
                }
                Ok(_) => return Err(CommandError::Journal(JournalError::Held(Box::new(owner)))),
                Err(error) => return self.refused_by(error),
            }
        }
        for pending in self.doubts(&self.workspace.stack.load().await?.state, doubts) {
            self.answer(pending).await?;
        }
        Ok(Attempt::Succeeded)
    }

    fn doubts(&self, state: &State, doubts: Doubts) -> Vec<Pending> {
        match doubts {
            Doubts::Creates => {
                let is_create = |pending: &&Pending| matches!(pending.intent, Intent::Create { .. });
                state.pending().filter(is_create).cloned().collect()
            }
            Doubts::NeedsAPerson => {
                let (_, doubtful) = self.workspace.engine.triage(state);
                doubtful.into_iter().map(|doubtful| doubtful.pending).collect()
            }
        }
    }

    async fn answer(&self, pending: Pending) -> CommandResult {
        let state = self.workspace.stack.load().await?.state;
        let answer = Some(self.observed_resolution(&state, &pending.intent));
        let op: OpId = pending.op;
        match self.edit(StateEdit::Resolve { target: ResolveTarget::Operation(op), answer }).await {
            Ok(_) => {
                self.trace.mark("a person resolved an operation in doubt");
                Ok(Attempt::Succeeded)
            }
            Err(error) => self.refused_by(error),
        }
    }

    /// Returns the resolution that a person finds by inspecting the cloud.
    fn observed_resolution(&self, state: &State, intent: &Intent) -> Resolution {
        let model = self.cloud.model();
        let object = |resource: &Resource| model.objects.get(resource.id.as_ref()?.as_str());
        let created = |key: &str| model.made(key).filter(|id| model.objects.contains_key(*id));
        let done = match intent {
            Intent::Create { key, .. } => {
                return created(key).map_or(Resolution::DidNotHappen, |id| Resolution::Created {
                    id: PhysicalId(id.clone()),
                    outputs: StatedOutputs::default(),
                });
            }
            Intent::Update { resource, .. } => {
                object(resource).is_some_and(|object| is_record_of(&resource.inputs, &object.inputs))
            }
            Intent::Delete { copy, .. } => state.copy(copy).and_then(object).is_none(),
        };
        if done { Resolution::Done { outputs: StatedOutputs::default() } } else { Resolution::DidNotHappen }
    }

    /// Moves a resource to another stack, with all its dependencies.
    async fn to_stack(&self, name: &Name) -> CommandResult {
        let other = Workspace {
            stack: other_stack(&self.workspace.stack),
            pinfile: PinfileLocation {
                environment: Environment::new(OTHER),
                ..self.workspace.pinfile.clone()
            },
            ..self.workspace.clone()
        };
        let created = match other.edit(StateEdit::CreateStack, Wait::No, &mut |_| ()).await {
            Ok(edit) => match edit.permit() {
                Ok(permitted) => permitted.apply(&mut |_| ()).await.map(drop),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        match created {
            Ok(()) | Err(OpError::Stack(JournalError::Exists { .. })) => {}
            Err(error) => return self.refused_by(error),
        }
        if !self.workspace.stack.load().await?.state.keyring().is_empty()
            && let Err(error) = other.init_keys(&mut |_| ()).await
        {
            return self.refused_by(error);
        }
        let names = vec![name.to_string()];
        let edit = StateEdit::MoveToStack { names, to: Box::new(other), dependencies: Follow::Yes };
        if let Err(error) = self.edit(edit).await {
            return self.refused_by(error);
        }
        if self.process.is_alive() {
            self.trace.mark("a resource was moved to another stack");
        }
        Ok(Attempt::Succeeded)
    }

    /// Submits a record that violates a state rule, as a foreign tool might. The journal must refuse it.
    pub(crate) async fn write_invalid_record(&self, program: &Program, name: &str) -> CommandResult {
        let stack = &self.workspace.stack;
        let loaded = stack.load().await?;
        if loaded.state.pending().next().is_some() || !loaded.state.transfers().is_empty() {
            return self.refused("the state is not at rest");
        }
        let graph = program.graph();
        let node = program.position(name).and_then(|at| graph.nodes.get(at));
        let found = node.and_then(|node| loaded.state.by_name(&node.name));
        let Some(mut resource) = found.filter(|found| found.lifecycle == Lifecycle::Live).cloned() else {
            return self.refused("no such resource");
        };
        let missing = CopyRef { uid: Uid("missing".to_owned()), generation: Generation(1) };
        resource.dependencies.push(missing);
        resource.dependencies.sort_unstable();
        let run = stack.open("miswrite", Some(loaded.version), Takeover::IfDead).await?;
        self.note_run(&run.id());
        let record = Record::Amend { resource: Box::new(resource) };
        match run.submit(record).durable().await {
            Err(JournalError::RecordRefused(_)) => {
                self.trace.mark("a record that violates a rule was refused");
            }
            Err(error) => return Err(error.into()),
            Ok(()) => {
                let detail = "a resource depends on a resource that never existed";
                return Err(CommandError::Violation(violation(
                    "a record that violates a rule is refused",
                    detail,
                )));
            }
        }
        let failed = JournalError::Io { action: "go on", problem: "a record was refused".to_owned() };
        drop(run.abandon(failed).await);
        Ok(Attempt::Unfinished)
    }
}
