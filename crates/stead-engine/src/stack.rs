//! A stack in a store: load it, recover the operations of an interrupted run, open a run.

use std::path::PathBuf;
use std::sync::Arc;

use stead_journal::{
    JournalError, Loaded, LocalSpool, OpenRequest, ReadVersion, Run, Spool, StackKeys, Takeover,
    load_with_spool, open, wait_for_lock,
};
use stead_model::{Diagnostic, Event, RunResult};
use stead_state::{Command, Owner, Snapshot, State};
use stead_store::Store;
use stead_world::World;

use crate::recover::is_deletion;
use crate::{CurrentGuards, Doubtful, Engine, StackSecrets, finish_transfers};

/// Location of a stack, and the files of this process.
#[derive(Clone)]
pub struct Stack {
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
    pub world: World,
    /// Folder with the files that show that this process is alive.
    pub claims: PathBuf,
    /// The data keys of the stack.
    pub secrets: StackSecrets,
}

impl Stack {
    /// Reads the stack. Writes nothing.
    pub async fn load(&self) -> Result<Loaded, JournalError> {
        let local = Some(LocalSpool::new(&self.world, &self.claims));
        load_with_spool(&Spool { store: self.store.clone(), keys: self.keys.clone(), local }).await
    }

    /// Opens the secrets of an earlier snapshot with the current ring, which has every key of the stack. A secret that does not
    /// open says so when it is needed.
    pub(crate) async fn open_earlier(&self, snapshot: &Snapshot) -> Result<(), JournalError> {
        let earlier = State::from(snapshot.clone());
        if !earlier.has_secrets() {
            return Ok(());
        }
        let loaded = self.load().await?;
        let _ = self.secrets.unlock(&self.keys.environment(), &loaded.state).await;
        earlier.open_secrets(&self.secrets.crypter());
        Ok(())
    }

    /// Waits until the lock is free or its holder is dead. `waiting` is called once, with the holder.
    pub async fn wait(&self, waiting: &mut dyn FnMut(&Owner)) -> Result<Takeover, JournalError> {
        wait_for_lock(&self.store, &self.keys, &self.world, waiting).await
    }

    /// Opens a run.
    ///
    /// Fails if the stack is no longer at the version `planned_on`; `None` accepts every version.
    pub async fn open(
        &self,
        command: impl Into<Command>,
        planned_on: Option<ReadVersion>,
        takeover: Takeover,
    ) -> Result<Run, JournalError> {
        open(OpenRequest {
            store: self.store.clone(),
            keys: self.keys.clone(),
            world: self.world.clone(),
            command: command.into(),
            claims: self.claims.clone(),
            planned_on,
            takeover,
            crypter: self.secrets.crypter(),
        })
        .await
    }
}

/// Result of the recovery before a run.
pub enum RecoveryResult {
    /// No operation is pending, except for deletions that wait for the guards; a run may plan on this state.
    Ready(Box<Loaded>),
    /// A person has to resolve these operations.
    InDoubt(Vec<Doubtful>),
    /// Operations were repeated and failed.
    Failed(Vec<Diagnostic>),
}

impl Engine {
    /// Loads the stack for a run, and recovers pending operations of earlier runs first.
    pub async fn load_recovered(
        &self,
        stack: &Stack,
        guards: Option<&CurrentGuards<'_>>,
        events: &mut dyn FnMut(Event),
    ) -> Result<RecoveryResult, JournalError> {
        let loaded = stack.load().await?;
        self.recover_loaded(stack, loaded, guards, events).await
    }

    /// Recovers pending operations like [`load_recovered`](Engine::load_recovered), for a stack that was just loaded.
    ///
    /// Without guards, deletions that could be sent again stay pending, and hold nothing up.
    pub async fn recover_loaded(
        &self,
        stack: &Stack,
        mut loaded: Loaded,
        guards: Option<&CurrentGuards<'_>>,
        events: &mut dyn FnMut(Event),
    ) -> Result<RecoveryResult, JournalError> {
        loop {
            if !loaded.state.transfers().departing.is_empty() {
                finish_transfers(stack).await?;
                loaded = stack.load().await?;
                stack.secrets.open_again(&loaded.state);
            }
            let (mut repeatable, doubtful) = self.triage(&loaded.state);
            repeatable.retain(|pending| guards.is_some() || !is_deletion(pending));
            if repeatable.is_empty() && doubtful.is_empty() && loaded.spooled_answers == 0 {
                return Ok(RecoveryResult::Ready(Box::new(loaded)));
            }
            let locked = loaded.head.as_ref().is_some_and(|head| head.owner.is_some());
            if repeatable.is_empty() && !locked && loaded.spooled_answers == 0 {
                let doubtful = self.explained(&loaded.state, &stack.secrets, doubtful).await;
                return Ok(RecoveryResult::InDoubt(doubtful));
            }
            let run = stack.open("recover", None, Takeover::IfDead).await?;
            // The dead run may have written more after the stack was loaded.
            let (repeatable, doubtful) = self.triage(run.base());
            let doubtful = self.explained(run.base(), &stack.secrets, doubtful).await;
            let recovered = self.recover(&run, &repeatable, guards, events).await?;
            let failed = !recovered.problems.is_empty();
            run.close(if failed { RunResult::Failed } else { RunResult::Succeeded }).await?;
            if failed {
                return Ok(RecoveryResult::Failed(recovered.problems));
            }
            if !doubtful.is_empty() {
                return Ok(RecoveryResult::InDoubt(doubtful));
            }
            // Another run may have started and died in between.
            loaded = stack.load().await?;
            stack.secrets.open_again(&loaded.state);
        }
    }
}
