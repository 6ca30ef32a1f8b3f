//! Transfers of resources between two stacks of a project. Each resource is in one of them at every moment.
//!
//! The records are `Depart` in the source, `Arrive` in the target, `Departed` in the source. Recovery after a crash opens a run on
//! the target first, which fences a run that could still write the arrival, and then checks for the arrival.

use std::collections::BTreeSet;

use stead_journal::{JournalError, ReadVersion, Run, Takeover};
use stead_model::{Environment, ProviderPlaces, Resource, RunResult, Uid};
use stead_state::{Arrival, Departure, Record, StackRef, forget_digests, relocated};

use crate::Stack;

const COMMAND: &str = "state mv";

/// A transfer, with the versions of both stacks that it was planned on.
pub struct Transfer<'a> {
    pub source: &'a Stack,
    pub source_version: ReadVersion,
    pub target: &'a Stack,
    pub target_version: ReadVersion,
    /// The environment in the new names of the resources.
    pub environment: &'a Environment,
    pub uids: &'a BTreeSet<Uid>,
    /// Places of the default providers, for a target that does not record them yet.
    pub places: Option<ProviderPlaces>,
}

impl Stack {
    /// Returns another stack of the same project, in the same store.
    #[must_use]
    pub fn sibling(&self, place: &StackRef) -> Stack {
        let keys = self.keys.sibling(&place.environment, &place.target);
        Stack { keys, secrets: self.secrets.of_another_stack(), ..self.clone() }
    }

    /// Returns the reference to this stack in records of other stacks.
    pub fn place(&self) -> StackRef {
        StackRef { environment: self.keys.environment(), target: self.keys.target() }
    }
}

/// Transfers the resources.
///
/// The caller makes sure that no operation is pending and that no dependency leads from one stack to the other.
pub async fn transfer(transfer: Transfer<'_>) -> Result<(), JournalError> {
    let Transfer { source, source_version, target, target_version, environment, uids, places } = transfer;
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
        .map(|resource| {
            let mut moved = relocated(resource, environment);
            // Write-only values without a value: the next plan sends them again.
            forget_digests(&mut moved);
            moved
        })
        .collect();
    let departure =
        Departure { transfer: id.clone(), to: target.place(), uids: uids.iter().cloned().collect() };
    from.submit(Record::Depart { departure }).durable().await?;
    source.world.crash_point("transfer.after_depart");
    let arrival = Arrival { transfer: id.clone(), from: source.place() };
    if let Some(places) = places {
        to.submit(Record::Places { places }).durable().await?;
    }
    to.submit(Record::Arrive { arrival, resources }).durable().await?;
    source.world.crash_point("transfer.after_arrive");
    acknowledge(&from, to, id).await?;
    from.close(RunResult::Succeeded).await.map(|_| ())
}

/// Removes the resources from the source after a durable arrival, and then the arrival from the target.
async fn acknowledge(from: &Run, to: Run, transfer: String) -> Result<(), JournalError> {
    from.submit(Record::Departed { transfer: transfer.clone() }).durable().await?;
    to.submit(Record::Acknowledge { transfer }).durable().await?;
    to.close(RunResult::Succeeded).await.map(|_| ())
}

/// Returns the target stacks of the unfinished transfers of this stack.
pub async fn awaited_targets(source: &Stack) -> Result<Vec<Stack>, JournalError> {
    let loaded = source.load().await?;
    let departing = loaded.state.transfers().departing.iter();
    Ok(departing.map(|departure| source.sibling(&departure.to)).collect())
}

/// Finishes or undoes interrupted transfers. Returns false if there were none.
pub async fn finish_transfers(source: &Stack) -> Result<bool, JournalError> {
    let loaded = source.load().await?;
    if loaded.state.transfers().departing.is_empty() {
        return Ok(false);
    }
    // A transfer that is still under way holds the lock of the source, so that this fails.
    let from = source.open(COMMAND, None, Takeover::IfDead).await?;
    match finish_all(source, &from).await {
        Ok(()) => from.close(RunResult::Succeeded).await.map(|_| true),
        Err(error) => {
            // The first error is the one to report.
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
            // A stack with an unacknowledged arrival cannot be renamed, so that there was none.
            Err(JournalError::Renamed { .. }) => false,
            Err(error) => return Err(error),
        };
        let to = match exists {
            true => Some(open_target(&target, None).await?),
            false => None,
        };
        match to {
            Some(to) if to.base().transfers().has_arrived(&transfer) => {
                acknowledge(from, to, transfer).await?;
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

/// Opens a run on the target. The error for a held lock names the target.
async fn open_target(target: &Stack, planned_on: Option<ReadVersion>) -> Result<Run, JournalError> {
    target.open(COMMAND, planned_on, Takeover::IfDead).await.map_err(|error| match error {
        JournalError::Held(owner) => JournalError::OtherStackHeld { stack: target.place(), owner },
        error => error,
    })
}

/// Returns the source stacks with an unfinished transfer that has arrived here.
///
/// This stack must not be renamed or removed before they are finished.
pub async fn waiting_sources(stack: &Stack) -> Result<Vec<StackRef>, JournalError> {
    let mut unfinished = Vec::new();
    for Arrival { transfer, from } in &stack.load().await?.state.transfers().arrived {
        let source = match stack.sibling(from).load().await {
            Ok(loaded) => loaded,
            Err(JournalError::Renamed { .. }) => continue,
            Err(error) => return Err(error),
        };
        if source.state.transfers().departing.iter().any(|departure| departure.transfer == *transfer) {
            unfinished.push(from.clone());
        }
    }
    Ok(unfinished)
}
