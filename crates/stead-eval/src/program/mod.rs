//! The program as text: finds, reads and compiles its files before any of its code runs.
//!
//! [`load`] follows every import from the entry point; [`requests`] carries each question to the caller's thread, which owns the
//! files, the catalog and the state of other stacks.

pub(crate) mod files;
mod json;
pub(crate) mod list;
pub(crate) mod load;
mod manifest;
pub(crate) mod node;
mod packages;
pub(crate) mod requests;
pub(crate) mod resolve;
pub(crate) mod site;
pub(crate) mod source_text;
pub(crate) mod specifier;
pub(crate) mod trace;
mod tsconfig;
