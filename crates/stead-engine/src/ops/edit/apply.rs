//! Carries a permitted edit out, in a run of its own.

use stead_journal::{JournalError, ReadVersion, Run, Takeover, create, purge, rename, repair};
use stead_model::{Code, CopyRef, Diagnostic, Environment, Event, Resource, RunResult};
use stead_state::{Absent, Pending, Record, RetainReason, State, relocated};

use super::import_state::retaining;
use super::{EditOutcome, EditReport, PermittedEdit, ProposedEdit, Purge, StackMove, Work};
use crate::ops::apply::write_records;
use crate::ops::keys::ReadSecrets;
use crate::ops::places::Untold;
use crate::ops::{Access, OpError, OpEvent, RunKind, Workspace};
use crate::{Recovered, Resolution, Transfer, transfer};

impl PermittedEdit {
    /// Applies the edit, unless the state is not the one that it was made on any more.
    pub async fn apply(self, events: &mut dyn FnMut(OpEvent)) -> Result<EditReport, OpError> {
        let ProposedEdit { workspace, version, work, forgets, base, .. } = self.edit;
        let stack = &workspace.stack;
        let mut open =
            async |kind| workspace.open(kind, Some(version.clone()), Takeover::IfDead, events).await;
        let (run, outcome) = match work {
            Work::Nothing => (None, EditOutcome::Done),
            Work::Append { kind, records } => {
                let run = open(kind).await?;
                let id = run.id();
                workspace.append_records(run, records).await?;
                (Some(id), EditOutcome::Done)
            }
            Work::Forget(copies) => {
                let run = open(RunKind::Forget).await?;
                let id = run.id();
                forget(run, copies).await?;
                (Some(id), EditOutcome::Done)
            }
            Work::Settle { pending, answer } => return workspace.answer(*pending, answer, events).await,
            Work::MoveToStack(mut moved) => {
                let pins = std::mem::take(&mut moved.pins);
                let version = workspace.record_pins(RunKind::Move, pins, version, events).await?;
                workspace.move_records(*moved, version, base.as_deref()).await?;
                (None, EditOutcome::Done)
            }
            Work::CreateStack => {
                create(&stack.store, &stack.keys, &stack.world).await?;
                (None, EditOutcome::Done)
            }
            Work::RemoveStack(history) => {
                let run = open(RunKind::RemoveStack).await?;
                let id = run.id();
                run.retire_stack(Absent::Removed).await?;
                if history == Purge::Delete {
                    purge(&stack.store, &stack.keys).await?;
                }
                (Some(id), EditOutcome::Done)
            }
            Work::DeleteHistory => {
                let objects = purge(&stack.store, &stack.keys).await?;
                (None, EditOutcome::HistoryDeleted { objects })
            }
            Work::RenameStack { to, pins } => {
                let kind = RunKind::RenameStack;
                let version = workspace.record_pins(kind, pins, version, events).await?;
                let run = workspace.open(kind, Some(version), Takeover::IfDead, events).await?;
                let id = run.id();
                workspace.rename_records(run, &to).await?;
                (Some(id), EditOutcome::Done)
            }
            Work::ImportState(snapshot) => {
                let run = open(RunKind::ImportState).await?;
                let id = run.id();
                let snapshot = retaining(*snapshot, base.as_deref(), &forgets, &id);
                run.close_with(snapshot).await?;
                (Some(id), EditOutcome::Done)
            }
            Work::Repair { survey, number } => {
                let proposal = &survey.proposals[number - 1];
                let snapshot = repair(&stack.store, &stack.keys, &stack.world, &survey, proposal).await?;
                (None, EditOutcome::Repaired { snapshot })
            }
            Work::Unlock => {
                let run = workspace.open(RunKind::Unlock, None, Takeover::Always, events).await?;
                let (id, unfinished) = (run.id(), run.in_doubt().len());
                run.close(RunResult::Succeeded).await?;
                (Some(id), EditOutcome::Unlocked { unfinished })
            }
        };
        if let Some(base) = base.filter(|_| !forgets.is_empty()) {
            workspace.release_owned(base.stack(), &forgets).await;
        }
        Ok(EditReport { run, outcome })
    }
}

async fn forget(run: Run, copies: Vec<CopyRef>) -> Result<(), OpError> {
    let kept = Some(Box::new(RetainReason { run: run.id(), source: None }));
    let records = copies.into_iter().map(|copy| Record::Forget { copy, kept: kept.clone() }).collect();
    write_records(&run, records).await?;
    run.close(RunResult::Succeeded).await?;
    Ok(())
}

impl Workspace {
    /// Writes records in a run of their own, with a key for their secrets.
    async fn append_records(&self, run: Run, records: Vec<Record>) -> Result<(), OpError> {
        let read = ReadSecrets::in_records(run.stack(), &records);
        if let Err(error) = self.ensure_key(&run, None, read).await {
            run.close(RunResult::Failed).await?;
            return Err(error);
        }
        write_records(&run, records).await?;
        run.close(RunResult::Succeeded).await?;
        Ok(())
    }

