//! Creating, removing and purging a stack; `rename.rs` moves one to another environment.
//!
//! **Invariant:** a head is never deleted, and neither is the seal of an epoch. They keep late writers out.

mod rename;

use std::sync::Arc;

use bytes::Bytes;
use stead_model::{Epoch, RunId, RunResult, StackId};
use stead_state::{Absent, Head};
use stead_store::{Expect, Key, Store, StoreError, Version};
use stead_world::World;

use crate::load::{Presence, check, presence, read_head};
use crate::{JournalError, Run, StackKeys};

use rename::finish_arrival;
pub use rename::rename;

/// Creates an empty stack with one write, also where an earlier stack was removed or renamed.
pub async fn create(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    world: &World,
) -> Result<StackId, JournalError> {
    let exists = || JournalError::Exists { environment: keys.environment() };
    let (head, expect) = match read_head(store, keys).await? {
        None => (first_head(world)?, Expect::Absent),
        Some((old, version)) => {
            match presence(store, keys, old.clone()).await? {
                Presence::Stack(_) => return Err(exists()),
                Presence::NoStack(_) => {}
                // The renamed stack exists only as long as this head says that it left.
                Presence::Renamed { to, at } => finish_arrival(store, keys, &to, at).await?,
            }
            (next_head(world, &old)?, Expect::Version(version))
        }
    };
    world.crash_point("stack.new.before");
    match swap_head(store, keys, &head, expect).await {
        Err(JournalError::StateChanged) => Err(exists()),
        other => other.map(|_| head.stack),
    }
}

/// Returns the head of a stack that was never opened.
pub(crate) fn first_head(world: &World) -> Result<Head, JournalError> {
    let uuid = world.entropy.uuid().map_err(JournalError::io("draw a random number"))?;
    // No epoch was ever open: the base is ahead of it.
    let stack = StackId(uuid);
    Ok(Head { stack, epoch: Epoch(0), owner: None, snapshot: None, base: Epoch(1), absent: None })
}

/// Returns the head of a new stack in the place of a removed one: another stack id, and epochs that continue,
/// so that writers of the removed stack stay fenced.
pub(crate) fn next_head(world: &World, old: &Head) -> Result<Head, JournalError> {
    Ok(Head { epoch: old.epoch, base: old.epoch.next(), ..first_head(world)? })
}

/// Deletes the history and the snapshots of a stack that no longer exists. Returns the number of deleted
/// objects.
pub async fn purge(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<usize, JournalError> {
    match read_head(store, keys).await? {
        Some((head, _)) => {
            if let Presence::Stack(_) = presence(store, keys, head).await? {
                return Err(JournalError::Exists { environment: keys.environment() });
            }
        }
        None => return Ok(0),
    }
    let mut objects = store.list(&keys.histories()).await?;
    objects.extend(store.list(&keys.snapshots()).await?);
    for key in &objects {
        store.delete(key).await?;
    }
    Ok(objects.len())
}

/// Replaces the head. Fails with `StateChanged` if another run replaced it first.
pub(crate) async fn swap_head(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    head: &Head,
    expect: Expect,
) -> Result<Version, JournalError> {
    match store.put(&keys.head(), Bytes::from(head.encode()), expect).await {
        // The request may have been delivered twice, with only the second answer coming back. No two runs
        // write the same head, so an equal head is this one.
        Err(StoreError::Conflict { .. }) => match read_head(store, keys).await? {
            Some((found, version)) if found == *head => Ok(version),
            _ => Err(JournalError::StateChanged),
        },
        other => Ok(other?),
    }
}

impl Run {
    /// Ends the run, and the stack with it. Runs of older epochs can never write again.
    pub async fn retire_stack(self, absent: Absent) -> Result<(), JournalError> {
        let (mut held, since) = self.drain().await?;
        let run = RunId(format!("run-{}", held.head.epoch.0));
        let mut last = check(&held.state)?;
        last.run = Some(run.clone());
        let (bytes, digest) = last.encode();
        let (store, keys) = (held.request.store.clone(), held.request.keys.clone());
        put_once(&store, &keys.snapshot(&digest), Bytes::from(bytes)).await?;
        let record = held.record(run, since, RunResult::Succeeded, held.head.snapshot.clone(), digest);
        put_once(&store, &keys.history(&record.run), Bytes::from(record.encode())).await?;
        held.request.world.crash_point("run.leave.before_head");
        let base = held.head.epoch.next();
        let old = held.head.base;
        let head = Head { owner: None, snapshot: None, base, absent: Some(absent), ..held.head.clone() };
        held.version = match swap_head(&store, &keys, &head, Expect::Version(held.version.clone())).await {
            Err(JournalError::StateChanged) => return Err(JournalError::Fenced),
            other => other?,
        };
        held.request.world.crash_point("run.leave.after_head");
        for epoch in old.0..base.0 {
            // Best effort: a batch that stays is never read again.
            let _ = held.forget_journal(Epoch(epoch)).await;
        }
        held.release().await;
        Ok(())
    }
}

/// Stores an immutable object. An object that is already stored under the key has the same bytes.
pub(crate) async fn put_once(store: &Arc<dyn Store>, key: &Key, body: Bytes) -> Result<(), JournalError> {
    match store.put(key, body, Expect::Absent).await {
        Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
        Err(other) => Err(other.into()),
    }
}
