//! How often a busy provider is asked, and how long to wait in between.

use std::time::Duration;

use stead_world::World;

/// How often something is tried in all, if its provider says that it is only busy.
pub(crate) const ATTEMPTS: u32 = 6;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(20);

/// How long to wait after so many attempts. Half of it is drawn, so that many do not come back at the same moment.
pub(crate) fn pause(world: &World, attempts: u32) -> Duration {
    let whole = (FIRST * 2u32.pow(attempts.saturating_sub(1).min(16))).min(LONGEST);
    let half = whole.as_millis() as u32 / 2;
    let drawn = world.entropy.below(half.max(1)).unwrap_or(half);
    Duration::from_millis(u64::from(half + drawn))
}
