//! Seals: a sealed epoch takes no more records.
//!
//! A seal occupies the slot after the last batch of an epoch. A late writer of that epoch finds its next slot
//! taken and knows that it is fenced.

use std::sync::Arc;

use bytes::Bytes;
use stead_model::Epoch;
use stead_state::{Batch, Record};
use stead_store::{Expect, Store, StoreError};
use stead_world::World;

use crate::load::Tail;
use crate::{JournalError, StackKeys};

/// Result of an attempt to seal an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sealing {
    Sealed,
    /// The writer of the epoch appended a batch to that slot first.
    SlotTaken,
}

/// Puts a seal at the end of an epoch, on behalf of the epoch `by`.
pub(crate) async fn seal(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    world: &World,
    epoch: Epoch,
    tail: &Tail,
    by: Epoch,
) -> Result<Sealing, JournalError> {
    let write_id = world.entropy.uuid().map_err(JournalError::io("draw a random number"))?;
    let batch = Batch {
        epoch,
        seq: tail.seq,
        previous: tail.previous.clone(),
        write_id,
        records: vec![Record::Seal { by }],
    };
    let key = keys.batch(epoch, tail.seq);
    let body = Bytes::from(batch.encode());
    match store.put(&key, body.clone(), Expect::Absent).await {
        Ok(_) => Ok(Sealing::Sealed),
        // A network may repeat the request: the slot then has this very seal, with its write id.
        Err(StoreError::Conflict { .. }) => match store.get(&key).await? {
            Some(blob) if blob.body == body => Ok(Sealing::Sealed),
            _ => Ok(Sealing::SlotTaken),
        },
        Err(other) => Err(other.into()),
    }
}
