//! Recovery of the state that earlier runs left: seals their epochs and replays their journals.

use stead_model::Epoch;
use stead_state::{Head, State, VerifiedState};

use crate::load::{ReadVersion, read_base, read_head, replay_epoch, tail_of};
use crate::receipt::RECEIPT_MARGIN;
use crate::seal::{Sealing, seal};
use crate::spool::SpoolLocation;
use crate::{JournalError, OpenRequest, RECEIPT_VALIDITY};

/// Fences a holder that may be alive, and waits until it can no longer start a provider call.
///
/// Its epoch is sealed first, so that every receipt is older than the seal; then all receipts expire. Head
/// changes only after that: if this run dies while it waits, the stack still has its old owner, and the next
/// run waits again.
pub(super) async fn fence_and_wait(request: &OpenRequest, old: &Head, by: Epoch) -> Result<(), JournalError> {
    replay_and_seal(request, old, by).await?;
    request.world.crash_point("run.open.relieved");
    request.world.clock.sleep(RECEIPT_VALIDITY + RECEIPT_MARGIN).await;
    Ok(())
}

/// Seals the journal of the last holder after the batch that a plan was made on. Fails with `StateChanged` if there are
/// more batches.
///
/// A request of a dead process may still be on its way to the store: only after the seal is the journal the one that was
/// read, and stays so.
pub(super) async fn seal_as_read(
    request: &OpenRequest,
    old: &Head,
    planned_on: &ReadVersion,
    by: Epoch,
) -> Result<(), JournalError> {
    if old.base > old.epoch {
        return Ok(()); // the last holder closed its run
    }
    let OpenRequest { store, keys, world, .. } = request;
    let tail = tail_of(store, keys, old.epoch).await?;
    if tail.previous != planned_on.last {
        return Err(JournalError::StateChanged);
    }
    if !tail.sealed && seal(store, keys, world, old.epoch, &tail, by).await? == Sealing::SlotTaken {
        return Err(JournalError::StateChanged);
    }
    Ok(())
}

/// Replays every epoch that the snapshot does not contain, then the spooled answers.
///
/// The returned locations of spooled answers are to be cleared once the state is durable.
pub(super) async fn recover(
    request: &OpenRequest,
    old: &Head,
    by: Epoch,
) -> Result<(VerifiedState, Vec<SpoolLocation>), JournalError> {
    let mut sound = match request.planned_on.as_ref().and_then(|read| read.whole.as_deref()) {
        // Head has not changed since it was read, so the snapshot is the one that was read and checked then.
        Some(whole) if whole.pending().next().is_none() => VerifiedState::from_verified(whole.clone()),
        _ => {
            let mut state = replay_and_seal(request, old, by).await?;
            state.mark_pending_in_doubt();
            VerifiedState::new(state).map_err(JournalError::Integrity)?
        }
    };
    let spooled = request.spool().replay(&mut sound, old).await?;
    Ok((sound, spooled))
}

/// Returns the state that head stands for, and seals every epoch of its journal.
async fn replay_and_seal(request: &OpenRequest, old: &Head, by: Epoch) -> Result<State, JournalError> {
    let mut state = State::from(read_base(&request.store, &request.keys, old).await?);
    let last = old.epoch.0;
    for epoch in old.base.0..=last {
        let before = state.clone();
        loop {
            let OpenRequest { store, keys, world, .. } = request;
            let tail = match replay_epoch(store, keys, Epoch(epoch), &mut state).await {
                // A run that took over meanwhile deletes the journals that its snapshot contains.
                Err(JournalError::JournalGap { .. }) if !is_needed(request, Epoch(epoch), by).await? => {
                    return Err(JournalError::Fenced);
                }
                replayed => replayed?,
            };
            if tail.sealed || seal(store, keys, world, Epoch(epoch), &tail, by).await? == Sealing::Sealed {
                break;
            }
            // The old writer took that slot first: its batch counts, so the epoch is replayed again.
            state = before.clone();
        }
        request.world.crash_point("run.open.after_seal");
    }
    Ok(state)
}

/// Returns true if the journal of an epoch is still a part of the stack, and no later run than `by` holds it.
///
/// Another run may have taken over with the very epoch that this one has not taken yet.
async fn is_needed(request: &OpenRequest, journal: Epoch, by: Epoch) -> Result<bool, JournalError> {
    let head = read_head(&request.store, &request.keys).await?;
    Ok(head.is_some_and(|(head, _)| head.epoch == by && head.base <= journal))
}
