//! The engine with real journal, planner, guards and a store in memory; only the provider is scripted.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bench;
mod cannot_look;
mod determinism;
mod failures;
mod in_place;
mod interrupted_deletions;
mod marks;
mod marks_kept;
mod patterns;
mod physical_ids;
mod provider;
mod reads;
mod recovery;
mod runs;
mod steps;
