//! Tests of the real binary, each in a temporary project.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod canary;
#[cfg(unix)]
mod cloud;
mod config;
mod corpus;
mod crashes;
mod deferred;
mod determinism;
mod doubts;
mod environments;
mod errors;
mod external_values;
mod false_keys;
mod graph_format;
mod import_all;
mod imports;
mod journey;
mod key_changes;
mod key_history;
mod laundering;
mod locking;
mod logging;
mod logs;
mod lost_keys;
mod marks;
mod modules;
mod moved_modules;
mod moved_secrets;
mod owners;
mod pins;
mod places;
#[cfg(target_os = "linux")]
mod processes;
mod project;
mod protection;
mod provider;
mod providers;
mod pulumi_config;
mod random;
mod reachable;
mod redaction;
mod refactoring;
mod repair;
mod saved;
mod secrets;
#[cfg(unix)]
mod serving;
mod shown;
mod sim;
mod stacks;
mod steps;
mod team;
#[cfg(target_os = "linux")]
mod terminal;
mod tests;
mod unmarked;
mod words;
