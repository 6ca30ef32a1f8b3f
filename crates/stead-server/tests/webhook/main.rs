//! The webhook over real TLS, with an API server that the test plays.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod api_server;
mod authority;
mod bad_requests;
mod clock;
mod containers;
mod decisions;
mod hook;
mod look_ups;
mod serving;
