//! A stack open for a run: what is promised, and what happens when the store does not play along.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod append;
mod bench;
mod damaged;
mod doubled;
mod failing;
mod leave;
mod planned;
mod repair;
mod run;
mod spool;
mod survey;
mod takeover;
mod turns;
