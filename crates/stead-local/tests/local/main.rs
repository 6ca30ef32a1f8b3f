//! Every type through the `Provider` trait, with real files and real processes.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bench;
mod command;
mod data;
mod directory;
mod failing_files;
mod file;
mod key_pair;
mod provider;
mod random;