    /// Records pins in a run of their own, before the names of their resources change. Returns the version of the stack
    /// after it.
    async fn record_pins(
        &self,
        kind: RunKind,
        pins: Vec<Record>,
        version: ReadVersion,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<ReadVersion, OpError> {
        if pins.is_empty() {
            return Ok(version);
        }
        let run = self.open(kind, Some(version), Takeover::IfDead, events).await?;
        write_records(&run, pins).await?;
        let closed = run.close(RunResult::Succeeded).await?;
        let loaded = self.load().await?;
        if loaded.state.serial() != closed.state.serial() {
            return Err(JournalError::StateChanged.into());
        }
        Ok(loaded.version)
    }

    /// Moves records to another stack, and their owner marks with them.
    async fn move_records(
        &self,
        moved: StackMove,
        version: ReadVersion,
        base: Option<&State>,
    ) -> Result<(), OpError> {
        let copies = base.into_iter().flat_map(|base| moved.uids.iter().flat_map(|uid| base.copies_of(uid)));
        let resources: Vec<Resource> = copies.map(|copy| relocated(copy, &moved.environment)).collect();
        transfer(Transfer {
            source: &self.stack,
            source_version: version,
            target: &moved.target,
            target_version: moved.version,
            environment: &moved.environment,
            uids: &moved.uids,
            places: moved.places,
        })
        .await?;
        let (target, place) = (moved.target.load().await?, moved.target.place());
        self.carry_owned(target.state.stack(), (&place.environment, &place.target), &resources).await;
        match place.target == self.target() {
            true => self.carry_frozen(&moved.environment, &resources),
            false => Ok(()),
        }
    }

    /// Gives the stack to another environment, and the owner marks of its resources with it.
    async fn rename_records(&self, run: Run, to: &Environment) -> Result<(), OpError> {
        let state = run.base().clone();
        rename(run, to).await?;
        let resources: Vec<Resource> = state.copies().map(|copy| relocated(copy, to)).collect();
        self.carry_owned(state.stack(), (&to.to_string(), self.target()), &resources).await;
        self.carry_frozen(to, &resources)
    }

    /// Settles an operation in doubt.
    ///
    /// The run is opened first, on no particular state: a dead holder is taken over here, and the answer counts for the operation
    /// as it is recorded then.
    async fn answer(
        &self,
        pending: Pending,
        answer: Option<Resolution>,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<EditReport, OpError> {
        let loaded = self.load().await?;
        // A person's word needs no key; a repetition does if its request has a secret.
        self.open_secrets(&loaded.state, None, Access::Apply).await?;
        if answer != Some(Resolution::DidNotHappen) {
            self.compare_places(&loaded.state, (None, &[]), Untold::Refuse).await?;
        }
        if answer.is_none()
            && let Some(doubt) = self.lacks_key(&loaded.state, &pending).await
        {
            return Err(doubt);
        }
        if answer.as_ref().is_some_and(Resolution::states_outputs) {
            self.require_key_for_statement(&loaded.state).await?;
        }
        let run = self.open(RunKind::Resolve, None, Takeover::IfDead, events).await?;
        let id = run.id();
        let current = run.base().pending().find(|current| current.op == pending.op).cloned();
        let Some(current) = current else {
            run.close(RunResult::Succeeded).await?;
            return Ok(EditReport { run: Some(id), outcome: EditOutcome::Done });
        };
        let Some(word) = answer else {
            let mut on_event = |event: Event| events(OpEvent::Run(event));
            let Recovered { problems, .. } =
                self.engine.recover(&run, &[current], None, &mut on_event).await?;
            close(run, &problems).await?;
            if !problems.is_empty() {
                return Err(OpError::Recovery(problems));
            }
            return Ok(EditReport { run: Some(id), outcome: EditOutcome::Retried });
        };
        let settled = self.engine.settle_work(run.base(), &current, word.statement()).await;
        let records = match settled {
            Ok(()) => self.engine.resolve(run.base(), &current, &word).await,
            Err(problem) => Err(problem),
        };
        match records {
            Ok(records) => {
                run.submit_together(records).durable().await?;
                run.close(RunResult::Succeeded).await?;
                Ok(EditReport { run: Some(id), outcome: EditOutcome::Done })
            }
            Err(problem) => {
                run.close(RunResult::Failed).await?;
                Err(OpError::refused(problem))
            }
        }
    }

    /// Fails if the secrets of the stack do not open: stated outputs are searched for them.
    async fn require_key_for_statement(&self, state: &State) -> Result<(), OpError> {
        let environment = self.environment().to_string();
        self.stack.secrets.unlock(&environment, state).await.map_err(|error| {
            let message = format!("the outputs cannot be searched for secrets: {}", error.message);
            let problem = Diagnostic::error(Code::IN_DOUBT, message)
                .note("A secret in them would be recorded in the clear. The operation stays in doubt.");
            OpError::refused(error.help.into_iter().fold(problem, Diagnostic::help))
        })
    }

    /// Returns the doubt that a repetition would leave, because a secret of the operation does not open.
    async fn lacks_key(&self, state: &State, pending: &Pending) -> Option<OpError> {
        let (_, doubtful) = self.engine.triage(state);
        let locked = doubtful.into_iter().find(|one| one.pending.op == pending.op && one.waits_for_key())?;
        Some(OpError::InDoubt(self.engine.explained(state, &self.stack.secrets, vec![locked]).await))
    }
}

async fn close(run: Run, problems: &[Diagnostic]) -> Result<(), OpError> {
    run.close(if problems.is_empty() { RunResult::Succeeded } else { RunResult::Failed }).await?;
    Ok(())
}
