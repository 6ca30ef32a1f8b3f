//! Signs of life. They tell people, and who waits, whether a holder still lives; no promise rests on them.
//!
//! The holder changes the `lease` object every few seconds. Who waits watches it on its own monotonic clock:
//! if it does not change for long enough, the holder is taken to be dead, and fenced.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stead_model::Epoch;
use stead_state::Owner;
use stead_store::{Expect, Store, StoreError, Version};
use stead_world::World;
use tokio::task::JoinHandle;

use crate::load::read_head;
use crate::{JournalError, StackKeys, Takeover, is_dead};

/// How often a holder shows that it lives.
const BEAT: Duration = Duration::from_secs(5);

/// How long without a sign of life until a holder counts as dead.
pub const LEASE: Duration = Duration::from_secs(30);

/// How often who waits looks.
const LOOK: Duration = Duration::from_millis(500);

/// Beats until it is dropped.
pub(crate) struct Heartbeat(JoinHandle<()>);

impl Heartbeat {
    pub(crate) fn start(store: Arc<dyn Store>, keys: StackKeys, world: World, epoch: Epoch) -> Heartbeat {
        Heartbeat(tokio::spawn(async move {
            let mut beat = 0u64;
            loop {
                world.clock.sleep(BEAT).await;
                beat += 1;
                if show_life(&store, &keys, epoch, beat).await.is_err() {
                    return; // Somebody else beats now, or the store is gone; the next append will tell.
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

async fn show_life(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    epoch: Epoch,
    beat: u64,
) -> Result<Version, StoreError> {
    let key = keys.lease();
    let expect = match store.get(&key).await? {
        Some(found) => Expect::Version(found.version),
        None => Expect::Absent,
    };
    let body = format!("{{\"format\":{},\"epoch\":{epoch},\"beat\":{beat}}}\n", stead_state::FORMAT);
    store.put(&key, Bytes::from(body), expect).await
}

/// Waits until nobody holds the stack, or whoever does has shown no life for [`LEASE`]. `waiting` is called
/// once, with who it waits for.
pub async fn wait_for(
    store: &Arc<dyn Store>,
    keys: &StackKeys,
    world: &World,
    waiting: &mut dyn FnMut(&Owner),
) -> Result<Takeover, JournalError> {
    let mut seen: Option<(Epoch, Option<Version>)> = None;
    let mut since = world.clock.monotonic();
    loop {
        let Some((head, _)) = read_head(store, keys).await? else { return Ok(Takeover::IfDead) };
        let Some(owner) = head.owner.as_ref().filter(|owner| !is_dead(world, owner)) else {
            return Ok(Takeover::IfDead);
        };
        let now = (head.epoch, store.get(&keys.lease()).await?.map(|found| found.version));
        if seen.is_none() {
            waiting(owner);
        }
        if seen.as_ref() != Some(&now) {
            seen = Some(now);
            since = world.clock.monotonic();
        } else if world.clock.monotonic().saturating_sub(since) >= LEASE {
            return Ok(Takeover::Always);
        }
        world.clock.sleep(LOOK).await;
    }
}
