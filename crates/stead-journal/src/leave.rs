//! The beginning and the end of a stack: an empty one, one that is removed, and what a removed one leaves.
//!
//! **Invariant:** a head is never deleted, and no seal of an epoch either. They keep writers out that wake up late.

use std::sync::Arc;

use bytes::Bytes;
use stead_model::{RunResult, StackId};
use stead_state::{Absent, Head};
use stead_store::{Expect, Store, StoreError, Version};
use stead_world::World;

use crate::load::{Present, check, present, read_head};
use crate::open::{reborn, unborn};
use crate::rename::settle_arrival;
use crate::{JournalError, Run, StackKeys};

/// Makes an empty stack, with one write. Where one was removed or renamed, there is a new one then.
pub async fn create(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    world: &World,
) -> Result<StackId, JournalError> {
    let exists = || JournalError::Exists { environment: keys.environment() };
    let (head, expect) = match read_head(store, keys).await? {
        None => (unborn(world)?, Expect::Absent),
        Some((old, version)) => {
            match present(store, keys, old.clone()).await? {
                Present::Stack(_) => return Err(exists()),
                Present::Nothing(_) => {}
                // What arrives there counts only as long as this head says that it left.
                Present::Renamed { to, at } => settle_arrival(store, keys, &to, at).await?,
            }
            (reborn(world, &old)?, Expect::Version(version))
        }
    };
    world.crash_point("stack.new.before");
    match swap(store, keys, &head, expect).await {
        Err(JournalError::Moved) => Err(exists()),
        other => other.map(|_| head.stack),
    }
}

/// Deletes the history and the snapshots of a stack that is not there any more.
pub async fn purge(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<usize, JournalError> {
    match read_head(store, keys).await? {
        Some((head, _)) => {
            if let Present::Stack(_) = present(store, keys, head).await? {
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

/// Puts a head in the place of another. What came between, if anything did, is `Moved`.
pub(crate) async fn swap(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    head: &Head,
    expect: Expect,
) -> Result<Version, JournalError> {
    match store.put(&keys.head(), Bytes::from(head.encode()), expect).await {
        // It may have arrived twice, and only the second answer have come back: no two runs write the same head.
        Err(StoreError::Conflict { .. }) => match read_head(store, keys).await? {
            Some((found, version)) if found == *head => Ok(version),
            _ => Err(JournalError::Moved),
        },
        other => Ok(other?),
    }
}

impl Run {
    /// Ends the run and the stack with it. Whoever holds an older epoch can never write again.
    pub async fn leave(self, absent: Absent) -> Result<(), JournalError> {
        let (mut started, since) = self.quiet().await?;
        let run = stead_model::RunId(format!("run-{}", started.head.epoch.0));
        let mut last = check(&started.state)?;
        last.run = Some(run.clone());
        let (bytes, digest) = last.encode();
        let (store, keys) = (started.opening.store.clone(), started.opening.keys.clone());
        put_once(&store, &keys.snapshot(&digest), Bytes::from(bytes)).await?;
        let record = started.record(run, since, RunResult::Succeeded, digest);
        put_once(&store, &keys.history(&record.run), Bytes::from(record.encode())).await?;
        started.opening.world.crash_point("run.leave.before_head");
        let base = started.head.epoch.next();
        let old = started.head.base;
        let head = Head { owner: None, snapshot: None, base, absent: Some(absent), ..started.head.clone() };
        started.version = match swap(&store, &keys, &head, Expect::Version(started.version.clone())).await {
            Err(JournalError::Moved) => return Err(JournalError::Fenced),
            other => other?,
        };
        started.opening.world.crash_point("run.leave.after_head");
        for epoch in old.0..base.0 {
            // What cannot be removed now means nothing and does no harm.
            let _ = started.forget_journal(stead_model::Epoch(epoch)).await;
        }
        started.let_go().await;
        Ok(())
    }
}

/// Puts what never changes. If it is there already, it is the same.
pub(crate) async fn put_once(
    store: &Arc<dyn Store>,
    key: &stead_store::Key,
    body: Bytes,
) -> Result<(), JournalError> {
    match store.put(key, body, Expect::Absent).await {
        Ok(_) | Err(StoreError::Conflict { .. }) => Ok(()),
        Err(other) => Err(other.into()),
    }
}
