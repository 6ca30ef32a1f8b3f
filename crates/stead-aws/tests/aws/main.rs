//! The provider against the embedded cloud: every operation, and every fault that the cloud can have.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod batches;
mod bench;
mod drift;
mod faults;
mod lives;
mod marks;
mod places;
mod rate;
mod telemetry;
mod tokens;
