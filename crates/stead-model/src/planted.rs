//! Deliberate bugs, switched on one at a time to check that the simulator finds them.
//!
//! Compiled with `--cfg stead_planted` only. `stead-cli` does not compile with it, so no release contains a planted bug.

use std::cell::Cell;

thread_local! {
    static PLANTED: Cell<&'static str> = const { Cell::new("") };
}

/// Switches this bug on in the current thread, and every other bug off.
pub fn plant(bug: &'static str) {
    PLANTED.set(bug);
}

pub fn is(bug: &str) -> bool {
    PLANTED.get() == bug
}
