//! Moves a stack to another environment. One write decides, and there is exactly one stack before and after
//! it.
//!
//! 1. Where there was never a stack, a head that says `arriving` is written, because objects without a head are damage.
//!    Snapshots and history are copied; nothing refers to the copies yet.
//! 2. The new head is written as `arriving`, which is not a stack yet.
//! 3. The old head is written as `renamed`. With this write the old stack ends and the new one exists.
//! 4. The new head is written without `arriving`, so that readers need not consult the old one.
//!
//! A crash before step 3 leaves the old stack unchanged; a crash after it leaves the new one, for every
//! reader.

use std::sync::Arc;

use bytes::Bytes;
use stead_model::{Environment, Epoch, RunId, RunResult};
use stead_state::{Absent, Head};
use stead_store::{Expect, Key, Store};

use super::{purge, put_once, swap_head};
use crate::load::{Presence, check, presence, read_head};
use crate::{JournalError, Run, StackKeys};

/// Moves the stack that the run holds to another environment. No operation may be pending in it.
pub async fn rename(run: Run, environment: &Environment) -> Result<StackKeys, JournalError> {
    let (store, old) = (run.held.request.store.clone(), run.held.request.keys.clone());
    let new = old.sibling(&environment.to_string(), &old.target());
    let world = run.held.request.world.clone();
    let (taken, expect) = match vacant_head(&store, &new).await {
        Ok(vacant) => vacant,
        Err(refused) => {
            // Nothing was changed: the lock must not stay behind.
            run.close(RunResult::Failed).await?;
            return Err(refused);
        }
    };
    let at = run.held.head.epoch;
    let arriving = Absent::Arriving { from: old.environment(), at };
    let expect = match expect {
        Expect::Absent => announce(&store, &run, &new, arriving.clone()).await?,
        known => known,
    };
    world.crash_point("rename.announced");
    let head = prepare(&run, &new, environment, taken).await?;
    copy_history(&store, &old, &new).await?;
    world.crash_point("rename.after_copy");
    let arriving = Head { absent: Some(arriving), ..head };
    match swap_head(&store, &new, &arriving, expect).await {
        Err(JournalError::StateChanged) => {
            return Err(JournalError::Exists { environment: new.environment() });
        }
        other => other?,
    };
    world.crash_point("rename.after_arriving");
    run.retire_stack(Absent::Renamed { to: new.environment(), at }).await?;
    world.crash_point("rename.after_leave");
    finish_arrival(&store, &old, &new.environment(), at).await?;
    // Best effort: the new stack has copies of all of it.
    let _ = purge(&store, &old).await;
    Ok(new)
}

/// Writes the first head under the new keys: no stack, and no snapshot. Returns the expectation for replacing it.
async fn announce(
    store: &Arc<dyn Store>,
    run: &Run,
    new: &StackKeys,
    arriving: Absent,
) -> Result<Expect, JournalError> {
    let Head { stack, epoch, .. } = run.held.head.clone();
    let base = epoch.next();
    let head = Head { stack, epoch, owner: None, snapshot: None, base, absent: Some(arriving) };
    match swap_head(store, new, &head, Expect::Absent).await {
        Ok(version) => Ok(Expect::Version(version)),
        Err(JournalError::StateChanged) => Err(JournalError::Exists { environment: new.environment() }),
        Err(other) => Err(other),
    }
}

/// Returns the last epoch used under keys without a stack, and the expectation for replacing their head.
async fn vacant_head(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<(Epoch, Expect), JournalError> {
    let environment = keys.environment();
    let Some((head, version)) = read_head(store, keys).await? else { return Ok((Epoch(0), Expect::Absent)) };
    // The history of a renamed stack moved with it, and that of an unfinished rename belongs to the other
    // stack.
    let has_own_history = head.absent == Some(Absent::Removed);
    let epoch = head.epoch;
    match presence(store, keys, head).await? {
        Presence::Stack(_) => return Err(JournalError::Exists { environment }),
        Presence::Renamed { to, at } => finish_arrival(store, keys, &to, at).await?,
        Presence::NoStack(_) => {}
    }
    let histories = store.list(&keys.histories()).await?;
    if has_own_history && !histories.is_empty() {
        return Err(JournalError::HistoryKept { environment });
    }
    Ok((epoch, Expect::Version(version)))
}

/// Stores the state under the new names, and returns the head that refers to it.
async fn prepare(
    run: &Run,
    new: &StackKeys,
    environment: &Environment,
    taken: Epoch,
) -> Result<Head, JournalError> {
    let held = &run.held;
    let id = RunId(format!("run-{}", held.head.epoch.0));
    let mut snapshot = check(&held.state)?.in_environment(environment);
    snapshot.run = Some(id.clone());
    let (bytes, digest) = snapshot.encode();
    let store = &held.request.store;
    clear_history(store, new).await?;
    put_once(store, &new.snapshot(&digest), Bytes::from(bytes)).await?;
    let since = held.request.world.clock.now().to_string();
    let record = held.record(id, since, RunResult::Succeeded, None, digest.clone());
    put_once(store, &new.history(&record.run), Bytes::from(record.encode())).await?;
    let epoch = held.head.epoch.max(taken);
    let stack = held.head.stack.clone();
    Ok(Head { stack, epoch, owner: None, snapshot: Some(digest), base: epoch.next(), absent: None })
}

/// Deletes the history that an unfinished rename left.
async fn clear_history(store: &Arc<dyn Store>, keys: &StackKeys) -> Result<(), JournalError> {
    for key in store.list(&keys.histories()).await? {
        store.delete(&key).await?;
    }
    Ok(())
}

/// Copies the run records, and the snapshots that they refer to.
async fn copy_history(store: &Arc<dyn Store>, old: &StackKeys, new: &StackKeys) -> Result<(), JournalError> {
    let pairs = [(old.histories(), new.histories()), (old.snapshots(), new.snapshots())];
    for (from, to) in pairs {
        for key in store.list(&from).await? {
            let Some(last) = key.segments().last() else { continue };
            let copy: Key = to.child(&last);
            if let Some(blob) = store.get(&key).await? {
                put_once(store, &copy, blob.body).await?;
            }
        }
    }
    Ok(())
}

/// Completes an arrival: the new head no longer depends on the old one, which may then be replaced.
pub(crate) async fn finish_arrival(
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
            match swap_head(store, &new, &head, Expect::Version(version)).await {
                // A run that opened the stack in between has completed the arrival.
                Ok(_) | Err(JournalError::StateChanged) => Ok(()),
                Err(other) => Err(other),
            }
        }
        _ => Ok(()),
    }
}
