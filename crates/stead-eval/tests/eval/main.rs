//! Tests of the evaluator: programs in, graphs and error messages out.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]

mod common;
mod commonjs;

mod deferred;
mod external;
mod failures;
mod files;
mod gids;
mod hostile;
mod imports;
mod interpreter;
mod language;
mod library;
mod limits;
mod math;
mod misplaced;
mod moves;
mod node;
mod node_edges;
mod node_modules;
mod options;
mod packages;
mod pins;
mod programs;
mod refusals;
mod safety;
mod scopes;
mod secrets;
mod silent;
mod table;
mod testing;
mod toolbox;
mod unknown_branches;
