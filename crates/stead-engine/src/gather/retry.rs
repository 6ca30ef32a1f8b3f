//! Number of attempts at a busy provider, and the pauses between them.

use std::time::Duration;

use stead_world::World;

/// Largest number of attempts, the first one included.
pub(crate) const MAX_ATTEMPTS: u32 = 6;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// Returns the pause after this number of attempts.
///
/// Up to half of it is random, so that parallel retries spread out.
pub(crate) fn backoff(world: &World, attempts: u32) -> Duration {
    let whole = (FIRST_PAUSE * 2u32.pow(attempts.saturating_sub(1).min(16))).min(LONGEST_PAUSE);
    let half = whole.as_millis() as u32 / 2;
    let random = world.entropy.below(half.max(1)).unwrap_or(half);
    Duration::from_millis(u64::from(half + random))
}
