//! Edits of the state in a life, and a tool that writes a record which breaks a rule.

use stead_engine::Resolution;
use stead_engine::ops::{
    EditChange, EditReport, Holder, OpError, OpEvent, ResolveTarget, StateEdit, Wait, Workspace,
};
use stead_engine::{PinfileLocation, Stack};
use stead_journal::{JournalError, StackKeys, Takeover};
use stead_model::{
    CopyRef, Environment, Generation, Lifecycle, Limits, Name, OpId, PhysicalId, Resource, Uid,
};
use stead_plan::{Follow, Selection};
use stead_state::{Export, Intent, Origin, Pending, Record, State};

use crate::model::loss;
use crate::operate::{Attempt, Ended, Failed};
use crate::program::Program;
use crate::script::Task;
use crate::stage::Actor;

/// The environment that resources are moved to.
pub(crate) const OTHER: &str = "prod";

pub(crate) fn other_stack(stack: &Stack) -> Stack {
    Stack { keys: StackKeys::new("shop", OTHER, "sim"), ..stack.clone() }
}

/// Which operations in doubt a person answers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubts {
    OnlyAPersonCanTell,
    All,
}

impl Actor {
    pub(crate) async fn amend(&self, task: &Task, program: &Program) -> Ended {
        let named = |wanted: &str| {
            let graph = program.graph();
            Some(graph.nodes.get(program.position(wanted)?)?.name.clone())
        };
        let edit = match task {
            Task::Refresh => StateEdit::Refresh { selection: Selection::default() },
            Task::Rename(from, to) | Task::Move(from, to) => {
                let Some(old) = named(from) else { return self.refused("no such resource") };
                let Some(ty) = self.live_type(&old).await? else { return self.refused("no such resource") };
                let new = crate::program::name(ty, Some(to.clone())).to_string();
                match task {
                    Task::Rename(..) => StateEdit::Rename { from: old.to_string(), to: new },
                    _ => StateEdit::Move { from: old.to_string(), to: new },
                }
            }
            Task::Remove(name) => {
                let Some(name) = named(name) else { return self.refused("no such resource") };
                StateEdit::Forget { name: name.to_string() }
            }
            Task::Unlock => StateEdit::Unlock,
            Task::Reimport => return self.reimport().await,
            Task::Resolve => return self.resolve(Doubts::OnlyAPersonCanTell).await,
            Task::ToStack(name) => {
                let Some(name) = named(name) else { return self.refused("no such resource") };
                return self.to_stack(&name).await;
            }
            _ => return self.refused("this is no edit"),
        };
        match self.edit(edit).await {
            Ok(_) => Ok(Attempt::Succeeded),
            // There is nothing to unlock where no stack is.
            Err(OpError::NotFound(_)) if *task == Task::Unlock => Ok(Attempt::Succeeded),
            Err(error) => self.refused_by(error),
        }
    }

    async fn live_type(&self, name: &Name) -> Result<Option<stead_model::TypeToken>, JournalError> {
        let state = self.workspace.stack.load().await?.state;
        let live = state.by_name(name).filter(|resource| resource.lifecycle == Lifecycle::Live);
        Ok(live.map(|resource| resource.ty.clone()))
    }

    /// Waits for the holder of the stack, and of the stacks that an interrupted move leads to.
    pub(crate) async fn waits(&self) -> Ended {
        let waited = self.workspace.wait_for_lock(&mut |event| self.hears(event, None)).await;
        waited.map_or_else(|error| self.refused_by(error), |()| Ok(Attempt::Succeeded))
    }

    /// Previews, permits and applies an edit.
    pub(crate) async fn edit(&self, edit: StateEdit) -> Result<EditReport, OpError> {
        let proposed = self.workspace.edit(edit, Wait::No, &mut |event| self.hears(event, None)).await;
        self.recovered();
        let proposed = proposed?;
        if !proposed.drift().is_empty() {
            self.tape.reach("drift");
        }
        for change in proposed.changes() {
            match (change, proposed.base()) {
                (EditChange::LockTaken { .. }, Some(base)) => crate::marks::of_takeover(base, &self.tape),
                _ => {}
            }
        }
        let leaving = self.leaving(proposed.changes(), proposed.base());
        let mut on_event = |event: OpEvent| {
            if matches!(event, OpEvent::RunOpened { .. }) {
                leaving.iter().for_each(|id| self.cloud.model().may_leave(id));
            }
            self.hears(event, None);
        };
        proposed.permit()?.apply(&mut on_event).await
    }

    /// The ids of the resources that an edit stops managing.
    fn leaving(&self, changes: &[EditChange], base: Option<&State>) -> Vec<String> {
        let Some(base) = base else { return Vec::new() };
        let forgotten = changes.iter().filter_map(|change| match change {
            EditChange::Forgotten { name, .. } => base.by_name(name),
            _ => None,
        });
        let copies = forgotten.flat_map(|resource| base.copies_of(&resource.uid));
        copies.filter_map(|copy| Some(copy.id.as_ref()?.as_str().to_owned())).collect()
    }

