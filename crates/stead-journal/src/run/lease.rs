//! Heartbeats. They tell people and waiting runs whether the holder of a stack is alive; no promise depends
//! on them.
//!
//! The holder changes the `lease` object every few seconds. A waiting run watches it by its own monotonic
//! clock: if it does not change for [`LEASE_TIMEOUT`], the holder counts as dead and is fenced.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stead_model::Epoch;
use stead_state::Owner;
use stead_store::{Expect, Store, Version};
use stead_world::World;
use tokio::task::JoinHandle;

use crate::load::read_head;
use crate::{JournalError, StackKeys, Takeover, is_dead};

/// Interval between two heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

/// How long without a heartbeat until a holder counts as dead.
pub const LEASE_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a waiting run reads the head.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Task that writes heartbeats until this value is dropped.
pub(crate) struct Heartbeat(JoinHandle<()>);

impl Heartbeat {
    pub(crate) fn start(store: Arc<dyn Store>, keys: StackKeys, world: World, epoch: Epoch) -> Heartbeat {
        Heartbeat(tokio::spawn(async move {
            let mut beat = 0u64;
            loop {
                world.clock.sleep(HEARTBEAT_INTERVAL).await;
                beat += 1;
                match write_heartbeat(&store, &keys, epoch, beat).await {
                    Ok(Beat::Written) => {}
                    // Another run holds the stack, or the store is gone; the next append fails.
                    Ok(Beat::Relieved) | Err(_) => return,
                }
            }
        }))
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Result of an attempt to write a heartbeat.
enum Beat {
    Written,
    /// The head belongs to a later epoch: this run must not look alive any more.
    Relieved,
}

async fn write_heartbeat(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    epoch: Epoch,
    beat: u64,
) -> Result<Beat, JournalError> {
    let key = keys.lease();
    // The lease is read before the head: a heartbeat of the next holder in between makes the write below fail.
    let expect = match store.get(&key).await? {
        Some(blob) => Expect::Version(blob.version),
        None => Expect::Absent,
    };
    if read_head(store, keys).await?.is_none_or(|(head, _)| head.epoch != epoch) {
        return Ok(Beat::Relieved);
    }
    let body = format!("{{\"format\":{},\"epoch\":{epoch},\"beat\":{beat}}}\n", stead_state::FORMAT);
    store.put(&key, Bytes::from(body), expect).await?;
    Ok(Beat::Written)
}

/// Waits until the stack is free, or its holder has sent no heartbeat for [`LEASE_TIMEOUT`].
///
/// `waiting` is called once, with the holder, if there is one to wait for.
pub async fn wait_for_lock(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    world: &World,
    waiting: &mut dyn FnMut(&Owner),
) -> Result<Takeover, JournalError> {
    let mut last_seen: Option<(Epoch, Option<Version>)> = None;
    let mut since = world.clock.monotonic();
    loop {
        let Some((head, _)) = read_head(store, keys).await? else { return Ok(Takeover::IfDead) };
        let Some(owner) = head.owner.as_ref().filter(|owner| !is_dead(world, owner)) else {
            return Ok(Takeover::IfDead);
        };
        let now = (head.epoch, store.get(&keys.lease()).await?.map(|blob| blob.version));
        if last_seen.is_none() {
            waiting(owner);
        }
        if last_seen.as_ref() != Some(&now) {
            last_seen = Some(now);
            since = world.clock.monotonic();
        } else if world.clock.monotonic().saturating_sub(since) >= LEASE_TIMEOUT {
            return Ok(Takeover::Always);
        }
        world.clock.sleep(POLL_INTERVAL).await;
    }
}
