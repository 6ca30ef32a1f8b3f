//! The operations of the library, for every front end and for the simulator alike.
//!
//! ```text
//! Workspace ──preview──▶ Proposal     ──permit──▶ Permitted     ──apply──▶ Report
//!           ──edit─────▶ ProposedEdit ──permit──▶ PermittedEdit ──apply──▶ EditReport
//! ```
//!
//! A preview reads and asks, and changes nothing but to finish the operations of an interrupted run. A proposal can be shown.
//! `permit` asks every guard over the whole proposal, in [`guards`](self::guards) and nowhere else. `apply` checks again that the
//! pinfile and the state have not changed since the preview.
//!
//! **Invariants:** no other module of the library opens a run; nothing here knows a terminal or the syntax of a command line.

mod apply;
mod approval;
mod declare;
mod edit;
mod error;
mod event;
mod find;
mod guards;
mod held;
mod import;
mod keys;
mod list;
mod log;
mod pins;
mod places;
mod preview;
mod proposal;
mod protection;
mod read_set;
mod request;
mod telemetry;

use std::sync::Arc;

use stead_guard::OuterLevels;
use stead_guard::pins::{Orphans, PinfileStatus};
use stead_journal::{Loaded, ReadVersion, Run, Takeover};
use stead_model::{CopyRef, Environment, Event, Name, RunResult};
use stead_state::{Command, Owner, State};

use crate::ops::places::Untold;
use crate::recover::is_deletion;
use crate::{CurrentGuards, Engine, OpenPinfile, PinfileLocation, RecoveryResult, Stack, awaited_targets};

pub use apply::Report;
pub use approval::{Approval, Stale};
pub use declare::{Declaration, Declares, EarlierRun, Nothing, Protecting};
pub use edit::{
    Accepts, Change, EditChange, EditOutcome, EditReport, Guard, Holder, Lineage, Loss, Losses,
    PermittedEdit, ProposedEdit, Protection, Purge, Remaining, ResolveTarget, StateEdit, declared_places,
};
pub use error::{OpClass, OpError, PinsRefused};
pub use event::OpEvent;
pub use find::find;
pub use held::HeldPin;
pub use import::{Import, Undeclared};
pub use keys::{ChangesRing, KeysChange, key_owner};
pub use list::{ListScope, ListedResource};
pub use pins::{PinChange, PinEdit, ProposedPinEdit};
pub use places::DefaultPlace;
pub use preview::Compiled;
pub use proposal::{Cause, Permitted, Proposal, Unfinished};
pub use request::{Access, Look, PinUse, PlanRequest, RunKind, Wait};
pub use telemetry::{LogLook, LogReader, Moment, NamedLine, NamedStats, Rest, Series, Span, Statistic, Unit};

/// A stack with everything that an operation on it needs.
#[derive(Clone)]
pub struct Workspace {
    pub engine: Engine,
    pub stack: Stack,
    /// The pinfile, which also names environment and target.
    pub pinfile: PinfileLocation,
    /// The mark settings around the program, without the flags of a call.
    pub levels: OuterLevels,
}

impl Workspace {
    pub fn environment(&self) -> &Environment {
        &self.pinfile.environment
    }

    pub fn target(&self) -> &str {
        &self.pinfile.target
    }

    /// Reads the stack. Writes nothing.
    pub async fn load(&self) -> Result<Loaded, OpError> {
        let loaded = self.stack.load().await?;
        log::loaded(&loaded.state);
        Ok(loaded)
    }

    /// Reads the stack, which must exist.
    pub async fn load_existing(&self) -> Result<Loaded, OpError> {
        let loaded = self.load().await?;
        match loaded.head {
            Some(_) => Ok(loaded),
            None => Err(error::no_stack(self)),
        }
    }

    /// Another stack of the same project in the same store.
    #[must_use]
    pub fn sibling(&self, environment: &Environment, target: &str, levels: OuterLevels) -> Workspace {
        let keys = self.stack.keys.sibling(&environment.to_string(), target);
        let pinfile = PinfileLocation {
            target: target.to_owned(),
            environment: environment.clone(),
            ..self.pinfile.clone()
        };
        let owners = self.engine.owners.as_ref();
        let owners = owners.map(|owners| owners.of_sibling(&environment.to_string(), target));
        Workspace {
            engine: Engine { owners, ..self.engine.clone() },
            stack: Stack { keys, secrets: self.stack.secrets.of_another_stack(), ..self.stack.clone() },
            pinfile,
            levels,
        }
    }

