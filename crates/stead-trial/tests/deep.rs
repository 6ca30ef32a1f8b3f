//! The longest chain that may be.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use stead_model::Limits;
use stead_trial::rise_and_fall;

#[test]
fn a_chain_as_long_as_allowed_is_made_changed_and_destroyed() {
    let depth = Limits::default().depth;
    let [made, again, changed, destroyed] = rise_and_fall(depth as u32).unwrap();
    assert_eq!((made, again), (depth, 0));
    assert!(changed > 0 && destroyed >= depth, "{changed} changed, {destroyed} destroyed");
}
