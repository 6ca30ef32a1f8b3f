//! Planted bugs, active one at a time, to prove that the simulator finds them.
//!
//! Compiled only with `--cfg stead_planted`, which `stead-cli` refuses: no shipped build contains them.

use std::cell::Cell;

thread_local! {
    static PLANTED: Cell<&'static str> = const { Cell::new("") };
}

/// Activates a bug in this thread, and deactivates any other.
pub fn plant(bug: &'static str) {
    PLANTED.set(bug);
}

/// Returns true if this bug is active in this thread.
pub fn is(bug: &str) -> bool {
    PLANTED.get() == bug
}