    /// Reads the stack, after its holder has finished if the operation waits for the lock.
    pub(crate) async fn load_in_turn(
        &self,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Loaded, OpError> {
        if wait == Wait::ForTheLock {
            self.wait_for_lock(events).await?;
        }
        self.load().await
    }

    /// Reads the stack for a run without a program: operations of an interrupted run are finished first.
    ///
    /// Deletions among them stay pending and are reported, because only the program tells whether they are still wanted.
    pub(crate) async fn load_settled(
        &self,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Loaded, OpError> {
        let loaded = self.settled_without_program(wait, events).await?;
        let names: Vec<Name> = pending_deletions(&loaded.state).map(|(_, name)| name).collect();
        if !names.is_empty() {
            events(OpEvent::DeletionsLeft { names });
        }
        Ok(loaded)
    }

    /// Reads the stack like `load_settled`, for an edit that cannot be made beside a pending deletion.
    pub(crate) async fn load_finished(
        &self,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Loaded, OpError> {
        let loaded = self.settled_without_program(wait, events).await?;
        let left = pending_deletions(&loaded.state).next();
        match left {
            Some((_, name)) => Err(error::unfinished_deletion(self, &name)),
            None => Ok(loaded),
        }
    }

    async fn settled_without_program(
        &self,
        wait: Wait,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Loaded, OpError> {
        let loaded = self.load_in_turn(wait, events).await?;
        self.open_secrets(&loaded.state, None, Access::Apply).await?;
        self.settle(loaded, None, events).await
    }

    /// The pins of the pinfile, for an edit that changes names. A pinfile that cannot be read is an error, because its pins
    /// could not follow.
    pub(crate) fn listed_pins(&self) -> Result<PinfileStatus, OpError> {
        let open = OpenPinfile::open(self.pinfile.clone(), Orphans::Refuse).map_err(OpError::pinfile)?;
        Ok(open.standing())
    }

    /// The pins that forbid deletions, where no program is evaluated. Without a readable pinfile, the pins in state hold.
    pub(crate) fn pins_in_force(&self) -> PinfileStatus {
        let open = OpenPinfile::open(self.pinfile.clone(), Orphans::Refuse);
        open.map(|pinning| pinning.standing()).unwrap_or_default()
    }

    /// Finishes the operations of an interrupted run; without guards all but the deletions. Operations that only a person can
    /// answer for are an error.
    pub(crate) async fn settle(
        &self,
        loaded: Loaded,
        guards: Option<&CurrentGuards<'_>>,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Loaded, OpError> {
        if loaded.state.pending().next().is_some() {
            self.compare_places(&loaded.state, (None, &[]), Untold::Refuse).await?;
            events(OpEvent::RecoveryStarted { state: loaded.state.clone() });
        }
        let mut on_event = |event: Event| {
            log::event(&event);
            events(OpEvent::Run(event));
        };
        match self.engine.recover_loaded(&self.stack, loaded, guards, &mut on_event).await? {
            RecoveryResult::Ready(loaded) => Ok(*loaded),
            RecoveryResult::InDoubt(doubtful) => Err(OpError::InDoubt(doubtful)),
            RecoveryResult::Failed(problems) => Err(OpError::Recovery(problems)),
        }
    }

    pub(crate) async fn open(
        &self,
        command: impl Into<Command>,
        planned_on: Option<ReadVersion>,
        takeover: Takeover,
        events: &mut dyn FnMut(OpEvent),
    ) -> Result<Run, OpError> {
        let command = command.into();
        let name = command.name.clone();
        let run = self.stack.open(command, planned_on, takeover).await?;
        log::opened(&name, run.id().as_str());
        events(OpEvent::RunOpened { run: run.id() });
        Ok(run)
    }

    /// Waits for the holder of the stack, and of the stacks that an interrupted move leads to.
    pub async fn wait_for_lock(&self, events: &mut dyn FnMut(OpEvent)) -> Result<(), OpError> {
        wait_for(&self.stack, events).await?;
        for target in awaited_targets(&self.stack).await? {
            wait_for(&target, events).await?;
        }
        Ok(())
    }
}

/// Returns the copies with a pending deletion, and their names.
pub(crate) fn pending_deletions(state: &State) -> impl Iterator<Item = (CopyRef, Name)> {
    let deletions = state.pending().filter(|pending| is_deletion(pending));
    deletions.filter_map(|pending| Some((pending.intent.copy(), state.subject(&pending.intent)?)))
}

/// Waits for the holder of a stack. A holder without a heartbeat is fenced.
async fn wait_for(stack: &Stack, events: &mut dyn FnMut(OpEvent)) -> Result<(), OpError> {
    let mut waiting = |owner: &Owner| events(OpEvent::Waiting(Arc::new(owner.clone())));
    if stack.wait(&mut waiting).await? == Takeover::Always {
        let run = stack.open(RunKind::Unlock.as_str(), None, Takeover::Always).await?;
        events(OpEvent::TakenOver { run: run.id(), stack: stack.place() });
        run.close(RunResult::Succeeded).await?;
    }
    Ok(())
}
