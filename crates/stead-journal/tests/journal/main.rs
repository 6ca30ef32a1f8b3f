//! A stack open for a run: what is promised, and what happens when the store does not play along.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bench;
mod failing;
mod run;
mod spool;
mod takeover;
