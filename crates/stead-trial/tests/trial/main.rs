//! Tests of the shipped engine in the simulator: random lives, fault matrices, plays, and former failures.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod canaries;
mod cloud_lives;
mod deep_chain;
mod disputes;
mod found;
mod found_with_secrets;
mod inventories;
mod lives;
mod plays;
mod run_matrix;
mod shrinking;
mod stack_matrix;
