//! A stack and how to get at it: read, settle what an earlier run left, open a run.

use std::path::PathBuf;
use std::sync::Arc;

use stead_journal::{
    JournalError, Loaded, LocalSpool, OpenRequest, ReadVersion, Run, Spool, StackKeys, Takeover,
    load_with_spool, open, wait_for_lock,
};
use stead_model::{Diagnostic, Event, RunResult};
use stead_state::Owner;
use stead_store::Store;
use stead_world::World;

use crate::{CurrentGuards, Doubtful, Engine, finish_transfers};

/// Where a stack is.
#[derive(Clone)]
pub struct Stack {
    pub store: Arc<dyn Store>,
    pub keys: StackKeys,
    pub world: World,
    /// Where this process keeps the files that show it is alive.
    pub claims: PathBuf,
}

impl Stack {
    /// Reads the stack. Writes nothing.
    pub async fn load(&self) -> Result<Loaded, JournalError> {
        let local = Some(LocalSpool::new(&self.world, &self.claims));
        load_with_spool(&Spool { store: self.store.clone(), keys: self.keys.clone(), local }).await
    }

    /// Waits until the stack can be had, and says how. `waiting` is called once, with who holds it.
    pub async fn wait(&self, waiting: &mut dyn FnMut(&Owner)) -> Result<Takeover, JournalError> {
        wait_for_lock(&self.store, &self.keys, &self.world, waiting).await
    }

    /// Opens a run. `planned_on`: what the caller has planned on; `None`: whatever there is.
    pub async fn open(
        &self,
        command: &str,
        planned_on: Option<ReadVersion>,
        takeover: Takeover,
    ) -> Result<Run, JournalError> {
        open(OpenRequest {
            store: self.store.clone(),
            keys: self.keys.clone(),
            world: self.world.clone(),
            command: command.to_owned(),
            claims: self.claims.clone(),
            planned_on,
            takeover,
        })
        .await
    }
}

/// A stack after a look at what earlier runs left under way.
pub enum RecoveryResult {
    /// Nothing is under way; a run may plan on this.
    Ready(Box<Loaded>),
    /// Only a person can tell how these ended.
    InDoubt(Vec<Doubtful>),
    /// What could be repeated did not succeed.
    Failed(Vec<Diagnostic>),
}

impl Engine {
    /// Reads the stack for a run. What an earlier run left under way is finished first, where repeating it
    /// does no harm.
    pub async fn settle(
        &self,
        stack: &Stack,
        today: &CurrentGuards<'_>,
        events: &mut dyn FnMut(Event),
    ) -> Result<RecoveryResult, JournalError> {
        let loaded = stack.load().await?;
        self.settle_loaded(stack, loaded, today, events).await
    }

    /// As [`settle`](Engine::settle), for who has read the stack a moment ago.
    pub async fn settle_loaded(
        &self,
        stack: &Stack,
        mut loaded: Loaded,
        today: &CurrentGuards<'_>,
        events: &mut dyn FnMut(Event),
    ) -> Result<RecoveryResult, JournalError> {
        loop {
            if !loaded.state.transfers().departing.is_empty() {
                finish_transfers(stack).await?;
                loaded = stack.load().await?;
            }
            if loaded.state.pending().next().is_none() && loaded.spooled_answers == 0 {
                return Ok(RecoveryResult::Ready(Box::new(loaded)));
            }
            let (repeatable, doubtful) = self.triage(&loaded.state);
            let held = loaded.head.as_ref().is_some_and(|head| head.owner.is_some());
            if repeatable.is_empty() && !held && loaded.spooled_answers == 0 {
                return Ok(RecoveryResult::InDoubt(doubtful));
            }
            let run = stack.open("recover", None, Takeover::IfDead).await?;
            // What the dead run wrote after it was read is there now.
            let (repeatable, doubtful) = self.triage(run.base());
            let recovered = self.recover(&run, &repeatable, today, events).await?;
            let failed = !recovered.problems.is_empty();
            run.close(if failed { RunResult::Failed } else { RunResult::Succeeded }).await?;
            if failed {
                return Ok(RecoveryResult::Failed(recovered.problems));
            }
            if !doubtful.is_empty() {
                return Ok(RecoveryResult::InDoubt(doubtful));
            }
            // Somebody else may have come, and died, in between: look again.
            loaded = stack.load().await?;
        }
    }
}
