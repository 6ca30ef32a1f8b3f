//! Repairs a damaged stack: puts a sound state in its place once a person has chosen one.
//!
//! Nothing is deleted: the old head is stored as an object of its own, and snapshots and journals stay where
//! they are. A run that may still be writing is fenced first, as in any takeover.

mod survey;

use std::sync::Arc;

use bytes::Bytes;
use stead_model::{Digest, Epoch, RunId, Seq};
use stead_state::{FORMAT, Head, Proposal, RunEnd, RunRecord, Snapshot, verify};
use stead_store::{Expect, Store};
use stead_world::World;

use crate::lifecycle::{put_once, swap_head};
use crate::load::Tail;
use crate::seal::{Sealing, seal};
use crate::{JournalError, StackKeys, is_dead};

pub(crate) use survey::epoch_of;
pub use survey::{Survey, survey};

/// The command in the history of a repair.
pub(crate) const REPAIR: &str = "state repair";

/// Makes a proposal the state of the stack. Returns the digest of its snapshot.
pub async fn repair(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    world: &World,
    survey: &Survey,
    proposal: &Proposal,
) -> Result<Digest, JournalError> {
    if let Some(owner) = survey.head.as_ref().and_then(|head| head.owner.as_ref())
        && !is_dead(world, owner)
    {
        return Err(JournalError::Held(Box::new(owner.clone())));
    }
    let violations = verify(&proposal.snapshot);
    if !violations.is_empty() {
        return Err(JournalError::Integrity(violations));
    }
    let fenced = survey.epochs_to_fence();
    let epoch = fenced.iter().copied().max().max(Some(survey.last_epoch)).unwrap_or_default().next();
    let run = RunId(format!("run-{}", epoch.0));
    if let Some((bytes, _)) = &survey.stored_head {
        put_once(store, &keys.replaced_head(&Digest::of(bytes)), bytes.clone()).await?;
    }
    let proposed = proposal.snapshot.clone().succeeding(survey.recorded.as_ref());
    let snapshot = Snapshot { run: Some(run.clone()), ..proposed };
    let (bytes, digest) = snapshot.encode();
    put_once(store, &keys.snapshot(&digest), Bytes::from(bytes)).await?;
    world.crash_point("repair.after_snapshot");
    for old in fenced {
        seal_after_last_batch(store, keys, world, old, epoch).await?;
    }
    let head = Head {
        stack: snapshot.stack.clone(),
        epoch,
        owner: None,
        snapshot: Some(digest.clone()),
        base: epoch.next(),
        absent: None,
    };
    let expect = match &survey.stored_head {
        Some((_, version)) => Expect::Version(version.clone()),
        None => Expect::Absent,
    };
    swap_head(store, keys, &head, expect).await?;
    world.crash_point("repair.after_head");
    let now = world.clock.now().to_string();
    let record = RunRecord {
        format: FORMAT,
        run: run.clone(),
        command: REPAIR.to_owned(),
        targets: Vec::new(),
        options: Vec::new(),
        user: world.host.user.clone(),
        host: world.host.name.clone(),
        started: now.clone(),
        ended: now,
        result: RunEnd::Succeeded,
        base: survey.head.as_ref().and_then(|head| head.snapshot.clone()),
        snapshot: digest.clone(),
    };
    put_once(store, &keys.history(&run), Bytes::from(record.encode())).await?;
    Ok(digest)
}

/// Seals an epoch after its last batch, so that its writer is fenced.
async fn seal_after_last_batch(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    world: &World,
    epoch: Epoch,
    by: Epoch,
) -> Result<(), JournalError> {
    loop {
        let batches = store.list(&keys.journal(epoch)).await?;
        let last = match batches.last() {
            Some(key) => store.get(key).await?.map(|blob| blob.body),
            None => None,
        };
        let seq = batches.last().and_then(|key| key.segments().last()?.parse().ok());
        let seq = Seq(seq.map_or(0, |last: u64| last + 1));
        let previous = last.map(|bytes| Digest::of(&bytes));
        let tail = Tail { seq, previous, sealed: false };
        if seal(store, keys, world, epoch, &tail, by).await? == Sealing::Sealed {
            return Ok(());
        }
    }
}
