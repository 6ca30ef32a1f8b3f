//! The promises of the journal, also with stores that fail.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod append;
mod bench;
mod damaged;
mod duplicate_writes;
mod failing_store;
mod late_writers;
mod lifecycle;
mod planned;
mod repair;
mod run;
mod spool;
mod succession;
mod survey;
mod takeover;
