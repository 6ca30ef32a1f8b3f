//! The real binary, in a folder of its own.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod corpus;
mod crashes;
mod determinism;
mod errors;
mod imports;
mod journey;
mod marks;
mod outside;
mod pins;
#[cfg(target_os = "linux")]
mod processes;
mod project;
mod provider;
mod refactoring;
mod repair;
mod saved;
#[cfg(unix)]
mod serving;
mod sharing;
mod stacks;
mod steps;
