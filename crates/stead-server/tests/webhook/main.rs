//! Tests of the webhook over real TLS, with a fake API server.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests use real sockets and files"
)]
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
