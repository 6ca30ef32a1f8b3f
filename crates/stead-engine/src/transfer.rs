//! Moves resources between two stacks of a project, so that they are in one of them at every moment.
//!
//! `Depart` in the source, `Arrive` in the target, `Departed` in the source. Whoever comes after a crash looks at
//! the target, with the target's epoch bumped first: who could still have written the arrival is fenced then.

use std::collections::BTreeSet;

use stead_journal::{JournalError, ReadVersion, Run, Takeover};
use stead_model::{Environment, Resource, RunResult, Uid};
use stead_state::{Arrival, Departure, Record, StackRef, relocated};

use crate::Stack;

const COMMAND: &str = "state mv";

/// What to move, from where to where, as it was looked at.
pub struct Transfer<'a> {
    pub source: &'a Stack,
    pub source_version: ReadVersion,
    pub target: &'a Stack,
    pub target_version: ReadVersion,
    /// The environment whose names they get.
    pub environment: &'a Environment,
    pub uids: &'a BTreeSet<Uid>,
}

impl Stack {
    /// Another stack of the same project, in the same store.
    #[must_use]
    pub fn sibling(&self, place: &StackRef) -> Stack {
        Stack { keys: self.keys.sibling(&place.environment, &place.target), ..self.clone() }
    }

    /// How another stack of the project names this one.
    pub fn place(&self) -> StackRef {
        StackRef { environment: self.keys.environment(), target: self.keys.target() }
    }
}

/// Carries it out. The caller has seen to it that nothing is pending and that nothing is torn apart.
pub async fn transfer(transfer: Transfer<'_>) -> Result<(), JournalError> {
    let Transfer { source, source_version, target, target_version, environment, uids } = transfer;
    let id = source
        .world
        .entropy
        .uuid()
        .map_err(|error| JournalError::Io { action: "draw a random number", problem: error.to_string() })?;
    let from = source.open(COMMAND, Some(source_version), Takeover::IfDead).await?;
    let to = match open_target(target, Some(target_version)).await {
        Ok(to) => to,
        Err(error) => {
            from.close(RunResult::Failed).await?;
            return Err(error);
        }
    };
    let resources: Vec<Resource> = uids
        .iter()
        .flat_map(|uid| from.base().copies_of(uid))
        .map(|resource| relocated(resource, environment))
        .collect();
    let departure =
        Departure { transfer: id.clone(), to: target.place(), uids: uids.iter().cloned().collect() };
    from.submit(Record::Depart { departure }).durable().await?;
    source.world.crash_point("transfer.after_depart");
    let arrival = Arrival { transfer: id.clone(), from: source.place() };
    to.submit(Record::Arrive { arrival, resources }).durable().await?;
    source.world.crash_point("transfer.after_arrive");
    acknowledged(&from, to, id).await?;
    from.close(RunResult::Succeeded).await.map(|_| ())
}

/// The arrival is durable: the source lets go, then the target may forget the mark.
async fn acknowledged(from: &Run, to: Run, transfer: String) -> Result<(), JournalError> {
    from.submit(Record::Departed { transfer: transfer.clone() }).durable().await?;
    to.submit(Record::Acknowledge { transfer }).durable().await?;
    to.close(RunResult::Succeeded).await.map(|_| ())
}

/// The stacks that something of this one was on its way to when a run stopped.
pub async fn awaited_targets(source: &Stack) -> Result<Vec<Stack>, JournalError> {
    let loaded = source.load().await?;
    let departing = loaded.state.transfers().departing.iter();
    Ok(departing.map(|departure| source.sibling(&departure.to)).collect())
}

/// Finishes what a crash interrupted, or undoes it. `false`: there was nothing.
pub async fn finish_transfers(source: &Stack) -> Result<bool, JournalError> {
    let loaded = source.load().await?;
    if loaded.state.transfers().departing.is_empty() {
        return Ok(false);
    }
    // The mover, if it lives, holds the source: then this fails, and it is for the mover to finish.
    let from = source.open(COMMAND, None, Takeover::IfDead).await?;
    match finish_all(source, &from).await {
        Ok(()) => from.close(RunResult::Succeeded).await.map(|_| true),
        Err(error) => {
            // Why it cannot be finished is what counts, not whether that could be written down.
            let _ = from.close(RunResult::Failed).await;
            Err(error)
        }
    }
}

async fn finish_all(source: &Stack, from: &Run) -> Result<(), JournalError> {
    for Departure { transfer, to, .. } in from.base().transfers().departing.clone() {
        let target = source.sibling(&to);
        let exists = match target.load().await {
            Ok(loaded) => loaded.head.is_some(),
            // It could not be renamed with an arrival in it that the source did not know of.
            Err(JournalError::Renamed { .. }) => false,
            Err(error) => return Err(error),
        };
        let to = match exists {
            true => Some(open_target(&target, None).await?),
            false => None,
        };
        match to {
            Some(to) if to.base().transfers().has_arrived(&transfer) => {
                acknowledged(from, to, transfer).await?;
            }
            to => {
                from.submit(Record::Stayed { transfer }).durable().await?;
                if let Some(to) = to {
                    to.close(RunResult::Succeeded).await?;
                }
            }
        }
    }
    Ok(())
}

/// Whoever reads that it is held must know that another stack is meant.
async fn open_target(target: &Stack, planned_on: Option<ReadVersion>) -> Result<Run, JournalError> {
    target.open(COMMAND, planned_on, Takeover::IfDead).await.map_err(|error| match error {
        JournalError::Held(owner) => JournalError::OtherStackHeld { stack: target.place(), owner },
        error => error,
    })
}

/// The stacks that still wait to hear of an arrival here: until they did, this one must stay where it is.
pub async fn waiting_sources(stack: &Stack) -> Result<Vec<StackRef>, JournalError> {
    let mut waiting = Vec::new();
    for Arrival { transfer, from } in &stack.load().await?.state.transfers().arrived {
        let source = match stack.sibling(from).load().await {
            Ok(loaded) => loaded,
            Err(JournalError::Renamed { .. }) => continue,
            Err(error) => return Err(error),
        };
        if source.state.transfers().departing.iter().any(|departure| departure.transfer == *transfer) {
            waiting.push(from.clone());
        }
    }
    Ok(waiting)
}
