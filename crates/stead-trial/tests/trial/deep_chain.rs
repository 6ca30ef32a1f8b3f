//! The longest dependency chain that the limits allow.

use stead_model::Limits;
use stead_trial::apply_deep_chain;

#[test]
fn a_chain_as_long_as_allowed_is_made_changed_and_destroyed() {
    let depth = Limits::default().depth;
    let [created, again, changed, destroyed] = apply_deep_chain(depth as u32).unwrap();
    assert_eq!((created, again), (depth, 0));
    assert!(changed > 0 && destroyed >= depth, "{changed} changed, {destroyed} destroyed");
}