    /// Exports the state and imports it again. A person who sees that the state changed meanwhile does not.
    async fn reimport(&self) -> Ended {
        let state = self.workspace.stack.load().await?.state;
        if state.pending().next().is_some() || !state.transfers().is_empty() {
            return self.refused("the state is not at rest");
        }
        let exported = state.snapshot(None);
        let text = |text: &str| text.to_owned();
        let origin =
            Origin { stead: text("0"), project: text("shop"), environment: text("dev"), target: text("sim") };
        let bytes = serde_json::to_vec(&Export::new(origin, exported.clone())).unwrap_or_default();
        let snapshot = match Export::decode(&bytes, &Limits::default().of_state()) {
            Ok(export) => Box::new(export.into_snapshot()),
            Err(error) => return Err(Failed::Lost(loss("an export can be imported", error.to_string()))),
        };
        let edit = StateEdit::ImportState { snapshot };
        let proposed = match self.workspace.edit(edit, Wait::No, &mut |event| self.hears(event, None)).await {
            Ok(proposed) => proposed,
            Err(error) => return self.refused_by(error),
        };
        if proposed.base().map(|base| base.snapshot(None)) != Some(exported) {
            return self.refused("the state changed after the export");
        }
        let imported = match proposed.permit() {
            Ok(permitted) => permitted.apply(&mut |event| self.hears(event, None)).await,
            Err(error) => Err(error),
        };
        imported.map_or_else(|error| self.refused_by(error), |_| Ok(Attempt::Succeeded))
    }

    /// Looks at the cloud, and answers for operations in doubt, one after the other. A dead holder is fenced first: its last
    /// requests may still be on their way.
    pub(crate) async fn resolve(&self, doubts: Doubts) -> Ended {
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
                Ok(_) => return Err(Failed::Journal(JournalError::Held(Box::new(owner)))),
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
            Doubts::All => state.pending().cloned().collect(),
            Doubts::OnlyAPersonCanTell => {
                let (_, doubtful) = self.workspace.engine.triage(state);
                doubtful.into_iter().map(|doubtful| doubtful.pending).collect()
            }
        }
    }

    async fn answer(&self, pending: Pending) -> Ended {
        let state = self.workspace.stack.load().await?.state;
        let answer = Some(self.truth(&state, &pending.intent));
        let op: OpId = pending.op;
        match self.edit(StateEdit::Resolve { target: ResolveTarget::Operation(op), answer }).await {
            Ok(_) => {
                self.tape.reach("a person settled a doubt");
                Ok(Attempt::Succeeded)
            }
            Err(error) => self.refused_by(error),
        }
    }

    /// What a person sees who looks at the cloud.
    fn truth(&self, state: &State, intent: &Intent) -> Resolution {
        let model = self.cloud.model();
        let thing = |resource: &Resource| model.things.get(resource.id.as_ref()?.as_str());
        let created = |key: &str| model.made(key).filter(|id| model.things.contains_key(*id));
        let done = match intent {
            Intent::Create { key, .. } => {
                return created(key)
                    .map_or(Resolution::DidNotHappen, |id| Resolution::Created(PhysicalId(id.clone())));
            }
            Intent::Update { resource, .. } => {
                thing(resource).is_some_and(|thing| thing.inputs == resource.inputs)
            }
            Intent::Delete { copy, .. } => state.copy(copy).and_then(thing).is_none(),
        };
        if done { Resolution::Done } else { Resolution::DidNotHappen }
    }

    /// MovePolicy a resource to another stack, with everything that it depends on.
    async fn to_stack(&self, name: &Name) -> Ended {
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
        let names = vec![name.to_string()];
        let edit = StateEdit::MoveToStack { names, to: Box::new(other), dependencies: Follow::Yes };
        if let Err(error) = self.edit(edit).await {
            return self.refused_by(error);
        }
        if self.process.is_alive() {
            self.tape.reach("something went to another stack");
        }
        Ok(Attempt::Succeeded)
    }

    /// A foreign tool writes a record that breaks a rule: it is refused, and nothing comes of it.
    pub(crate) async fn miswrites(&self, program: &Program, name: &str) -> Ended {
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
        let nobody = CopyRef { uid: Uid("nobody".to_owned()), generation: Generation(1) };
        resource.dependencies.push(nobody);
        resource.dependencies.sort_unstable();
        let run = stack.open("miswrite", Some(loaded.version), Takeover::IfDead).await?;
        self.knows(&run.id());
        let record = Record::Amend { resource: Box::new(resource) };
        match run.submit(record).durable().await {
            Err(JournalError::RecordRefused(_)) => self.tape.reach("a record that breaks a rule was refused"),
            Err(error) => return Err(error.into()),
            Ok(()) => {
                let what = "a resource needs what never was";
                return Err(Failed::Lost(loss("a record that breaks a rule is refused", what)));
            }
        }
        let broken = JournalError::Io { action: "go on", problem: "a record was refused".to_owned() };
        drop(run.abandon(broken).await);
        Ok(Attempt::Unfinished)
    }
}
