//! Bugs that are put in on purpose, one at a time, to see that the trial finds them.
//!
//! Compiled with `--cfg stead_planted` alone, which nothing that ships is built with: `stead-cli` refuses it.

use std::cell::Cell;

thread_local! {
    static PLANTED: Cell<&'static str> = const { Cell::new("") };
}

/// From now on this thread has this bug, and no other.
pub fn plant(bug: &'static str) {
    PLANTED.set(bug);
}

pub fn is(bug: &str) -> bool {
    PLANTED.get() == bug
}
