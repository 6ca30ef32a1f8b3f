//! The embedded cloud through its wire protocol.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod calls;
mod client;
mod disk;
mod every_type;
mod lives;
mod telemetry;
