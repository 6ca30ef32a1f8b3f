//! A stack moves to another environment: one write decides, and before and after it there is exactly one stack.
//!
//! 1. Snapshots and history are copied; nothing refers to them yet.
//! 2. The new head says `arriving`: not a stack yet.
//! 3. The old head says `renamed`. In this moment the old one is gone and the new one is there.
//! 4. The new head says so without a look at the old one.
//!
//! A crash before 3 leaves the old stack as it was; a crash after it leaves the new one, for any reader.

use std::sync::Arc;

use bytes::Bytes;
use stead_model::{Environment, Epoch, RunId, RunResult};
use stead_state::{Absent, Head};
use stead_store::{Expect, Key, Store};

use crate::leave::{purge, put_once, swap};
use crate::load::{Present, check, present, read_head};
use crate::{JournalError, Run, StackKeys};

/// Gives the stack that the run holds to another environment. Nothing may be pending in it.
pub async fn rename(run: Run, environment: &Environment) -> Result<StackKeys, JournalError> {
    let (store, old) = (run.started.opening.store.clone(), run.started.opening.keys.clone());
    let new = old.sibling(&environment.to_string(), &old.target());
    let world = run.started.opening.world.clone();
    let (taken, expect) = match free_place(&store, &new).await {
        Ok(place) => place,
        Err(refused) => {
            // Nothing was done; nobody should have to unlock the stack for that.
            run.close(RunResult::Failed).await?;
            return Err(refused);
        }
    };
    let head = prepare(&run, &new, environment, taken).await?;
    copy_past(&store, &old, &new).await?;
    world.crash_point("rename.after_copy");
    let at = run.started.head.epoch;
    let arriving = Head { absent: Some(Absent::Arriving { from: old.environment(), at }), ..head };
    match swap(&store, &new, &arriving, expect).await {
        Err(JournalError::Moved) => return Err(JournalError::Exists { environment: new.environment() }),
        other => other?,
    };
    world.crash_point("rename.after_arriving");
    run.leave(Absent::Renamed { to: new.environment(), at }).await?;
    world.crash_point("rename.after_leave");
    settle_arrival(&store, &old, &new.environment(), at).await?;
    // Copies of what is in the new place; what stays means nothing.
    let _ = purge(&store, &old).await;
    Ok(new)
}

/// The epoch that was reached in a place where there is no stack, and what its head must be to take it.
async fn free_place(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<(Epoch, Expect), JournalError> {
    let environment = keys.environment();
    let Some((head, version)) = read_head(store, keys).await? else { return Ok((Epoch(0), Expect::Absent)) };
    // The history of a renamed stack went along, and that of one that never arrived is another's.
    let kept = head.absent == Some(Absent::Removed);
    let epoch = head.epoch;
    match present(store, keys, head).await? {
        Present::Stack(_) => return Err(JournalError::Exists { environment }),
        Present::Renamed { to, at } => settle_arrival(store, keys, &to, at).await?,
        Present::Nothing(_) => {}
    }
    let histories = store.list(&keys.histories()).await?;
    if kept && !histories.is_empty() {
        return Err(JournalError::HistoryKept { environment });
    }
    Ok((epoch, Expect::Version(version)))
}

/// Stores the state under the new names, and gives the head that refers to it.
async fn prepare(
    run: &Run,
    new: &StackKeys,
    environment: &Environment,
    taken: Epoch,
) -> Result<Head, JournalError> {
    let started = &run.started;
    let id = RunId(format!("run-{}", started.head.epoch.0));
    let mut snapshot = check(&started.state)?.in_environment(environment);
    snapshot.run = Some(id.clone());
    let (bytes, digest) = snapshot.encode();
    let store = &started.opening.store;
    clear_history(store, new).await?;
    put_once(store, &new.snapshot(&digest), Bytes::from(bytes)).await?;
    let since = started.opening.world.clock.now().to_string();
    let record = started.record(id, since, RunResult::Succeeded, digest.clone());
    put_once(store, &new.history(&record.run), Bytes::from(record.encode())).await?;
    let epoch = started.head.epoch.max(taken);
    let stack = started.head.stack.clone();
    Ok(Head { stack, epoch, owner: None, snapshot: Some(digest), base: epoch.next(), absent: None })
}

/// What an attempt left that never came to be a stack.
async fn clear_history(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<(), JournalError> {
    for key in store.list(&keys.histories()).await? {
        store.delete(&key).await?;
    }
    Ok(())
}

/// Copies what ran, and the snapshots that it refers to.
async fn copy_past(store: &Arc<dyn Store>, old: &StackKeys, new: &StackKeys) -> Result<(), JournalError> {
    let pairs = [(old.histories(), new.histories()), (old.snapshots(), new.snapshots())];
    for (from, to) in pairs {
        for key in store.list(&from).await? {
            let Some(last) = key.segments().last() else { continue };
            let copy: Key = to.child(&last);
            if let Some(found) = store.get(&key).await? {
                put_once(store, &copy, found.body).await?;
            }
        }
    }
    Ok(())
}

/// Makes the new head stand by itself. Needed before the old one says anything else.
pub(crate) async fn settle_arrival(
    store: &Arc<dyn Store>,
    old: &StackKeys,
    to: &str,
    at: Epoch,
) -> Result<(), JournalError> {
    let new = old.sibling(to, &old.target());
    let arriving = Absent::Arriving { from: old.environment(), at };
    match read_head(store, &new).await? {
        Some((head, version)) if head.absent == Some(arriving) => {
            let head = Head { absent: None, ..head };
            match swap(store, &new, &head, Expect::Version(version)).await {
                Ok(_) | Err(JournalError::Moved) => Ok(()), // somebody opened it, which says the same
                Err(other) => Err(other),
            }
        }
        _ => Ok(()),
    }
}
